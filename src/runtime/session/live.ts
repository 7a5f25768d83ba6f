/**
 * The live channel: deltas and progress go round the kernel to whoever watches in this process. Lossy by contract, but for the text
 * of the reply that is running: who comes late gets what it has said so far. It also hands on what this process has made durable, so
 * that watchers need not read it back; that is a shortcut, and the store is what they go by.
 */
import type { Event } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { Mutable } from '../../util/mutable.ts'
import type { Live } from '../session.ts'

/** What a watcher is told, synchronously. A listener that throws is left out, it cannot stop a turn. */
export interface LiveListener {
  onLive(live: Live): void
  /** The events of one commit of a runner here. */
  onDurable(events: readonly Event[]): void
}

type Text = Extract<Live, { type: 'text' }>

export class LiveBus {
  readonly #listeners = new Map<SessionId, Set<LiveListener>>()
  /** How often runners of a session stopped on a fault here, and the last time; null: the session went on since. */
  readonly #stops = new Map<SessionId, { readonly times: number; readonly last: Live | null }>()
  /** The running reply of each session, as one delta that grows. */
  readonly #running = new Map<SessionId, Mutable<Text>>()

  /** Synchronous. */
  publish(session: SessionId, live: Live): void {
    if (live.type === 'stopped') this.#stops.set(session, { times: this.stops(session) + 1, last: live })
    if (live.type === 'text') this.#remember(session, live)
    else if (live.type === 'reset' || live.type === 'stopped') this.#running.delete(session)
    for (const listener of this.#listeners.get(session) ?? []) {
      try {
        listener.onLive(live)
      } catch {
        // A watcher's own fault: it loses this delta, which the channel may do anyway.
      }
    }
  }

  /** The session goes on: its last fault is over. A reply that is in the log is there for everybody: it is not running any more. */
  settle(session: SessionId, events: readonly Event[]): void {
    const stopped = this.#stops.get(session)
    if (stopped !== undefined && stopped.last !== null) this.#stops.set(session, { times: stopped.times, last: null })
    if (events.some(({ type }) => type === 'reply.completed' || type === 'reply.interrupted'))
      this.#running.delete(session)
    for (const listener of this.#listeners.get(session) ?? []) listener.onDurable(events)
  }

  /** Counts the faults so far: who asks later for something begun now learns of those in between. */
  stops(session: SessionId): number {
    return this.#stops.get(session)?.times ?? 0
  }

  /** `stopsSeen`: faults that are no news to this listener; default: all so far. */
  subscribe(session: SessionId, listener: LiveListener, stopsSeen = this.stops(session)): () => void {
    const listeners = this.#listeners.get(session) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(session, listeners)
    const running = this.#running.get(session)
    if (running !== undefined) listener.onLive({ ...running })
    const last = this.#stops.get(session)?.last ?? null
    if (last !== null && this.stops(session) > stopsSeen) listener.onLive(last)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(session)
    }
  }

  /** Listeners that are registered: a test counts them. */
  get size(): number {
    let size = 0
    for (const listeners of this.#listeners.values()) size += listeners.size
    return size
  }

  #remember(session: SessionId, live: Text): void {
    const before = this.#running.get(session)
    const goesOn = before?.turn === live.turn && before.step === live.step && before.attempt === live.attempt
    if (goesOn) before.text += live.text
    else this.#running.set(session, { ...live })
  }
}
