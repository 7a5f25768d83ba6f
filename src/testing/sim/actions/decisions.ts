/** What people decide: aborts, approvals, answers. */
import type { PendingPolicy } from '../../../kernel/input.ts'
import type { Chance } from '../chance.ts'
import type { SimSeen } from '../sim.ts'
import type { Action } from '../stage.ts'

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

interface OfCall {
  readonly id: string
  readonly call: string
}

export const approve: Action<OfCall & { readonly always?: true }> = {
  name: 'approve',
  weight: 8,
  propose(stage, chance) {
    const call = asked(stage.seen, chance)
    if (call === null) return null
    return { id: stage.fresh('y'), call, ...(chance.is(0.1) ? { always: true as const } : {}) }
  },
  perform: ({ session }, { id, call, always }) => session.approve(call, { id, always: always === true }),
}

export const deny: Action<OfCall> = {
  name: 'deny',
  weight: 4,
  propose: (stage, chance) => named(stage.fresh, asked(stage.seen, chance)),
  perform: ({ session }, { id, call }) => session.deny(call, { id, reason: 'no' }),
}

export const answer: Action<OfCall & { readonly failed?: true }> = {
  name: 'answer',
  weight: 6,
  propose(stage, chance) {
    const call = asked(stage.seen, chance)
    if (call === null) return null
    return { id: stage.fresh('a'), call, ...(chance.is(0.2) ? { failed: true as const } : {}) }
  },
  perform: ({ session }, { id, call, failed }) => session.answer(call, 'an answer', { id, error: failed === true }),
}

function named(fresh: (prefix: string) => string, call: string | null): OfCall | null {
  return call === null ? null : { id: fresh('d'), call }
}

/** A call that waits; seldom any other, for who answers too late or the wrong question. */
function asked({ state }: SimSeen, chance: Chance): string | null {
  if (chance.is(0.04)) return `t${1 + chance.below(3)}s${1 + chance.below(3)}c${1 + chance.below(3)}`
  const calls = state.step?.calls ?? []
  const waiting = calls.filter(({ status }) => status === 'asked' || status === 'deferred').map(({ record }) => record.id)
  const limit = state.turn?.limitAsk
  const open = limit?.decided === null ? [...waiting, limit.id] : waiting
  return open.length === 0 ? null : chance.pick(open)
}
