/** The live channel: deltas and progress go round the kernel to whoever watches in this process. Lossy by contract. */
import type { SessionId } from '../kernel/ids.ts'
import type { Live } from './session.ts'

export class LiveBus {
  readonly #listeners = new Map<SessionId, Set<(live: Live) => void>>()

  /** Contract: synchronous; a listener that throws is left out, it cannot stop a turn. */
  publish(session: SessionId, live: Live): void {
    const listeners = this.#listeners.get(session)
    if (listeners === undefined) return
    for (const listener of listeners) {
      try {
        listener(live)
      } catch {
        // A watcher's own fault: it loses this delta, which the channel may do anyway.
      }
    }
  }

  subscribe(session: SessionId, listener: (live: Live) => void): () => void {
    const listeners = this.#listeners.get(session) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(session, listeners)
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
}
