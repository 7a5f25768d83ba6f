/** Closing calls without running them: each gets its one outcome, in words that tell the model what it may do next (C2, C4, C12). */
import type { SettleReason } from '../../kernel/effects.ts'
import type { CallId } from '../../kernel/ids.ts'
import type { CallOutcome } from '../../kernel/outcome.ts'
import type { Call } from '../../kernel/state.ts'
import { askHook } from '../ask-hook.ts'
import { idempotencyKey, outcomeContent } from './call-facts.ts'
import type { CallPool } from './call-pool.ts'
import type { Run } from './run.ts'
import { finishResult } from './tool-result.ts'
import { isDeferred, type CallEnd, type ToolResult } from '../define/tool.ts'

/** How long `reconcile` may take, by itself, before the call is `unknown`. */
const RECONCILE_MS = 30_000

/** Closes these calls; stops early when control arrives while the outside world is asked. One that runs here is let go as a straggler: its real end comes by the inbox (C5). */
export async function settleCalls(run: Run, pool: CallPool, ids: readonly CallId[], as: SettleReason): Promise<void> {
  for (const id of ids) {
    const call = run.state.step!.byId.get(id)
    if (call === undefined || call.status === 'ended') continue
    const known = as === 'recover' ? await reconcile(run, call) : null
    if (known === 'control') return
    pool.letGo(id)
    run.journal.record({
      type: 'call.ended',
      call: id,
      ...(known ?? closed(run, call, await outcomeOf(run, call, as))),
    })
  }
}

function closed(run: Run, call: Call, outcome: Exclude<CallOutcome, { kind: 'ok' }>): CallEnd {
  return { outcome, content: outcomeContent(run, call, outcome) }
}

async function outcomeOf(run: Run, call: Call, as: SettleReason): Promise<Exclude<CallOutcome, { kind: 'ok' }>> {
  switch (as) {
    case 'recover':
      return { kind: 'unknown', reason: 'crashed' }
    case 'denied':
      return { kind: 'denied', by: 'user', reason: call.refusal ?? '' }
    case 'expired':
      return call.status === 'deferred'
        ? { kind: 'timeout', afterMs: await waitedMs(run, call) }
        : { kind: 'denied', by: 'expired', reason: '' }
    case 'aborted':
      return call.status === 'started' || call.status === 'deferred'
        ? { kind: 'unknown', reason: 'aborted' }
        : { kind: 'not-started', reason: 'aborted' }
    case 'stale':
    case 'output-limit':
    case 'unknown-stop':
    case 'refused':
    case 'step-limit':
    case 'not-taken':
    case 'turn-ended':
      return { kind: 'not-started', reason: as }
  }
}

/** How long a deferred call was given. It was started, and may have had its effect: it is not denied, its time is over. */
async function waitedMs({ store, session }: Run, call: Call): Promise<number> {
  const [deferral] = (await store.read(session, { after: call.seq - 1, limit: 1 })).events
  return Math.max(0, call.expiresAt! - (deferral?.at ?? call.expiresAt!))
}

/** Asks the outside world what became of an interrupted write (C4). Null: it could not be found out. */
async function reconcile(run: Run, call: Call): Promise<CallEnd | 'control' | null> {
  const asking = run.agent.tools.get(call.record.name)?.reconcile ?? null
  if (asking === null || call.status !== 'started' || call.record.effect !== 'write') return null
  const key = idempotencyKey(run, call.record.id)
  const context = {
    session: run.session,
    call: call.record.id,
    idempotencyKey: key,
    fence: run.fence,
    clock: run.clock,
  }
  const options = run.askOptions({ plugin: call.record.name, timeoutMs: RECONCILE_MS })
  const answer = await askHook<ToolResult>(
    async (scope) => (await asking(key, { ...context, signal: scope.signal })) ?? undefined,
    options,
  )
  if (answer.kind === 'control') return 'control'
  if (answer.kind === 'failed') run.report(answer.error)
  if (answer.kind === 'failed' || answer.value === undefined) return null
  const result = answer.value
  return isDeferred(result) ? null : finishResult(run, call, result)
}
