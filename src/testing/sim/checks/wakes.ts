/** W3: what is due is driven within a bounded time, wherever a process that has it open is well. */
import type { SessionId } from '../../../kernel/ids.ts'
import type { Store } from '../../../runtime/ports.ts'
import type { Check } from '../check.ts'

/** A fault that may pass is waited for so long, and the store is looked at every half second. */
const DRIVEN_WITHIN_MS = 10_000

export interface WakeOptions {
  readonly store: Store
  readonly session: SessionId
  /** Some process that has the session open is well. */
  readonly isAttended: () => boolean
}

export function wakeCheck({ store, session, isAttended }: WakeOptions): Check {
  /** Since then it is due, it could be driven, and nobody has taken the lease. */
  let waits: { readonly fence: number; readonly at: number } | null = null
  return {
    name: 'wakes',
    async moment(seen) {
      const isDue = (await store.due([session])).length > 0
      if (!isDue || !isAttended()) waits = null
      else if (waits?.fence !== seen.fence || seen.disturbedAt >= waits.at) waits = { fence: seen.fence, at: seen.now }
      else if (seen.now - waits.at > DRIVEN_WITHIN_MS)
        seen.fail('W3', `the session is due for ${seen.now - waits.at} ms, and nobody drives it`)
    },
  }
}
