/**
 * From events to state. `fold` is the only writer of a `State`.
 * Invariants: an illegal event changes nothing and is refused with its rule's number; each event costs O(1) amortised (L3);
 * the same events give the same state, on any machine and in any version that reads the format (L6).
 */
import { guardStepOf } from './guard.ts'
import { projectCompaction, projectInput, projectLate, projectStep, projectVeto } from './context.ts'
import type { CallRecord, Event, EventHead, EventOf, EventType } from './events.ts'
import { addUsage, noUsage, type Failure, type Usage } from './failure.ts'
import type { CallId, InputId } from './ids.ts'
import { refusal, type RuleBreak } from './legality.ts'
import { textOf } from './message.ts'
import type { Call, State, Step, Turn } from './state.ts'
import { grantKey, GUARD_STEPS_MAX, SETTLED_MAX, STRAGGLERS_MAX } from './state.ts'

/** The state before the first event. */
export function emptyState(): State {
  return {
    seq: 0,
    at: 0,
    fence: 0,
    created: null,
    agent: '',
    epoch: null,
    turnN: 0,
    turn: null,
    step: null,
    stragglers: new Map(),
    context: [],
    contextSize: 0,
    late: [],
    settled: new Set(),
    held: null,
    goOn: false,
    grants: new Set(),
    lastTurn: null,
    usage: noUsage,
    damage: [],
  }
}

/** Takes one event into the state. Null: done; else nothing changed, and this is why. */
export function fold(state: State, event: Event): RuleBreak | null {
  const broken = refusal(state, event)
  if (broken === null) apply(state, event)
  return broken
}

/** Takes an event that was found legal in this very state. */
export function apply(state: State, event: Event): void {
  APPLIERS.get(event.type)?.(state, event)
  state.seq = event.seq
  state.at = event.at
  state.fence = event.fence
}

type Appliers = { [Type in EventType]: (s: State, e: EventOf<Type>) => void }

const nothing = (): void => {}

const APPLY: Appliers = {
  'session.created'(s, e) {
    s.created = { agent: e.agent, locale: e.locale, parent: e.parent ?? null }
    s.agent = e.agent
  },
  'session.forked': nothing,
  'session.resumed'(s, e) {
    settle(s, e.input)
    s.held = null
  },
  'epoch.started'(s, e) {
    s.epoch = { n: e.n, seq: e.seq, content: e.content }
  },
  'agent.switched'(s, e) {
    s.agent = e.to
  },

  'turn.started': startTurn,
  'turn.abort-asked'(s, e) {
    settle(s, e.input)
    s.turn!.abort = { at: e.at, until: e.until, reason: e.reason, pending: e.pending }
  },
  'turn.limit-asked'(s, e) {
    s.turn!.limitAsk = { id: e.ask, decided: null }
  },
  'turn.limit-decided'(s, e) {
    settle(s, e.input)
    s.turn!.limitAsk = { id: e.ask, decided: e.goOn }
  },
  'turn.ended': endTurn,

  'input.entered'(s, e) {
    settle(s, e.input)
    s.turn!.entered++
    projectInput(s, e)
  },
  'input.rejected'(s, e) {
    settle(s, e.input)
    if (s.turn !== null && e.lane !== 'control') s.turn.rejected++
  },

  'step.started'(s, e) {
    projectLate(s)
    s.turn!.steps++
    s.step = newStep(s.turn!.steps, e.purpose)
  },
  'step.refused'(s, e) {
    s.turn!.ending = { kind: 'blocked', reason: e.reason }
  },
  'step.ended': endStep,

  'model.requested'(s, e) {
    projectLate(s)
    const step = s.step!
    step.requests++
    step.retryAt = null
    step.request = { attempt: e.attempt, fence: e.fence, at: e.at, purpose: e.purpose }
  },
  'model.failed'(s, e) {
    closeRequest(s, e.usage)
    if (e.failure.kind === 'superseded') return
    const step = s.step!
    step.attempts++
    step.retryAt = e.retryAt
    if (e.retryAt === null) failTurn(s.turn!, step, e.failure)
  },
  'reply.completed': completeReply,
  'reply.interrupted': interruptReply,

  'call.requested'(s, e) {
    addCall(s.step!, e.call, e.parent ?? null, e.seq)
  },
  'call.approval-asked'(s, e) {
    const call = change(s, e)
    call.status = 'asked'
    call.argsHash = e.argsHash
    call.question = e.reason
    call.expiresAt = e.expiresAt ?? null
    call.args = e.args ?? null
  },
  'call.approval-decided': decideApproval,
  'call.deferred'(s, e) {
    const call = change(s, e)
    call.status = 'deferred'
    call.question = e.what
    call.expiresAt = e.expiresAt ?? null
  },
  'call.started'(s, e) {
    const call = change(s, e)
    call.status = 'started'
    call.attempt = e.attempt
    call.fence = e.fence
    call.args = e.args ?? call.args
    call.expiresAt = null
  },
  'call.ended': endCall,
  'call.ended-late'(s, e) {
    settle(s, e.input)
    s.stragglers.delete(e.call)
    s.late.push({ role: 'user', content: e.content, origin: { kind: 'system', name: 'late-outcome' } })
  },

  'child.spawned': nothing,
  'child.ended'(s, e) {
    settle(s, e.input)
  },
  'stop.vetoed'(s, e) {
    s.turn!.vetoes++
    s.turn!.last = null
    projectVeto(s, e)
  },
  'context.compacted': projectCompaction,
  'context.compaction-refused': nothing,
  'loop.noted'(s, e) {
    if (e.input !== undefined) settle(s, e.input)
  },
  'log.damaged'(s, e) {
    s.damage.push({ seq: e.seq, from: e.from, reason: e.reason })
    for (const input of e.reopened) s.settled.delete(input)
    s.late.push({ role: 'user', content: e.content, origin: { kind: 'system', name: 'damage' } })
  },
}

/** By name: a type of a plugin, or of a newer version, is nobody's. */
const APPLIERS = new Map(Object.entries(APPLY)) as ReadonlyMap<string, (s: State, e: Event) => void>

function settle(s: State, input: InputId): void {
  s.settled.add(input)
  if (s.settled.size > SETTLED_MAX) s.settled.delete(s.settled.values().next().value!)
}

function startTurn(s: State, e: EventOf<'turn.started'>): void {
  s.turnN = e.turn
  s.held = null
  s.goOn = false
  s.turn = {
    n: e.turn,
    startedAt: e.at,
    limits: e.limits,
    trigger: e.trigger,
    steps: 0,
    vetoes: 0,
    entered: 0,
    rejected: 0,
    abort: null,
    sticky: null,
    cuts: 0,
    directives: [],
    ending: null,
    limitAsk: null,
    last: null,
    usage: noUsage,
    guard: [],
  }
}

function endTurn(s: State, e: EventOf<'turn.ended'>): void {
  s.lastTurn = { n: s.turn!.n, outcome: e.outcome, goal: e.goal, seq: e.seq }
  s.goOn = e.outcome.kind === 'step-limit' && e.outcome.goOn === true
  s.held = e.outcome.kind === 'completed' ? null : { seq: e.seq }
  s.turn = null
}

function newStep(n: number, purpose: Step['purpose']): Step {
  return {
    n,
    purpose,
    request: null,
    attempts: 0,
    requests: 0,
    retryAt: null,
    fatal: null,
    reply: null,
    calls: [],
    byId: new Map(),
    open: 0,
  }
}

function endStep(s: State): void {
  const step = s.step!
  const turn = s.turn!
  projectStep(s, step)
  rememberStep(turn, step)
  if (step.reply !== null) {
    turn.last = {
      purpose: step.purpose,
      finish: step.reply.finish,
      calls: step.calls.length,
      text: textOf(step.reply.parts),
    }
  } else if (step.calls.length > 0) {
    turn.last = { purpose: step.purpose, finish: 'calls', calls: step.calls.length, text: '' }
  }
  s.step = null
}

function rememberStep(turn: Turn, step: Step): void {
  const attempts = guardStepOf(turn.guard, step.calls)
  if (attempts !== null) turn.guard.push(attempts)
  if (turn.guard.length > GUARD_STEPS_MAX) turn.guard.shift()
  const wasCut = step.reply?.finish === 'max-tokens' && step.calls.length > 0
  turn.cuts = wasCut ? turn.cuts + 1 : 0
}

function closeRequest(s: State, usage: Usage): void {
  s.step!.request = null
  s.turn!.usage = addUsage(s.turn!.usage, usage)
  s.usage = addUsage(s.usage, usage)
}

function failTurn(turn: Turn, step: Step, failure: Failure): void {
  step.fatal = failure
  turn.ending =
    step.purpose === 'limit'
      ? { kind: 'step-limit', how: 'error', steps: turn.limits.steps, failure }
      : { kind: 'error', failure }
}

function completeReply(s: State, e: EventOf<'reply.completed'>): void {
  closeRequest(s, e.usage)
  const step = s.step!
  const turn = s.turn!
  step.reply = { finish: e.finish, parts: e.parts, replay: e.replay ?? null }
  for (const call of e.calls) addCall(step, call, null, e.seq)
  if (e.finish === 'calls' || e.finish === 'done') return
  if (e.finish === 'max-tokens') turn.sticky ??= { kind: 'max-tokens', limit: 'output' }
  if (e.finish === 'context-limit') turn.sticky ??= { kind: 'max-tokens', limit: 'context' }
  if (e.finish === 'refused') turn.ending ??= { kind: 'refused', reason: e.rawFinish }
  if (e.finish === 'unknown-stop') {
    turn.ending ??= {
      kind: 'error',
      failure: { kind: 'unknown-stop', message: `the model stopped with "${e.rawFinish}"`, retry: false },
    }
  }
}

function interruptReply(s: State, e: EventOf<'reply.interrupted'>): void {
  closeRequest(s, e.usage)
  const step = s.step!
  if (e.note !== undefined)
    s.late.push({ role: 'user', content: e.note, origin: { kind: 'system', name: 'interrupted' } })
  if (e.reason === 'aborted') return
  step.attempts++
  step.retryAt = e.retryAt
  if (e.retryAt !== null) return
  failTurn(s.turn!, step, {
    kind: 'interrupted',
    message: 'the model call was cut off by crashes too often',
    retry: true,
  })
}

function addCall(step: Step, record: CallRecord, parent: CallId | null, seq: number): void {
  const call: Call = {
    record,
    parent,
    status: 'requested',
    seq,
    attempt: 0,
    fence: 0,
    args: null,
    argsHash: null,
    expiresAt: null,
    question: null,
    refusal: null,
    outcome: null,
    content: [],
    progress: '',
  }
  step.calls.push(call)
  step.byId.set(record.id, call)
  step.open++
}

function change(s: State, e: { readonly call: CallId } & EventHead): Call {
  const call = s.step!.byId.get(e.call)!
  call.seq = e.seq
  return call
}

function decideApproval(s: State, e: EventOf<'call.approval-decided'>): void {
  settle(s, e.input)
  const call = change(s, e)
  call.status = e.decision === 'allow' ? 'approved' : 'refused'
  call.expiresAt = null
  call.refusal = e.decision === 'allow' ? null : (e.reason ?? '')
  if (e.decision === 'allow' && e.grant === 'session') s.grants.add(grantKey(call.record.name, call.question ?? ''))
}

function endCall(s: State, e: EventOf<'call.ended'>): void {
  if (e.input !== undefined) settle(s, e.input)
  const call = change(s, e)
  const { status } = call
  call.status = 'ended'
  call.outcome = e.outcome
  call.content = e.content
  call.progress = e.progress ?? ''
  s.step!.open--
  // A call that was written off, or answered from outside while its body ran, has a real end that may still come (C5).
  const writtenOff = e.outcome.kind === 'timeout' || e.outcome.kind === 'unknown'
  if ((status === 'started' && (writtenOff || e.input !== undefined)) || (status === 'deferred' && writtenOff))
    addStraggler(s, call, e.seq)
  if (e.outcome.kind === 'intercepted' && e.outcome.stuck === true) {
    s.turn!.ending ??= { kind: 'stuck', tool: call.record.name, times: e.outcome.times ?? 0 }
  }
}

function addStraggler(s: State, call: Call, seq: number): void {
  s.stragglers.set(call.record.id, { name: call.record.name, turn: s.turn!.n, seq, resources: call.record.resources })
  if (s.stragglers.size > STRAGGLERS_MAX) s.stragglers.delete(s.stragglers.keys().next().value!)
}
