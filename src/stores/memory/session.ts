/**
 * One session in memory. Owns its events, inputs and lease; knows no clock: the time comes in with every call.
 * Invariants: `queue` holds exactly the inputs whose state is `queued`, in order of arrival; `fence` never falls; the lease, if
 * there is one, has the fence `fence`.
 */
import type { Event } from '../../kernel/events.ts'
import type { InputId } from '../../kernel/ids.ts'
import type { Lane, MessageLane, NewInput, PendingInput, ReceiptState } from '../../kernel/input.ts'
import type { Part } from '../../kernel/message.ts'
import type { Snapshot } from '../../kernel/state.ts'
import type { Append, Appended, Changed, Consumption, PartialReply, Posted, Released } from '../../runtime/ports.ts'
import { FIRST_WAKE, wakeOf } from '../rules.ts'
import type { ReleaseOptions, Wake } from '../rules.ts'

interface Entry {
  state: ReceiptState
  /** Dropped once it is settled. */
  input: PendingInput | null
  readonly notBefore: number
}

interface MemoryLease {
  readonly owner: string
  readonly since: number
  readonly ttlMs: number
  expiresAt: number
}

export class MemorySession {
  readonly createdAt: number
  updatedAt: number
  readonly events: Event[] = []
  fence = 0
  lease: MemoryLease | null = null
  partial: PartialReply | null = null
  snapshot: { readonly seq: number; readonly snapshot: Snapshot } | null = null
  readonly #entries = new Map<InputId, Entry>()
  #queue: Entry[] = []
  #arrivals = 0
  #wake = FIRST_WAKE

  constructor(now: number) {
    this.createdAt = now
    this.updatedAt = now
  }

  get tail(): number {
    return this.events.length
  }

  get waiting(): number {
    return this.#queue.length
  }

  holds(fence: number): boolean {
    return this.lease !== null && this.fence === fence
  }

  isDriven(now: number): boolean {
    return this.lease !== null && now < this.lease.expiresAt
  }

  append(append: Append, now: number): Appended {
    if (!this.holds(append.fence)) return { kind: 'fenced' }
    if (append.tail !== this.tail) return { kind: 'conflict', tail: this.tail }
    const gone = append.consume.filter((claim) => !this.#isClaimable(claim)).map((claim) => claim.id)
    if (gone.length > 0) return { kind: 'gone', inputs: gone }
    const lanes = this.#lanesLeft(append, now)
    if (lanes.length > 0) return { kind: 'pending', lanes }
    for (const event of append.events) this.events.push(event)
    for (const claim of append.consume) this.#settle(this.#entries.get(claim.id)!, claim.as)
    this.#sweep()
    return { kind: 'appended', tail: this.tail }
  }

  put(input: NewInput, notBefore: number, now: number): Posted {
    const known = this.#entries.get(input.id)
    if (known !== undefined) return { kind: 'duplicate', state: known.state }
    const pending: PendingInput = { ...input, at: now, tail: this.tail, arrival: ++this.#arrivals, version: 1 }
    const entry: Entry = { state: { kind: 'queued' }, input: pending, notBefore }
    this.#entries.set(input.id, entry)
    this.#queue.push(entry)
    return { kind: 'queued' }
  }

  /** The queue, as far as it is due at `now`. */
  pending(now: number): PendingInput[] {
    const due: PendingInput[] = []
    for (const entry of this.#queue) if (entry.notBefore <= now) due.push(entry.input!)
    return due
  }

  receipt(id: InputId): ReceiptState | null {
    return this.#entries.get(id)?.state ?? null
  }

  edit(id: InputId, change: { readonly content?: readonly Part[]; readonly lane?: MessageLane }): Changed {
    return this.#change(id, (entry) => {
      const input = entry.input!
      if (input.lane === 'control') return { kind: 'missing' }
      entry.input = { ...input, ...change, version: input.version + 1 }
      return { kind: 'changed' }
    })
  }

  withdraw(id: InputId): Changed {
    return this.#change(id, (entry) => {
      this.#settle(entry, { kind: 'withdrawn' })
      this.#sweep()
      return { kind: 'changed' }
    })
  }

  /** Renumbers what stands behind, so that arrival stays a whole number however often inputs are moved. */
  move(id: InputId, before: InputId | null): Changed {
    return this.#change(id, (entry) => {
      const goal = before === null ? null : this.#entries.get(before)
      if (goal === undefined || goal?.input === null) return { kind: 'missing' }
      if (goal === entry) return { kind: 'changed' }
      this.#arrivals++
      const arrival = goal === null ? this.#arrivals : goal.input.arrival
      if (goal !== null) for (const other of this.#queue) if (other.input!.arrival >= arrival) shift(other)
      entry.input = { ...entry.input!, arrival }
      this.#queue.sort((one, other) => one.input!.arrival - other.input!.arrival)
      return { kind: 'changed' }
    })
  }

  release(fence: number, options: ReleaseOptions, now: number): Released {
    if (!this.holds(fence)) return { kind: 'lost' }
    const wake = wakeOf(options)
    if (this.#isWoken(wake, now)) return { kind: 'due' }
    this.#wake = wake
    this.lease = null
    return { kind: 'released' }
  }

  /** Nobody drives it, and it was left in the middle, or something it rests for has come (W3). */
  isDue(now: number): boolean {
    if (this.isDriven(now)) return false
    return this.lease !== null || this.#isWoken(this.#wake, now)
  }

  #isWoken(wake: Wake, now: number): boolean {
    if (wake.at !== null && wake.at <= now) return true
    return this.#queue.some(({ input, notBefore }) => {
      const counts = input!.lane === 'control' || input!.tail >= wake.since
      return counts && notBefore <= now && wake.lanes.includes(input!.lane)
    })
  }

  #isClaimable(claim: Consumption): boolean {
    return this.#entries.get(claim.id)?.input?.version === claim.version
  }

  #lanesLeft(append: Append, now: number): Lane[] {
    const lanes = append.unlessPending
    if (lanes === undefined || lanes.length === 0 || this.#queue.length === 0) return []
    const claimed = new Set(append.consume.map((claim) => claim.id))
    const left = new Set<Lane>()
    for (const { input, notBefore } of this.#queue) {
      if (notBefore <= now && !claimed.has(input!.id)) left.add(input!.lane)
    }
    return lanes.filter((lane) => left.has(lane))
  }

  #change(id: InputId, change: (entry: Entry) => Changed): Changed {
    const entry = this.#entries.get(id)
    if (entry === undefined) return { kind: 'missing' }
    return entry.input === null ? { kind: 'settled', state: entry.state } : change(entry)
  }

  #settle(entry: Entry, state: ReceiptState): void {
    entry.state = state
    entry.input = null
  }

  #sweep(): void {
    if (this.#queue.some((entry) => entry.input === null))
      this.#queue = this.#queue.filter((entry) => entry.input !== null)
  }
}

function shift(entry: Entry): void {
  entry.input = { ...entry.input!, arrival: entry.input!.arrival + 1 }
}
