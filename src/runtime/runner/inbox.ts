/**
 * What the runner knows of its session's queue. Owns a copy that is kept up by what changed, and asked for only after something
 * arrived: a step without arrivals asks the store nothing, and an arrival costs the same however many wait already. The store stays
 * the judge: cuts and ends are conditional commits (I4, I5).
 */
import type { InboxView } from '../../kernel/effects.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { ControlInput, MessageInput, MessageLane, PendingInput } from '../../kernel/input.ts'
import type { QueueChanges, QueueMark, Store } from '../ports.ts'
import { Lanes } from './lanes.ts'

export class Inbox {
  readonly #store: Store
  readonly #session: SessionId
  readonly #lanes = new Lanes()
  #mark: QueueMark | null = null
  /** Settled by events that may not be durable yet: the store lists them until the commit, and none is to be settled twice. */
  readonly #settled = new Set<InputId>()
  /** What readings brought and nobody has looked at. */
  readonly #unseen = new Set<InputId>()
  #stale = true
  #reading: Promise<void> | null = null

  constructor(store: Store, session: SessionId) {
    this.#store = store
    this.#session = session
  }

  /** Something arrived or changed: look again before deciding anything. */
  touch(): void {
    this.#stale = true
  }

  /** The state was loaded anew: nothing is settled, and nothing pending, but what the store says. */
  reset(): void {
    this.#settled.clear()
    this.#mark = null
    this.#stale = true
  }

  /** Something came that was not looked at, or is being read. */
  get isStale(): boolean {
    return this.#stale || this.#reading !== null
  }

  /** Reads what changed if something came since the last reading began; whoever calls sees at least what was there before the call. */
  async refresh(): Promise<void> {
    while (this.isStale) {
      this.#reading ??= this.#read()
      await this.#reading
    }
  }

  async #read(): Promise<void> {
    // Cleared before reading, so that what arrives meanwhile is read again.
    this.#stale = false
    const since = this.#mark
    try {
      const changes = await this.#store.pendingSince(this.#session, since)
      // Forgotten meanwhile: these are changes to what is not known here any more.
      if (this.#mark === since) this.#apply(changes)
      else this.#stale = true
    } catch (error) {
      // What was not read is still to be read, by whoever asks next.
      this.#stale = true
      throw error
    } finally {
      this.#reading = null
    }
  }

  #apply({ whole, pending, gone, mark }: QueueChanges): void {
    if (whole) this.#forget(new Set(pending.map((input) => input.id)))
    for (const id of gone) {
      this.#lanes.remove(id)
      this.#settled.delete(id)
    }
    for (const input of pending) {
      if (this.#settled.has(input.id)) continue
      this.#lanes.put(input)
      this.#unseen.add(input.id)
    }
    this.#mark = mark
  }

  /** All that is pending comes now: of what was settled here, only what the store still lists must be remembered. */
  #forget(listed: ReadonlySet<InputId>): void {
    this.#lanes.clear()
    this.#unseen.clear()
    for (const id of this.#settled) if (!listed.has(id)) this.#settled.delete(id)
  }

  /** What was read since this was asked last, and is still pending. */
  takeRead(): readonly PendingInput[] {
    if (this.#unseen.size === 0) return []
    const read = [...this.#unseen].flatMap((id) => this.#lanes.get(id) ?? [])
    this.#unseen.clear()
    return read
  }

  controls(): ControlInput[] {
    return this.#lanes.controls()
  }

  /** Message inputs in order of arrival: all of these lanes, at most so many followups. */
  messages(lanes: readonly MessageLane[], followups?: number): MessageInput[] {
    return this.#lanes.messages(lanes, followups)
  }

  /** Those that waited for too long (I6). */
  expired(): MessageInput[] {
    return this.#lanes.expired(this.#store.now())
  }

  /** Forgets inputs that were just settled. */
  drop(settled: readonly PendingInput[]): void {
    // What is not there any more was settled by somebody else: the store lists it no longer.
    for (const { id } of settled) if (this.#lanes.remove(id)) this.#settled.add(id)
  }

  get view(): InboxView {
    return this.#lanes.view
  }
}
