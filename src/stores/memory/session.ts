/**
 * One session in memory. Owns its events, inputs and lease; knows no clock: the time comes in with every call.
 * Invariants: `lanes` hold exactly the inputs whose state is `queued`, in order of arrival; `changes` has a place for every change of
 * an input, and the entry's `revision` is the newest of its places; `fence` never falls; the lease, if there is one, has the fence `fence`.
 */
import type { Event } from '../../kernel/events.ts'
import type { InputId } from '../../kernel/ids.ts'
import type { Lane, MessageLane, NewInput, PendingInput, ReceiptState } from '../../kernel/input.ts'
import type { Part } from '../../kernel/message.ts'
import type { Snapshot } from '../../kernel/state.ts'
import type {
  Append,
  Appended,
  Changed,
  Consumption,
  PartialReply,
  Posted,
  QueueChanges,
  QueueMark,
  Released,
} from '../../runtime/ports.ts'
import { Line } from '../../util/line.ts'
import { between, FIRST_WAKE, wakeOf } from '../rules.ts'
import type { ReleaseOptions, Wake } from '../rules.ts'

interface Entry {
  readonly id: InputId
  state: ReceiptState
  /** Dropped once it is settled. */
  input: PendingInput | null
  readonly notBefore: number
  /** Of the newest change to it. */
  revision: number
}

const NO_LANES: readonly Lane[] = []
const LANES: readonly Lane[] = ['control', 'steer', 'note', 'followup']

const byArrival = (one: Entry, other: Entry): number => one.input!.arrival - other.input!.arrival

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
  readonly #lanes: Readonly<Record<Lane, Line<Entry>>> = {
    control: new Line(byArrival),
    steer: new Line(byArrival),
    note: new Line(byArrival),
    followup: new Line(byArrival),
  }
  /** Pending inputs with a time of their own. */
  readonly #timed = new Set<Entry>()
  /** What was changed, in order: revision n is the place n - 1. */
  readonly #changes: Entry[] = []
  readonly life: number
  #arrivals = 0
  #wake = FIRST_WAKE

  /** `life` tells it from the sessions of its name that were before. */
  constructor(life: number, now: number) {
    this.life = life
    this.createdAt = now
    this.updatedAt = now
  }

  get tail(): number {
    return this.events.length
  }

  get pendingCount(): number {
    const { control, steer, note, followup } = this.#lanes
    return control.size + steer.size + note.size + followup.size
  }

  holds(fence: number): boolean {
    return this.lease !== null && this.fence === fence
  }

  isDriven(now: number): boolean {
    return this.lease !== null && now < this.lease.expiresAt
  }

  append({ fence, tail, events, consume, unlessPending }: Append, now: number): Appended {
    if (!this.holds(fence)) return { kind: 'fenced' }
    if (tail !== this.tail) return { kind: 'conflict', tail: this.tail }
    if (consume.length > 0) {
      const gone = consume.filter((claim) => !this.#isClaimable(claim)).map((claim) => claim.id)
      if (gone.length > 0) return { kind: 'gone', inputs: gone }
    }
    const left = unlessPending === undefined ? NO_LANES : this.#left(unlessPending, consume, now)
    if (left.length > 0) return { kind: 'pending', lanes: left }
    for (const event of events) this.events.push(event)
    for (const claim of consume) this.#settle(this.#entries.get(claim.id)!, claim.as)
    return { kind: 'appended', tail: this.tail }
  }

  put(input: NewInput, notBefore: number, now: number): Posted {
    const known = this.#entries.get(input.id)
    if (known !== undefined) return { kind: 'duplicate', state: known.state }
    const pending: PendingInput = { ...input, at: now, tail: this.tail, arrival: ++this.#arrivals, version: 1 }
    const entry: Entry = { id: input.id, state: QUEUED, input: pending, notBefore, revision: 0 }
    this.#entries.set(input.id, entry)
    this.#lanes[input.lane].add(entry)
    if (notBefore !== -Infinity) this.#timed.add(entry)
    this.#revise(entry)
    return QUEUED
  }

  /** The queue, as far as it is due at `now`. */
  pending(now: number): PendingInput[] {
    const due: PendingInput[] = []
    for (const lane of LANES)
      for (const entry of this.#lanes[lane].take()) if (entry.notBefore <= now) due.push(entry.input!)
    return inOrder(due)
  }

  pendingSince(since: QueueMark | null, now: number): QueueChanges {
    const mark: QueueMark = { life: this.life, revision: this.#changes.length, at: now }
    if (since?.life !== mark.life) return { whole: true, pending: this.pending(now), gone: [], mark }
    const pending: PendingInput[] = []
    const gone: InputId[] = []
    for (let place = since.revision; place < this.#changes.length; place++) {
      const entry = this.#changes[place]!
      if (entry.revision !== place + 1) continue
      if (entry.input === null) gone.push(entry.id)
      else if (entry.notBefore <= now) pending.push(entry.input)
    }
    for (const entry of this.#timed) {
      const cameDue = since.at < entry.notBefore && entry.notBefore <= now
      if (cameDue && entry.revision <= since.revision) pending.push(entry.input!)
    }
    return { whole: false, pending: inOrder(pending), gone, mark }
  }

  receipt(id: InputId): ReceiptState | null {
    return this.#entries.get(id)?.state ?? null
  }

  edit(id: InputId, change: { readonly content?: readonly Part[]; readonly lane?: MessageLane }): Changed {
    return this.#change(id, (entry, input) => {
      if (input.lane === 'control') return { kind: 'missing' }
      this.#replace(entry, { ...input, ...change, version: input.version + 1 })
      return { kind: 'changed' }
    })
  }

  withdraw(id: InputId): Changed {
    return this.#change(id, (entry) => {
      this.#settle(entry, { kind: 'withdrawn' })
      return { kind: 'changed' }
    })
  }

  /** Takes a place between two others; only when there is none left between them are those behind moved on. */
  move(id: InputId, before: InputId | null): Changed {
    return this.#change(id, (entry, input) => {
      const goal = before === null ? null : this.#entries.get(before)
      if (goal === undefined || goal?.input === null) return { kind: 'missing' }
      if (goal === entry) return { kind: 'changed' }
      this.#replace(entry, { ...input, arrival: goal === null ? ++this.#arrivals : this.#placeBefore(goal) })
      return { kind: 'changed' }
    })
  }

  #placeBefore(goal: Entry): number {
    const { arrival } = goal.input!
    const before = this.#arrivalBefore(goal)
    const place = between(before, arrival)
    if (place !== null) return place
    this.#arrivals++
    const behind = LANES.flatMap((lane) => this.#lanes[lane].take()).filter(({ input }) => input!.arrival >= arrival)
    for (const entry of behind.toSorted(byArrival).toReversed())
      this.#replace(entry, { ...entry.input!, arrival: entry.input!.arrival + 1 })
    return between(before, arrival + 1)!
  }

  #arrivalBefore(goal: Entry): number | null {
    let before: number | null = null
    for (const lane of LANES) {
      const arrival = this.#lanes[lane].before(goal)?.input!.arrival
      if (arrival !== undefined && (before === null || arrival > before)) before = arrival
    }
    return before
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

  #isWoken({ lanes, at, since }: Wake, now: number): boolean {
    if (at !== null && at <= now) return true
    const isDue = ({ input, notBefore }: Entry): boolean =>
      notBefore <= now && (input!.lane === 'control' || input!.tail >= since)
    // What came last is most likely to count.
    return lanes.some((lane) => this.#lanes[lane].findLast(isDue) !== undefined)
  }

  #isClaimable(claim: Consumption): boolean {
    return this.#entries.get(claim.id)?.input?.version === claim.version
  }

  /** The lanes in which something is due that is not claimed. */
  #left(lanes: readonly Lane[], consume: readonly Consumption[], now: number): readonly Lane[] {
    let left = NO_LANES
    for (const lane of lanes) {
      const line = this.#lanes[lane]
      if (line.size === 0) continue
      const claimed = new Set(consume.map((claim) => claim.id))
      if (line.find(({ id, notBefore }) => notBefore <= now && !claimed.has(id)) !== undefined) left = [...left, lane]
    }
    return left
  }

  #change(id: InputId, change: (entry: Entry, input: PendingInput) => Changed): Changed {
    const entry = this.#entries.get(id)
    if (entry === undefined) return { kind: 'missing' }
    return entry.input === null ? { kind: 'settled', state: entry.state } : change(entry, entry.input)
  }

  #replace(entry: Entry, input: PendingInput): void {
    this.#lanes[entry.input!.lane].remove(entry)
    entry.input = input
    this.#lanes[input.lane].add(entry)
    this.#revise(entry)
  }

  #settle(entry: Entry, state: ReceiptState): void {
    this.#lanes[entry.input!.lane].remove(entry)
    this.#timed.delete(entry)
    entry.state = state
    entry.input = null
    this.#revise(entry)
  }

  #revise(entry: Entry): void {
    entry.revision = this.#changes.push(entry)
  }
}

const QUEUED = { kind: 'queued' } as const

function inOrder(inputs: PendingInput[]): PendingInput[] {
  return inputs.sort((one, other) => one.arrival - other.arrival)
}
