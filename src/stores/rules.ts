/** What every store holds to, whatever it stores in. */
import { TurnstepError } from '../kernel/errors.ts'
import type { InputId } from '../kernel/ids.ts'
import type { Lane } from '../kernel/input.ts'
import { isBlank, type Part } from '../kernel/message.ts'
import { areParts } from '../runtime/borders.ts'
import type { Append, QueueChanges, Store } from '../runtime/ports.ts'
import { quoted } from '../util/text.ts'

/** How a session is left. */
export type ReleaseOptions = Parameters<Store['release']>[2]

/** What makes a session due: input in these lanes, which, unless it is control, arrived at the log tail `since` or later. */
export interface Wake {
  readonly lanes: readonly Lane[]
  /** Milliseconds since the epoch. */
  readonly at: number | null
  readonly since: number
}

/** The wake of a session that nobody has driven yet. */
export const FIRST_WAKE: Wake = { lanes: ['control', 'steer', 'followup'], at: null, since: 0 }

export function wakeOf(options: ReleaseOptions): Wake {
  return { lanes: options.wake, at: options.until ?? null, since: options.since ?? 0 }
}

/** The queue of a session that does not exist. */
export const NO_QUEUE: QueueChanges = { whole: true, pending: [], gone: [], mark: { life: 0, revision: 0, at: 0 } }

/**
 * A place in the order of arrival before `arrival` and behind its predecessor, if there is one: halfway, so that a move changes one
 * input. Null: no number is left between them.
 */
export function between(before: number | null, arrival: number): number | null {
  if (before === null) return arrival - 1
  const middle = (before + arrival) / 2
  return before < middle && middle < arrival ? middle : null
}

/**
 * Throws `rule-broken` unless the events continue the tail densely, under the fence of the append (L1, L4), and no input is claimed
 * twice (I6).
 */
export function assertSound(append: Append): void {
  const claimed = append.consume.length < 2 ? null : new Set(append.consume.map(({ id }) => id))
  if (claimed !== null && claimed.size < append.consume.length) {
    const ids = append.consume.map(({ id }) => id).join(', ')
    throw broken(append, `I6: one append claims an input twice: ${ids}`)
  }
  let seq = append.tail
  for (const event of append.events) {
    seq++
    if (event.seq === seq && event.fence === append.fence) continue
    const seen = `event ${event.type} has seq ${event.seq} and fence ${event.fence}`
    throw broken(append, `L1: ${seen} where seq ${seq} and fence ${append.fence} belong`)
  }
}

/**
 * Throws `content-invalid` for the content of a message that could not enter: an event with it is refused (X8), by every runner that
 * would claim it.
 */
export function assertEnterable(id: InputId, content: readonly Part[]): void {
  if (areParts(content) && content.length > 0 && !content.some(isBlank)) return
  throw new TurnstepError(
    'content-invalid',
    `input "${id}" has the content ${quoted(content)}; give a list of text and image parts, at least one, and none empty`,
    { data: { input: id } },
  )
}

function broken(append: Append, what: string): TurnstepError {
  return new TurnstepError('rule-broken', `${what}; please report it`, { data: { session: append.session } })
}
