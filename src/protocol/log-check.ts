/**
 * Judges a log event by event: the shape of each, then its place. Owns which fault is the first one, that any value at all gets a
 * verdict, and the one rule that needs a hash; the others are the kernel's, which knows none. Keeps what the next events are judged by and
 * none of the words (`forget.ts`), so that a log of any length can be judged.
 */
import type { Event } from '../kernel/events.ts'
import { emptyState, fold } from '../kernel/fold.ts'
import { forgetful } from '../kernel/forget.ts'
import { refusal, type RuleBreak } from '../kernel/legality.ts'
import type { State } from '../kernel/state.ts'
import { canonicalJson } from '../util/json.ts'
import { plainSha256 } from '../util/sha256.ts'
import { quoted } from '../util/text.ts'
import { isKnownType, shapeProblem } from './event-shapes.ts'

/** What kind of thing is wrong. A released code keeps its meaning. */
export type FaultCode =
  /** There is nothing. */
  | 'empty'
  /** Bytes that are no UTF-8 text, or text with a byte order mark. */
  | 'encoding'
  /** The file of a store. */
  | 'store'
  /** A line that is no JSON. */
  | 'json'
  /** An empty line with more lines behind it. */
  | 'blank'
  /** The last line breaks off. */
  | 'cut'
  /** A line that is longer than any event. */
  | 'long'
  /** The header is not one, or stands in the wrong place. */
  | 'header'
  /** A format that this version does not read. */
  | 'newer'
  /** More or fewer events than the header promises. */
  | 'count'
  /** A line that is no event: a field is missing or has another kind of value. */
  | 'shape'
  /** An event that may not stand where it stands. */
  | 'rule'

/** The first thing that is wrong with a log. */
export interface Fault {
  readonly code: FaultCode
  /** Number of the rule in CONTRACT.md that it breaks. */
  readonly rule: string
  /** Which event it is, or would have been: counted from 1, whatever its own `seq` says. */
  readonly seq: number
  /** Its type, where it says one. */
  readonly type: string | null
  /** What was seen, and what is wrong with it. */
  readonly problem: string
  /** With `encoding`: it is no text but an archive, or packed. */
  readonly isPacked?: true
}

/** Takes the events of one log, in order. After a fault it is not to be asked again. */
export class EventCheck {
  readonly #state = emptyState()
  readonly #forget = forgetful()
  #skipped = 0

  /** How many events were sound. */
  get events(): number {
    return this.#state.seq
  }

  /** How many of them are of a type that is not known here: kept, and skipped (L6). */
  get skipped(): number {
    return this.#skipped
  }

  /** Null: sound. Never throws. */
  take(value: unknown): Fault | null {
    const seq = this.#state.seq + 1
    const misshapen = shapeProblem(value)
    if (misshapen !== null) return { code: 'shape', rule: 'L6', seq, type: typeOf(value), problem: misshapen }
    const event = value as Event
    const { type } = event
    try {
      const broken = misnamed(this.#state, event) ?? fold(this.#state, event)
      if (broken !== null)
        return { code: type === 'session.created' && broken.rule === 'L6' ? 'newer' : 'rule', seq, type, ...broken }
    } catch (error) {
      // The shape was checked; should the fold stumble all the same, it is over the log and no fault of ours.
      return { code: 'shape', rule: 'L6', seq, type, problem: `its fields are not those of ${type} (${String(error)})` }
    }
    this.#forget(this.#state)
    if (!isKnownType(type)) this.#skipped++
    return null
  }
}

/** An epoch that may stand where it stands, under a name that is not that of its content (X1). Before the fold: what is refused is not folded. */
function misnamed(state: State, event: Event): RuleBreak | null {
  if (event.type !== 'epoch.started' || refusal(state, event) !== null) return null
  const { hash, route, system, tools } = event.content
  const found = plainSha256(canonicalJson({ route, system, tools }))
  return hash === found
    ? null
    : { rule: 'X1', problem: `the hash is ${quoted(hash)}, that of route, system and tools is "${found}"` }
}

function typeOf(value: unknown): string | null {
  const type: unknown =
    typeof value === 'object' && value !== null && Object.hasOwn(value, 'type')
      ? (value as { type: unknown }).type
      : null
  return typeof type === 'string' ? type : null
}
