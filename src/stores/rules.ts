/** What every store holds to, whatever it stores in. */
import { TurnstepError } from '../kernel/errors.ts'
import type { Lane } from '../kernel/input.ts'
import type { Append, Store } from '../runtime/ports.ts'

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

/** Throws `rule-broken` unless the events continue the tail densely, under the fence of the append (L1, L4). */
export function assertDense(append: Append): void {
  let seq = append.tail
  for (const event of append.events) {
    seq++
    if (event.seq === seq && event.fence === append.fence) continue
    throw new TurnstepError(
      'rule-broken',
      `L1: event ${event.type} has seq ${event.seq} and fence ${event.fence} where seq ${seq} and fence ${append.fence} belong; please report it`,
      { data: { session: append.session } },
    )
  }
}
