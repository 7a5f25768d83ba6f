/** C4, C6, A1, A2: nothing that changes something runs twice, beside what conflicts with it, or unasked. */
import { conflict } from '../../../kernel/plan.ts'
import { grantKey, type Call } from '../../../kernel/state.ts'
import type { Tool } from '../../../runtime/define/tool.ts'
import type { Check, Seen } from '../check.ts'
import type { SimBody } from '../sim.ts'

export interface EffectOptions {
  readonly toolOf: (name: string) => Tool | undefined
  /** Calls that may run at once. */
  readonly pool: number
}

export function effectCheck({ toolOf, pool }: EffectOptions): Check {
  const ran = new Map<string, SimBody>()
  const keys = new Map<string, string>()
  return {
    name: 'effects',
    body(body, seen) {
      const { call, key, effect } = body
      const before = ran.get(call)
      if (before !== undefined && effect === 'write') seen.fail('C4', `the write ${body.tool} ${call} runs twice`)
      if (before !== undefined && before.key !== key) seen.fail('C4', `${call} runs again under another key`)
      const owner = keys.get(key)
      if (owner !== undefined && owner !== call) seen.fail('C4', `${call} has the key of ${owner}`)
      ran.set(call, body)
      keys.set(key, call)
      const open = seen.state.step?.byId.get(call as never)
      if (open === undefined) return
      unasked(body, open, seen)
      beside(body, open, seen)
    },
  }

  function unasked({ tool, call, args }: SimBody, open: Readonly<Call>, seen: Seen): void {
    const question = toolOf(tool)?.approval(open.args ?? open.record.args ?? args) ?? null
    if (question === null || isGranted(tool, [question, open.question], seen)) return
    const decided = seen.log.findLast((event) => event.type === 'call.approval-decided' && event.call === call)
    if (decided?.type !== 'call.approval-decided' || decided.decision !== 'allow')
      seen.fail('A1', `${tool} ${call} runs, and nobody approved it`)
  }

  /** Those that are waited for, and still run. */
  function beside({ call, fence }: SimBody, open: Readonly<Call>, seen: Seen): void {
    const running = seen.bodies.filter(
      (one) => !one.ended && one.fence === fence && seen.state.step?.byId.get(one.call as never)?.status === 'started',
    )
    if (running.length > pool) seen.fail('C6', `${running.length} bodies at once, with a pool of ${pool}`)
    for (const other of running) {
      const uses = seen.state.step!.byId.get(other.call as never)!.record.resources
      if (other.call !== call && conflict(uses, open.record.resources))
        seen.fail('C6', `${call} begins while ${other.call} runs, and they conflict`)
    }
  }
}

/** An "always" covers the same tool asking the same question (A2). */
function isGranted(tool: string, questions: readonly (string | null)[], { state }: Seen): boolean {
  return questions.some((question) => question !== null && state.grants.has(grantKey(tool, question)))
}
