/** One body at work: what the call pool knows of it, and what it gets itself. */
import type { Call } from '../../kernel/state.ts'
import type { AbortScope } from '../../util/signal.ts'
import type { CallEnd, Deferred, ToolContext } from '../define/tool.ts'
import { idempotencyKey } from './call-facts.ts'
import type { Run } from './run.ts'

/** How a body came back. */
export type BodyEnd = (CallEnd & { readonly progress?: string }) | Deferred

export interface Body {
  readonly call: Call
  readonly scope: AbortScope
  readonly timeoutMs: number
  /** Takes its timeout back: it came in time, or nobody waits for it any more. A timer of its own, as a clock may be set. */
  cancelTimeout: () => void
  /** Set once its call was closed by a timeout or a settlement: the real end is late news. Gives its resources back. */
  straggling: (() => void) | null
  /** Who told it to stop, if that was not its turn. */
  told: 'timeout' | 'runner' | null
  /** Its end, once it came back in time. */
  end: BodyEnd | null
  /** Of the event that records its end, once there is one. */
  seq: number | null
}

/** What a body gets beside its arguments. Plain data, so that it may be copied. */
export function contextOf(run: Run, body: Body): ToolContext {
  const { id } = body.call.record
  return {
    signal: body.scope.signal,
    session: run.session,
    call: id,
    idempotencyKey: idempotencyKey(run, id),
    fence: run.fence,
    clock: run.clock,
    progress: (text) => {
      if (body.straggling === null) run.publish({ type: 'progress', call: id, text })
    },
  }
}
