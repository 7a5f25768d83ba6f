/**
 * Which event may come next. Owns legality and nothing else: it looks, and answers with the number of the rule that would be
 * broken. A loop, a hook, a store or a bug may ask for anything; what would poison a history is refused here, before it is
 * written, and again whenever a log is read.
 */
import type { Event, EventHead, EventOf, EventType } from './events.ts'
import { canonicalJson } from '../util/json.ts'
import { FORMAT } from './events.ts'
import { sizeOf } from './context.ts'
import { replyCallId, type CallId, type InputId } from './ids.ts'
import { isBlank, namesInOrder, type Part } from './message.ts'
import type { CallOutcome, TurnOutcome } from './outcome.ts'
import { barrier } from './plan.ts'
import type { Call, CallStatus, State, Step, Turn } from './state.ts'

/** Why an event may not follow: the rule of the contract that it breaks, and what is wrong. */
export interface RuleBreak {
  /** Number in CONTRACT.md. */
  readonly rule: string
  readonly problem: string
}

const no = (rule: string, problem: string): RuleBreak => ({ rule, problem })

/** Null: legal. */
export function refusal(state: State, event: Event): RuleBreak | null {
  return headRefusal(state, event) ?? bodyRefusal(state, event)
}

function headRefusal(s: State, e: Event): RuleBreak | null {
  if (e.seq !== s.seq + 1) return no('L1', `seq ${e.seq} after ${s.seq}${missing(s.seq + 1, e.seq - 1)}`)
  if (e.fence < s.fence) return no('W1', `fence ${e.fence} after ${s.fence}`)
  if (s.created === null && e.type !== 'session.created') return no('L1', `${e.type} before session.created`)
  return null
}

/** What a reader of a log is to look for. */
function missing(from: number, to: number): string {
  if (from > to) return ''
  return from === to ? `: event ${from} is missing` : `: events ${from} to ${to} are missing`
}

function bodyRefusal(s: State, e: Event): RuleBreak | null {
  const rule = RULE_OF.get(e.type)
  return rule === undefined ? null : rule(s, e)
}

type Rules = { [Type in EventType]: (s: State, e: EventOf<Type>) => RuleBreak | null }

const legal = (): null => null

const RULES: Rules = {
  'session.created': (s, e) =>
    s.created !== null
      ? no('L1', 'created twice')
      : e.format > FORMAT
        ? no('L6', `format ${e.format}, this version reads up to ${FORMAT}`)
        : null,
  'session.forked': (s) => (s.seq > 1 ? no('L1', 'a fork is the second event') : null),
  'session.resumed': (s, e) => (s.turn === null ? settledTwice(s, e.input) : no('I9', 'a turn is running')),
  'epoch.started': (s, e) =>
    e.n !== (s.epoch?.n ?? 0) + 1
      ? no('X1', `epoch ${e.n} after ${s.epoch?.n ?? 0}`)
      : s.step === null
        ? null
        : no('X1', 'a step is open'),
  'agent.switched': (s) => betweenSteps(s, 'G2'),

  'turn.started': turnStarted,
  'turn.abort-asked': (s, e) =>
    openTurn(s, 'I13', (turn) => (turn.abort === null ? settledTwice(s, e.input) : no('I13', 'asked already'))),
  'turn.limit-asked': (s) =>
    openTurn(s, 'T4', (turn) => (turn.limitAsk === null ? atLimit(s, turn) : no('T4', 'asked already'))),
  'turn.limit-decided': (s, e) =>
    openTurn(s, 'T4', (turn) =>
      turn.limitAsk?.id === e.ask && turn.limitAsk.decided === null
        ? settledTwice(s, e.input)
        : no('A2', 'no such question is open'),
    ),
  'turn.ended': turnEnded,

  'input.entered': inputEntered,
  'input.rejected': (s, e) => settledTwice(s, e.input),

  'step.started': stepStarted,
  'step.refused': (s) =>
    openTurn(s, 'T11', () => (s.step === null || isUnasked(s.step) ? null : no('T11', 'the model was asked already'))),
  'step.ended': stepEnded,

  'model.requested': modelRequested,
  'model.failed': (s, e) =>
    answersRequest(s, e) ??
    (e.retryAt === null || Number.isFinite(e.retryAt) ? null : no('T10', `a retry at ${e.retryAt}`)),
  'reply.completed': replyCompleted,
  'reply.interrupted': (s, e) =>
    inStep(s, 'T1', (step) => (step.request?.attempt === e.attempt ? null : no('T10', 'that attempt is not open'))),

  'call.requested': (s, e) =>
    inStep(s, 'C2', (step) =>
      step.byId.has(e.call.id)
        ? no('C1', `${e.call.id} twice`)
        : e.parent === undefined
          ? codeCall(step)
          : innerCall(step.byId.get(e.parent)),
    ),
  'call.approval-asked': (s, e) => onCall(s, e.call, ['requested'], 'A2'),
  'call.approval-decided': (s, e) => onCall(s, e.call, ['asked'], 'A2') ?? settledTwice(s, e.input),
  'call.deferred': (s, e) => onCall(s, e.call, ['started'], 'A4'),
  'call.started': callStarted,
  'call.ended': callEnded,
  'call.ended-late': (s, e) =>
    s.stragglers.has(e.call) ? settledTwice(s, e.input) : no('C5', `${e.call} is not waited for`),

  'child.spawned': (s, e) => onCall(s, e.call, ['started'], 'G1'),
  'child.ended': (s, e) => settledTwice(s, e.input),

  'stop.vetoed': (s, e) =>
    openTurn(s, 'T5', (turn) =>
      isUnsaid(e.content)
        ? no('X8', 'an empty message')
        : s.step !== null
          ? no('T5', 'a step is open')
          : turn.vetoes >= turn.limits.vetoes
            ? no('T5', `more than ${turn.limits.vetoes} vetoes`)
            : turn.abort === null
              ? null
              : no('T7', 'the turn is aborted'),
    ),
  'context.compacted': compacted,
  'context.compaction-refused': legal,
  'loop.noted': (s, e) => (e.input === undefined ? null : settledTwice(s, e.input)),
  'log.damaged': legal,
}

/** By name: a type of a plugin, or of a newer version, is bound by the head's rules only. */
const RULE_OF = new Map(Object.entries(RULES)) as ReadonlyMap<string, (s: State, e: Event) => RuleBreak | null>

function openTurn(s: State, rule: string, check: (turn: Turn) => RuleBreak | null): RuleBreak | null {
  return s.turn === null ? no(rule, 'no turn is open') : check(s.turn)
}

function betweenSteps(s: State, rule: string): RuleBreak | null {
  return openTurn(s, rule, () => (s.step === null ? null : no(rule, 'a step is open')))
}

function turnStarted(s: State, e: EventOf<'turn.started'> & EventHead): RuleBreak | null {
  if (s.turn !== null) return no('T1', `turn ${s.turn.n} is open`)
  if (e.turn !== s.turnN + 1) return no('T1', `turn ${e.turn} after ${s.turnN}`)
  if (s.epoch === null) return no('X1', 'no epoch')
  return null
}

function atLimit(s: State, turn: Turn): RuleBreak | null {
  if (s.step !== null) return no('T4', 'a step is open')
  return turn.steps >= turn.limits.steps ? null : no('T4', `step ${turn.steps} of ${turn.limits.steps}`)
}

function turnEnded(s: State, e: EventOf<'turn.ended'>): RuleBreak | null {
  return openTurn(s, 'T1', (turn) => {
    if (s.step !== null) return no('C12', 'a step is open')
    if (turn.abort !== null && e.outcome.kind !== 'aborted') return no('T7', `aborted, and ended ${e.outcome.kind}`)
    return outcomeRefusal(s, turn, e.outcome)
  })
}

function outcomeRefusal(s: State, turn: Turn, outcome: TurnOutcome): RuleBreak | null {
  switch (outcome.kind) {
    case 'completed':
      if (turn.sticky !== null) return no('T3', `${turn.sticky.kind} is sticky`)
      if (turn.ending !== null) return no('T3', `${turn.ending.kind} is decided`)
      if (turn.last === null || turn.last.finish !== 'done' || turn.last.calls > 0)
        return no('T3', 'the model has not finished')
      return turn.last.purpose === 'limit' ? no('T4', 'a summary at the limit is not a completion') : null
    case 'max-tokens':
      return turn.sticky === null ? no('T3', 'no reply was cut') : null
    case 'step-limit':
      return atLimit(s, turn)
    case 'veto-capped':
      return turn.vetoes < turn.limits.vetoes ? no('T5', `only ${turn.vetoes} vetoes`) : null
    case 'aborted':
      return turn.abort === null ? no('I13', 'no abort was asked') : null
    case 'budget':
    case 'blocked':
    case 'refused':
    case 'stuck':
    case 'error':
      return null
    default:
      return newerOutcome(outcome)
  }
}

/** An outcome that this version does not know is none that it could go on from (L6). */
function newerOutcome(outcome: { readonly kind: string }): RuleBreak {
  return no('L6', `an outcome "${outcome.kind}", which this version does not know`)
}

/** A step whose model has not been asked, or whose attempt failed: inputs may enter (T10). */
function isUnasked(step: Step): boolean {
  return step.request === null && step.reply === null && step.calls.length === 0
}

function inputEntered(s: State, e: EventOf<'input.entered'>): RuleBreak | null {
  return openTurn(s, 'I4', (turn) => {
    if (s.settled.has(e.input)) return no('I1', `${e.input} is settled`)
    if (isUnsaid(e.content)) return no('X8', 'an empty message')
    if (s.step !== null && !isUnasked(s.step)) return no('I4', 'inputs enter at a gate')
    return turn.abort === null ? null : no('T7', 'the turn is aborted')
  })
}

/** Every input is settled once, whatever settles it (I6). */
function settledTwice(s: State, input: InputId): RuleBreak | null {
  return s.settled.has(input) ? no('I6', `${input} is settled`) : null
}

/** No wire takes an empty text, and a context that holds one would be refused for ever. */
function isUnsaid(content: readonly Part[]): boolean {
  return content.length === 0 || content.some(isBlank)
}

function stepStarted(s: State, e: EventOf<'step.started'>): RuleBreak | null {
  return openTurn(s, 'T1', (turn) => {
    if (s.step !== null) return no('T1', `step ${s.step.n} is open`)
    if (turn.abort !== null) return no('T7', 'the turn is aborted')
    if (turn.ending !== null) return no('T1', `the turn ends ${turn.ending.kind}`)
    if (e.purpose === 'limit') return turn.last?.purpose === 'limit' ? no('T4', 'a second summary') : atLimit(s, turn)
    return turn.steps >= turn.limits.steps ? no('T4', `more than ${turn.limits.steps} steps`) : null
  })
}

function stepEnded(s: State): RuleBreak | null {
  return inStep(s, 'T1', (step) => {
    if (step.request !== null) return no('T1', 'a model call is open')
    return step.open > 0 ? no('C2', `${step.open} calls are open`) : null
  })
}

function inStep(s: State, rule: string, check: (step: Step) => RuleBreak | null): RuleBreak | null {
  return s.step === null ? no(rule, 'no step is open') : check(s.step)
}

function modelRequested(s: State, e: EventOf<'model.requested'>): RuleBreak | null {
  return inStep(s, 'T1', (step) => {
    if (s.turn!.abort !== null) return no('T7', 'the turn is aborted')
    if (step.fatal !== null) return no('T10', 'the step has failed')
    if (!isUnasked(step)) return no('T10', 'one model call per attempt')
    if (e.attempt !== step.requests + 1) return no('T10', `attempt ${e.attempt} after ${step.requests}`)
    if (e.messages !== s.context.length + s.late.length)
      return no('X1', `${e.messages} messages of ${s.context.length}`)
    if (e.messages === 0) return no('X1', 'there is nothing to ask about')
    if (step.purpose === 'limit' && e.toolChoice !== 'none') return no('T4', 'tools at the step limit')
    return null
  })
}

/** An answer belongs to the request in flight, and to the runner that made it: an older model call's answer is nobody's (W1). */
function answersRequest(s: State, e: { readonly attempt: number } & EventHead): RuleBreak | null {
  return inStep(s, 'T1', (step) => {
    if (step.request === null || step.request.attempt !== e.attempt)
      return no('T10', `attempt ${e.attempt} is not open`)
    return step.request.fence === e.fence ? null : no('W1', `asked under fence ${step.request.fence}`)
  })
}

function replyCompleted(s: State, e: EventOf<'reply.completed'>): RuleBreak | null {
  const answer = answersRequest(s, e)
  if (answer !== null) return answer
  if (e.calls.length === 0 && (e.finish === 'done' || e.finish === 'calls') && !isSpoken(e))
    return no('T3', 'an empty reply')
  for (let index = 0; index < e.calls.length; index++) {
    const { id } = e.calls[index]!
    if (id !== replyCallId(s.turn!.n, s.step!.n, index)) return no('C1', `call id ${id}`)
  }
  return namesInOrder(e.parts, e.calls) ? null : no('C2', 'calls and parts disagree')
}

function isSpoken({ parts }: EventOf<'reply.completed'>): boolean {
  return parts.some((part) => part.type === 'text' && part.text.trim() !== '')
}

function codeCall(step: Step): RuleBreak | null {
  return step.reply === null && step.request === null ? null : no('C2', 'a reply carries its calls in its own event')
}

function innerCall(parent: Call | undefined): RuleBreak | null {
  return parent?.status === 'started' ? null : no('C2', 'its parent is not running')
}

function onCall(s: State, id: CallId, allowed: readonly CallStatus[], rule: string): RuleBreak | null {
  return inStep(s, rule, (step) => {
    const call = step.byId.get(id)
    if (call === undefined) return no(rule, `no call ${id}`)
    return allowed.includes(call.status) ? null : no(rule, `${id} is ${call.status}`)
  })
}

function callStarted(s: State, e: EventOf<'call.started'>): RuleBreak | null {
  return (
    onCall(s, e.call, ['requested', 'approved', 'started'], 'C3') ??
    startRefusal(s, e, s.step!, s.step!.byId.get(e.call)!)
  )
}

function startRefusal(s: State, e: EventOf<'call.started'>, step: Step, call: Call): RuleBreak | null {
  if (s.turn!.abort !== null) return no('T7', 'the turn is aborted')
  if (step.purpose === 'limit') return no('T4', 'no call runs at the step limit')
  if (step.reply !== null && step.reply.finish !== 'calls' && step.reply.finish !== 'done')
    return no('C8', `the reply ended ${step.reply.finish}`)
  if (call.record.args === undefined && e.args === undefined) return no('C8', 'its arguments could not be read')
  if (call.status === 'started') {
    if (call.record.effect === 'write') return no('C4', 'a write is never run twice')
    if (e.fence <= call.fence) return no('C4', `started under fence ${call.fence} already`)
  }
  if (
    call.status === 'approved' &&
    e.args !== undefined &&
    canonicalJson(e.args) !== canonicalJson(call.args ?? call.record.args)
  ) {
    return no('A2', 'what runs is not what was approved')
  }
  if (e.attempt !== call.attempt + 1) return no('C3', `start ${e.attempt} after ${call.attempt}`)
  const before = barrier(step.calls, call)
  return before === undefined ? null : no('C6', `${before.record.id} comes first`)
}

/** From which status a call may end how (C2, C4). */
const ENDS: Record<CallOutcome['kind'], readonly CallStatus[]> = {
  ok: ['started', 'deferred'],
  error: ['started', 'deferred'],
  timeout: ['started', 'deferred'],
  unknown: ['started', 'deferred'],
  'not-started': ['requested', 'asked', 'approved', 'refused', 'deferred'],
  denied: ['requested', 'asked', 'approved', 'refused', 'deferred'],
  invalid: ['requested', 'approved'],
  intercepted: ['requested'],
}

function callEnded(s: State, e: EventOf<'call.ended'>): RuleBreak | null {
  if (!Object.hasOwn(ENDS, e.outcome.kind)) return newerOutcome(e.outcome)
  const status = onCall(s, e.call, ENDS[e.outcome.kind], 'C2')
  if (status !== null) return status
  if (e.content.length === 0) return no('C2', 'a result without content')
  return e.input === undefined ? null : settledTwice(s, e.input)
}

function compacted(s: State, e: EventOf<'context.compacted'>): RuleBreak | null {
  if (s.step !== null) return no('X3', 'a step is open')
  if (e.upTo < 1 || e.upTo > s.context.length) return no('X3', `up to ${e.upTo} of ${s.context.length}`)
  if (s.context[e.upTo]?.role === 'tool') return no('X3', 'a result would lose its call')
  const directives = new Set<unknown>(s.turn?.directives)
  let replaced = 0
  for (const message of s.context.slice(0, e.upTo)) if (!directives.has(message)) replaced += sizeOf(message)
  const size = sizeOf({ role: 'user', content: e.summary, origin: { kind: 'system' } })
  return size < replaced ? null : no('X3', `${size} in place of ${replaced}`)
}
