/**
 * The default loop: call the model, run what it asks for, until it asks for nothing. Pure choice over the state; that its choices
 * are legal is the fold's to check, that they happen is the runner's. Recovery is not a path of its own: what a crash left open is
 * seen in the state like anything else (C4).
 */
import type { Effect, Loop, View } from '../../kernel/effects.ts'
import type { CallId } from '../../kernel/ids.ts'
import type { TurnOutcome } from '../../kernel/outcome.ts'
import { barrier, startable } from '../../kernel/plan.ts'
import type { Call, Step, Turn } from '../../kernel/state.ts'

/** The default loop: call the model, run what it asks for, until it asks for nothing more. */
export const react: Loop = { name: 'react', next }

function next(view: View): Effect {
  const { state } = view
  if (view.inbox.control > 0) return { kind: 'absorb' }
  if (state.turn === null) return outside(view)
  if (state.turn.abort !== null) return windDown(view, state.turn.abort)
  return state.step === null ? betweenSteps(view, state.turn) : inStep(view, state.turn, state.step)
}

function outside(view: View): Effect {
  const { state, inbox } = view
  if (state.goOn) return { kind: 'begin', trigger: 'go-on' }
  if (inbox.steer + inbox.followup > 0 && mayStart(view)) return { kind: 'begin', trigger: 'input' }
  if (state.held === null) return { kind: 'rest', mode: 'idle', wake: ['control', 'steer', 'followup'] }
  return { kind: 'rest', mode: 'held', wake: ['control', 'steer', 'followup'], since: state.held.seq }
}

/** A held queue waits for an input that came after the turn ended (I9, I11); a steer that met the step limit does not (T4). */
function mayStart({ state, inbox, settings }: View): boolean {
  if (state.held === null || inbox.newestTail >= state.held.seq) return true
  const ended = state.lastTurn?.outcome.kind
  if (ended === 'step-limit' && inbox.steer > 0) return true
  return settings.afterFailure === 'continue' && ended !== 'aborted'
}

/** Wait for what is live, at most until the grace is over; close what is open; end (T7, C12). */
function windDown(view: View, abort: NonNullable<Turn['abort']>): Effect {
  const { step } = view.state
  if (step === null) return { kind: 'end-turn', outcome: { kind: 'aborted', reason: abort.reason } }
  const graceLeft = view.now < abort.until
  if (step.request !== null) {
    if (view.live.has('infer') && graceLeft) return { kind: 'wait', until: abort.until }
    return { kind: 'settle-request', reason: 'aborted' }
  }
  const open = step.calls.filter((call) => call.status !== 'ended')
  const stuck = open.filter((call) => !graceLeft || !view.live.has(call.record.id))
  if (stuck.length > 0) return { kind: 'settle', calls: ids(stuck), as: 'aborted' }
  if (open.length > 0) return { kind: 'wait', until: abort.until }
  return { kind: 'end-step' }
}

function betweenSteps(view: View, turn: Turn): Effect {
  if (turn.ending !== null) return { kind: 'end-turn', outcome: turn.ending }
  if (turn.limitAsk !== null) return atLimitAsk(turn, turn.limitAsk)
  if (turn.steps === 0) return firstGate(view, turn)
  const { last } = turn
  if (last === null) return nextStep(turn)
  if (last.purpose === 'limit') return endAtLimit(turn, last)
  if (last.calls > 0) return turn.cuts >= view.settings.cutsMax ? endCut(turn) : nextStep(turn)
  switch (last.finish) {
    case 'done':
    case 'max-tokens':
    case 'context-limit':
      return stopOrSteer(view, turn)
    case 'calls':
    case 'pause':
    case 'refused':
    case 'unknown-stop':
      return nextStep(turn)
  }
}

function firstGate(view: View, turn: Turn): Effect {
  if (turn.entered > 0 || turn.trigger === 'go-on') return claim('step')
  const { steer, note, followup } = view.inbox
  const first = turn.rejected === 0
  if (first && steer + note + followup > 0) return { kind: 'claim', first, purpose: 'step', needsInput: true }
  return {
    kind: 'end-turn',
    outcome: { kind: 'blocked', reason: first ? 'nothing was left to do' : 'every input was rejected' },
  }
}

/** The model is done. A steer that is pending goes on with this turn (I5); else the hooks may veto (T5). */
function stopOrSteer(view: View, turn: Turn): Effect {
  if (view.inbox.steer === 0) return { kind: 'stopping', outcome: turn.sticky ?? { kind: 'completed' } }
  if (turn.steps >= turn.limits.steps)
    return { kind: 'end-turn', outcome: atLimit(turn, turn.limits.stepPolicy === 'error' ? 'error' : 'handback') }
  return { kind: 'claim', first: false, purpose: 'step', needsInput: true }
}

/** The step limit is checked here, where every path to a step passes (T4). */
function nextStep(turn: Turn): Effect {
  if (turn.steps < turn.limits.steps) return claim('step')
  switch (turn.limits.stepPolicy) {
    case 'summary':
      return claim('limit')
    case 'ask':
      return { kind: 'ask-limit' }
    case 'error':
    case 'handback':
      return { kind: 'end-turn', outcome: atLimit(turn, turn.limits.stepPolicy) }
  }
}

function claim(purpose: 'step' | 'limit'): Effect {
  return { kind: 'claim', first: false, purpose, needsInput: false }
}

function atLimit(turn: Turn, how: Turn['limits']['stepPolicy']): TurnOutcome {
  return { kind: 'step-limit', how, steps: turn.limits.steps }
}

function atLimitAsk(turn: Turn, ask: NonNullable<Turn['limitAsk']>): Effect {
  if (ask.decided === null) return { kind: 'rest', mode: 'waiting', wake: ['control'] }
  return { kind: 'end-turn', outcome: { kind: 'step-limit', how: 'ask', steps: turn.limits.steps, goOn: ask.decided } }
}

function endAtLimit(turn: Turn, last: NonNullable<Turn['last']>): Effect {
  return { kind: 'end-turn', outcome: atLimit(turn, last.text.trim() === '' ? 'handback' : 'summary') }
}

function endCut(turn: Turn): Effect {
  return { kind: 'end-turn', outcome: turn.sticky ?? { kind: 'max-tokens', limit: 'output' } }
}

function inStep(view: View, turn: Turn, step: Step): Effect {
  if (step.request !== null) return onRequest(view)
  if (step.reply === null && step.calls.length === 0) return beforeRequest(view, turn, step)
  return withCalls(view, step)
}

function onRequest(view: View): Effect {
  if (!view.live.has('infer')) return { kind: 'settle-request', reason: 'crashed' }
  if (view.inbox.steerNow > 0 && !view.shown) return { kind: 'settle-request', reason: 'superseded' }
  return { kind: 'wait' }
}

/** Every attempt passes the gate first (T10). */
function beforeRequest(view: View, turn: Turn, step: Step): Effect {
  if (step.fatal !== null || turn.ending !== null) return { kind: 'end-step' }
  if (step.retryAt !== null && view.now < step.retryAt) return { kind: 'wait', until: step.retryAt }
  const waiting = step.purpose === 'step' && view.inbox.steer + view.inbox.note > 0
  return view.gated && !waiting ? { kind: 'infer' } : claim(step.purpose)
}

function withCalls(view: View, step: Step): Effect {
  if (step.open === 0) return { kind: 'end-step' }
  const open = step.open === step.calls.length ? step.calls : step.calls.filter((call) => call.status !== 'ended')
  return (
    refuseAll(step, open) ??
    settleDue(view, open) ??
    judge(view, open) ??
    execute(view, step, open) ??
    pause(view, step, open)
  )
}

/** No call of a reply that was cut, refused or made at the step limit runs (C8, T4). */
function refuseAll(step: Step, open: readonly Call[]): Effect | null {
  if (step.purpose === 'limit') return { kind: 'settle', calls: ids(open), as: 'step-limit' }
  switch (step.reply?.finish) {
    case 'max-tokens':
    case 'context-limit':
    case 'pause':
      return { kind: 'settle', calls: ids(open), as: 'output-limit' }
    case 'unknown-stop':
    case 'refused':
      return { kind: 'settle', calls: ids(open), as: step.reply.finish }
    case 'done':
    case 'calls':
    case undefined:
      return null
  }
}

/** What can be closed without running it: denied, expired, gone stale, or beyond another start (C4). */
function settleDue(view: View, open: readonly Call[]): Effect | null {
  let as: Due | null = null
  for (const call of open) {
    const due = dueOf(view, call)
    if (due !== null && (as === null || DUE.indexOf(due) < DUE.indexOf(as))) as = due
  }
  if (as === null) return null
  return { kind: 'settle', calls: ids(open.filter((call) => dueOf(view, call) === as)), as }
}

/** In the order in which they are dealt with, all calls of one kind at a time. */
const DUE = ['denied', 'expired', 'stale', 'recover'] as const
type Due = (typeof DUE)[number]

function dueOf(view: View, call: Call): Due | null {
  switch (call.status) {
    case 'refused':
      return 'denied'
    case 'asked':
    case 'deferred':
      return call.expiresAt !== null && view.now >= call.expiresAt ? 'expired' : null
    case 'requested':
    case 'approved':
      return call.seq <= view.owed.seq && view.owed.downMs > view.settings.staleAfterMs ? 'stale' : null
    case 'started':
      return isOrphan(view, call) && !mayStartAgain(view, call) ? 'recover' : null
    case 'ended':
      return null
  }
}

/** Started, and not by this runner. */
function isOrphan(view: View, call: Call): boolean {
  return call.status === 'started' && !view.live.has(call.record.id)
}

function mayStartAgain(view: View, call: Call): boolean {
  return call.record.effect !== 'write' && call.attempt < view.settings.startsMax && call.fence < view.fence
}

function judge(view: View, open: readonly Call[]): Effect | null {
  if (!open.some((call) => isUnjudged(view, call))) return null
  return { kind: 'judge', calls: ids(open.filter((call) => isUnjudged(view, call))) }
}

function isUnjudged(view: View, call: Call): boolean {
  return call.status === 'requested' && !view.judged.has(call.record.id)
}

function execute(view: View, step: Step, open: readonly Call[]): Effect | null {
  if (!open.some((call) => isReady(view, call))) return null
  let free = view.settings.poolSize
  for (const call of open) if (view.live.has(call.record.id)) free--
  const ready = open.filter((call) => isReady(view, call))
  const calls = startable(step.calls, ready, view.held, free)
  return calls.length > 0 ? { kind: 'execute', calls: ids(calls) } : null
}

function isReady(view: View, call: Call): boolean {
  const { status, record } = call
  return (
    (status === 'requested' && view.judged.has(record.id)) ||
    status === 'approved' ||
    (status === 'started' && !view.live.has(record.id))
  )
}

/** Something runs here, or is kept back by a straggler: stay. Everything waits for an answer from outside: let go of the lease (A3). */
function pause(view: View, step: Step, open: readonly Call[]): Effect {
  let first = Infinity
  for (const { expiresAt } of open) if (expiresAt !== null) first = Math.min(first, expiresAt)
  const until = first < Infinity ? { until: first } : {}
  const busy = open.some(
    (call) => view.live.has(call.record.id) || (!isAwaited(call) && barrier(step.calls, call) === undefined),
  )
  return busy ? { kind: 'wait', ...until } : { kind: 'rest', mode: 'waiting', wake: ['control'], ...until }
}

function isAwaited(call: Call): boolean {
  return call.status === 'asked' || call.status === 'deferred'
}

function ids(calls: readonly Call[]): CallId[] {
  return calls.map((call) => call.record.id)
}
