/**
 * The pending inputs that a runner knows of, by lane and in order of arrival. Owns the counts that a loop looks at. Coming, going and
 * counting cost the same however many are pending.
 * Invariant: an input is in the line of its lane, and among those that expire if it can, exactly while it is known by its id.
 */
import type { InboxView } from '../../kernel/effects.ts'
import type { InputId } from '../../kernel/ids.ts'
import type { ControlInput, Lane, MessageInput, MessageLane, PendingInput } from '../../kernel/input.ts'
import { Line } from '../../util/line.ts'

type Expiring = MessageInput & { readonly expiresAt: number }

/** Inputs that a damaged log gave back (L5) may have the arrival of one that was moved since. */
const byArrival = (one: PendingInput, other: PendingInput): number =>
  one.arrival - other.arrival || (one.id === other.id ? 0 : one.id < other.id ? -1 : 1)

export class Lanes {
  readonly #known = new Map<InputId, PendingInput>()
  readonly #lines: Readonly<Record<Lane, Line<PendingInput>>> = {
    control: new Line(byArrival),
    steer: new Line(byArrival),
    note: new Line(byArrival),
    followup: new Line(byArrival),
  }
  readonly #expiring = new Line<Expiring>((one, other) => one.expiresAt - other.expiresAt || byArrival(one, other))
  #steerNow = 0
  /** The highest tail at which one that can start a turn arrived, and how many arrived at it. */
  #newest = { tail: -1, count: 0 }
  #view: InboxView | null = null

  get(id: InputId): PendingInput | undefined {
    return this.#known.get(id)
  }

  /** Takes it up, in the place of what was known of it. */
  put(input: PendingInput): void {
    this.remove(input.id)
    this.#known.set(input.id, input)
    this.#lines[input.lane].add(input)
    if (expires(input)) this.#expiring.add(input)
    if (isSteerNow(input)) this.#steerNow++
    if (canStart(input)) this.#countTail(input.tail)
    this.#view = null
  }

  /** Whether it was there. */
  remove(id: InputId): boolean {
    const input = this.#known.get(id)
    if (input === undefined) return false
    this.#known.delete(id)
    this.#lines[input.lane].remove(input)
    if (expires(input)) this.#expiring.remove(input)
    if (isSteerNow(input)) this.#steerNow--
    if (canStart(input) && input.tail === this.#newest.tail && --this.#newest.count === 0) this.#recountTails()
    this.#view = null
    return true
  }

  clear(): void {
    this.#known.clear()
    for (const line of Object.values(this.#lines)) line.clear()
    this.#expiring.clear()
    this.#steerNow = 0
    this.#newest = { tail: -1, count: 0 }
    this.#view = null
  }

  controls(): ControlInput[] {
    return this.#lines.control.take() as ControlInput[]
  }

  /** Message inputs in order of arrival: all of these lanes, at most so many followups. */
  messages(lanes: readonly MessageLane[], followups = Infinity): MessageInput[] {
    let found: PendingInput[] = []
    for (const lane of lanes) {
      const line = this.#lines[lane]
      if (line.size === 0) continue
      const more = line.take(lane === 'followup' ? followups : Infinity)
      found = found.length === 0 ? more : found.concat(more).toSorted(byArrival)
    }
    return found as MessageInput[]
  }

  /** Those that may not enter any more at `now`, in order of arrival. */
  expired(now: number): MessageInput[] {
    const expired: MessageInput[] = []
    this.#expiring.find((input) => {
      if (input.expiresAt >= now) return true
      expired.push(input)
      return false
    })
    return expired.toSorted(byArrival)
  }

  get view(): InboxView {
    const { control, steer, note, followup } = this.#lines
    this.#view ??= {
      control: control.size,
      steer: steer.size,
      note: note.size,
      followup: followup.size,
      steerNow: this.#steerNow,
      newestTail: this.#newest.tail,
    }
    return this.#view
  }

  #countTail(tail: number): void {
    if (tail > this.#newest.tail) this.#newest = { tail, count: 1 }
    else if (tail === this.#newest.tail) this.#newest.count++
  }

  /** Only when the last of the newest has gone, and what is pending goes from the oldest on: rare, unless little is left. */
  #recountTails(): void {
    this.#newest = { tail: -1, count: 0 }
    for (const lane of ['steer', 'followup'] as const)
      for (const { tail } of this.#lines[lane].take()) this.#countTail(tail)
  }
}

const expires = (input: PendingInput): input is Expiring => input.lane !== 'control' && input.expiresAt !== undefined

const isSteerNow = (input: PendingInput): boolean => input.lane === 'steer' && input.promptness === 'now'

const canStart = ({ lane }: PendingInput): boolean => lane === 'steer' || lane === 'followup'
