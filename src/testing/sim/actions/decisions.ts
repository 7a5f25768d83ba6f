/** What people decide: aborts, approvals, answers. */
import type { PendingPolicy } from '../../../kernel/input.ts'
import type { Chance } from '../chance.ts'
import type { SimSeen } from '../sim.ts'
import type { Action, Stage } from '../stage.ts'

export const abort: Action<{ readonly id: string; readonly pending: PendingPolicy; readonly graceMs?: number }> = {
  name: 'abort',
  weight: 2,
  propose: (stage, chance) => ({
    id: stage.fresh('x'),
    pending: chance.pick<PendingPolicy>(['keep', 'return', 'drop']),
    ...(chance.is(0.5) ? { graceMs: chance.below(2_000) } : {}),
  }),
  perform: ({ session }, params) => session.abort(params),
}

export const resume: Action<{ readonly id: string }> = {
  name: 'resume',
  weight: 3,
  propose: (stage) => ({ id: stage.fresh('r') }),
  perform: ({ session }, params) => session.resume(params),
}

/** Which question: the one that stands there among those that are open; or a call by its id, whether it asks or not. */
interface OfCall {
  readonly id: string
  readonly ask?: number
  readonly call?: string
}

export const approve: Action<OfCall & { readonly always?: true }> = {
  name: 'approve',
  weight: 8,
  propose(stage, chance) {
    const question = drawAsk(stage, 'y', chance)
    return question === null || !chance.is(0.1) ? question : { ...question, always: true }
  },
  perform: ({ session, seen }, params) =>
    onCall(seen, params, (call) => session.approve(call, { id: params.id, always: params.always === true })),
}

export const deny: Action<OfCall> = {
  name: 'deny',
  weight: 4,
  propose: (stage, chance) => drawAsk(stage, 'd', chance),
  perform: ({ session, seen }, params) =>
    onCall(seen, params, (call) => session.deny(call, { id: params.id, reason: 'no' })),
}

export const answer: Action<OfCall & { readonly failed?: true }> = {
  name: 'answer',
  weight: 6,
  propose(stage, chance) {
    const question = drawAsk(stage, 'a', chance)
    return question === null || !chance.is(0.2) ? question : { ...question, failed: true }
  },
  perform: ({ session, seen }, params) =>
    onCall(seen, params, (call) => session.answer(call, 'an answer', { id: params.id, error: params.failed === true })),
}

/** An open question; seldom any call, for who answers too late or the wrong question. */
function drawAsk(stage: Stage, prefix: string, chance: Chance): OfCall | null {
  if (chance.is(0.04)) {
    const call = `t${1 + chance.below(3)}s${1 + chance.below(3)}c${1 + chance.below(3)}`
    return { id: stage.fresh(prefix), call }
  }
  const open = openAsks(stage.seen).length
  return open === 0 ? null : { id: stage.fresh(prefix), ask: chance.below(open) }
}

function onCall(
  seen: SimSeen,
  { ask = 0, call = openAsks(seen)[ask] }: OfCall,
  decide: (call: string) => Promise<unknown>,
): Promise<unknown> | void {
  if (call !== undefined) return decide(call)
}

function openAsks({ state }: SimSeen): string[] {
  const calls = state.step?.calls ?? []
  const waiting = calls.filter(({ status }) => status === 'asked' || status === 'deferred')
  const ids = waiting.map(({ record }) => record.id)
  const limit = state.turn?.limitAsk
  return limit?.decided === null ? [...ids, limit.id] : ids
}
