/** What a state means to people (T2). */
import { barrier } from '../../kernel/plan.ts'
import type { Call, State, Step } from '../../kernel/state.ts'
import type { Ask, SessionStatus } from '../session.ts'
import { WORDINGS, type Locale } from '../wording.ts'

export function statusOf(state: State): SessionStatus {
  const { turn, step, held, lastTurn } = state
  if (turn === null)
    return held !== null && lastTurn !== null ? { kind: 'held', outcome: lastTurn.outcome } : { kind: 'idle' }
  const asks = asksOf(state)
  const busy = step !== null && (step.request !== null || step.calls.some((call) => isBusy(step, call)))
  if (asks.length > 0 && !busy && turn.abort === null) return { kind: 'waiting', turn: turn.n, asks }
  return { kind: 'running', turn: turn.n, step: step?.n ?? turn.steps }
}

/** Neither ended nor waiting: for an answer, or behind a call that waits for one (C6). */
function isBusy(step: Step, call: Call): boolean {
  switch (call.status) {
    case 'started':
    case 'refused':
      return true
    case 'requested':
    case 'approved':
      return barrier(step.calls, call) === undefined
    case 'asked':
    case 'deferred':
    case 'ended':
      return false
  }
}

/** Everything that a person or an outside system may answer now. */
export function asksOf(state: State): Ask[] {
  const asks: Ask[] = []
  for (const call of state.step?.calls ?? []) {
    if (call.status !== 'asked' && call.status !== 'deferred') continue
    const { id, name, args } = call.record
    asks.push({
      call: id,
      kind: call.status === 'asked' ? 'approval' : 'deferred',
      tool: name,
      args: call.args ?? args ?? {},
      reason: call.question ?? '',
      argsHash: call.argsHash,
      expiresAt: call.expiresAt,
    })
  }
  const limit = state.turn?.limitAsk
  if (limit != null && limit.decided === null) {
    // A log of a later version may be in a language that is not known here.
    const { limitQuestion } = WORDINGS[state.created?.locale as Locale] ?? WORDINGS.en
    asks.push({
      call: limit.id,
      kind: 'step-limit',
      tool: '',
      args: {},
      reason: limitQuestion(state.turn!.limits.steps),
      argsHash: null,
      expiresAt: null,
    })
  }
  return asks
}
