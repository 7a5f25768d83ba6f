/**
 * What the runner knows of its session's queue. Owns a copy that is read again only after something arrived, so that a step without
 * arrivals asks the store nothing. The store stays the judge: cuts and ends are conditional commits (I4, I5).
 */
import type { InboxView } from '../../kernel/effects.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { ControlInput, Lane, MessageInput, PendingInput } from '../../kernel/input.ts'
import type { Store } from '../ports.ts'

export class Inbox {
  readonly #store: Store
  readonly #session: SessionId
  #pending: readonly PendingInput[] = []
  /** Settled by events that may not be durable yet: the store still lists them until the commit, and none is to be settled twice. */
  #settled = new Set<InputId>()
  #stale = true
  #unseen = false
  #view: InboxView | null = null
  #reading: Promise<void> | null = null

  constructor(store: Store, session: SessionId) {
    this.#store = store
    this.#session = session
  }

  /** Something arrived or changed: look again before deciding anything. */
  touch(): void {
    this.#stale = true
  }

  /** The state was loaded anew: nothing is settled but what the store says. */
  reset(): void {
    this.#settled.clear()
    this.#stale = true
  }

  get isStale(): boolean {
    return this.#stale
  }

  /** Reads the queue if something came since the last reading began; whoever calls sees at least what was there before the call. */
  async refresh(): Promise<void> {
    while (this.#reading !== null || this.#stale) {
      this.#reading ??= this.#read()
      await this.#reading
    }
  }

  async #read(): Promise<void> {
    // Cleared before reading, so that what arrives meanwhile is read again.
    this.#stale = false
    try {
      const pending = await this.#store.pending(this.#session)
      this.#settled = new Set(pending.map((input) => input.id).filter((id) => this.#settled.has(id)))
      this.#pending = pending.filter((input) => !this.#settled.has(input.id))
      this.#view = null
      this.#unseen = true
    } catch (error) {
      // What was not read is still to be read, by whoever asks next.
      this.#stale = true
      throw error
    } finally {
      this.#reading = null
    }
  }

  /** What the last reading brought, to be looked at once; nothing if it was looked at. */
  takeRead(): readonly PendingInput[] {
    if (!this.#unseen) return []
    this.#unseen = false
    return this.#pending
  }

  controls(): ControlInput[] {
    return this.#pending.filter((input): input is ControlInput => input.lane === 'control')
  }

  /** Message inputs of these lanes, in order of arrival. */
  messages(lanes: readonly Lane[]): MessageInput[] {
    return this.#pending.filter(
      (input): input is MessageInput => input.lane !== 'control' && lanes.includes(input.lane),
    )
  }

  /** Forgets inputs that were just settled. */
  drop(settled: readonly PendingInput[]): void {
    if (settled.length === 0) return
    for (const { id } of settled) this.#settled.add(id)
    this.#pending = this.#pending.filter((input) => !this.#settled.has(input.id))
    this.#view = null
  }

  get view(): InboxView {
    this.#view ??= countLanes(this.#pending)
    return this.#view
  }
}

function countLanes(pending: readonly PendingInput[]): InboxView {
  const view = { control: 0, steer: 0, note: 0, followup: 0, steerNow: 0, newestTail: -1 }
  for (const input of pending) {
    view[input.lane]++
    if (input.lane === 'steer' && input.promptness === 'now') view.steerNow++
    if (input.lane === 'steer' || input.lane === 'followup') view.newestTail = Math.max(view.newestTail, input.tail)
  }
  return view
}
