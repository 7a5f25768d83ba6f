/**
 * What might come next and mostly may not: for a state, events of every type in the variants that a rule looks at. Their shapes are right;
 * only their place is wrong.
 */
import type { Draft, Event, EventHead, TurnLimits } from '../../src/kernel/events.ts'
import { noUsage } from '../../src/kernel/failure.ts'
import { callId, inputId, limitAskId, replyCallId, sessionId, type CallId } from '../../src/kernel/ids.ts'
import type { Part } from '../../src/kernel/message.ts'
import type { CallOutcome, TurnOutcome } from '../../src/kernel/outcome.ts'
import type { Call, State } from '../../src/kernel/state.ts'

const said: readonly Part[] = [{ type: 'text', text: 'x' }]
const unsaid: readonly Part[] = [{ type: 'text', text: '' }]
const user = { kind: 'user' } as const
const NEW = inputId('new')
const NOBODY = callId('t9s9c9')

/** Every draft, each as a whole event that would stand next. */
export function draftsAt(state: State): Event[] {
  const drafts = [
    ...sessionDrafts(state),
    ...turnDrafts(state),
    ...inputDrafts(state),
    ...stepDrafts(state),
    ...modelDrafts(state),
    ...replyDrafts(state),
    ...callDrafts(state),
    ...contextDrafts(state),
    ...settledDrafts(state),
  ]
  return [...drafts.map((draft) => headed(state, draft)), ...headDrafts(state)]
}

function headed({ seq, at, fence, turn, turnN, step }: State, draft: Draft): Event {
  const isStart = draft.type === 'turn.started'
  const head: EventHead = {
    seq: seq + 1,
    at,
    fence: Math.max(fence, 1),
    turn: isStart ? turnN + 1 : (turn?.n ?? 0),
    step: isStart ? 0 : (step?.n ?? turn?.steps ?? 0),
  }
  return { ...draft, ...head }
}

/** The same in every place: what the head alone may not be. */
function headDrafts(state: State): Event[] {
  const plain = headed(state, { type: 'x.test.mark', data: null })
  const start = headed(state, { type: 'turn.started', trigger: 'input', limits: LIMITS })
  const reply = headed(state, replyOf(state, {}))
  const failed = headed(
    state,
    modelDrafts(state).find(({ type }) => type === 'model.failed')!,
  )
  return [
    { ...plain, seq: state.seq },
    { ...plain, seq: state.seq + 2 },
    { ...plain, fence: Math.max(0, state.fence - 1) },
    { ...start, turn: state.turnN + 2 },
    { ...reply, fence: state.fence + 1 },
    { ...failed, fence: state.fence + 1 },
  ]
}

const LIMITS: TurnLimits = { steps: 15, stepPolicy: 'error', vetoes: 3 }

function sessionDrafts({ epoch }: State): Draft[] {
  const content = epoch?.content ?? {
    system: '',
    tools: [],
    route: { adapter: 'chat', wire: 'openai', provider: 'p', model: 'm', scope: 'default' },
    hash: '',
  }
  const n = epoch?.n ?? 0
  return [
    { type: 'session.created', format: 1, agent: 'a', locale: 'en' },
    { type: 'session.created', format: 2, agent: 'a', locale: 'en' },
    { type: 'session.forked', from: sessionId('elsewhere'), upTo: 1 },
    { type: 'session.resumed', input: NEW },
    { type: 'epoch.started', n: n + 1, reason: 'changed', content },
    { type: 'epoch.started', n: n + 2, reason: 'changed', content },
    { type: 'agent.switched', to: 'other', by: NOBODY },
  ]
}

function turnDrafts({ turnN, turn }: State): Draft[] {
  const outcomes: readonly TurnOutcome[] = [
    { kind: 'completed' },
    { kind: 'max-tokens', limit: 'output' },
    { kind: 'step-limit', how: 'error', steps: 1 },
    { kind: 'veto-capped', vetoes: 3 },
    { kind: 'aborted', reason: 'x' },
    { kind: 'blocked', reason: 'x' },
  ]
  const ask = turn?.limitAsk?.id ?? limitAskId(turnN)
  return [
    { type: 'turn.started', trigger: 'input', limits: LIMITS },
    { type: 'turn.abort-asked', input: NEW, reason: 'x', pending: 'keep', until: 0 },
    { type: 'turn.limit-asked', ask: limitAskId(turnN) },
    { type: 'turn.limit-decided', ask, goOn: true, input: NEW },
    { type: 'turn.limit-decided', ask: NOBODY, goOn: true, input: NEW },
    { type: 'stop.vetoed', by: 'p', content: said },
    { type: 'stop.vetoed', by: 'p', content: unsaid },
    ...outcomes.map((outcome) => ({ type: 'turn.ended', outcome, goal: 'unchecked' }) as const),
  ]
}

function inputDrafts(_state: State): Draft[] {
  const entered = { type: 'input.entered', lane: 'steer', origin: user } as const
  return [
    { ...entered, input: NEW, content: said },
    { ...entered, input: NEW, content: unsaid },
    { ...entered, input: NEW, content: [] },
  ]
}

/** Whatever settles an input, with one that is settled. */
function settledDrafts({ settled, turnN, turn, step, stragglers }: State): Draft[] {
  const input = [...settled].at(-1)
  if (input === undefined) return []
  const ended = { outcome: { kind: 'ok' }, content: said, input } as const
  return [
    { type: 'session.resumed', input },
    { type: 'turn.abort-asked', input, reason: 'x', pending: 'keep', until: 0 },
    { type: 'turn.limit-decided', ask: turn?.limitAsk?.id ?? limitAskId(turnN), goOn: true, input },
    { type: 'input.entered', lane: 'steer', origin: user, input, content: said },
    { type: 'input.rejected', input, lane: 'steer', reason: 'x' },
    { type: 'child.ended', call: NOBODY, session: sessionId('c'), outcome: { kind: 'completed' }, input },
    { type: 'loop.noted', key: 'k', value: null, input },
    ...[...stragglers.keys()].map((call) => ({ type: 'call.ended-late', call, ...ended }) as const),
    ...(step?.calls ?? []).flatMap(({ record: { id: call } }): Draft[] => [
      { type: 'call.approval-decided', call, decision: 'allow', by: user, grant: 'once', input },
      { type: 'call.ended', call, ...ended },
    ]),
  ]
}

function stepDrafts(_state: State): Draft[] {
  return [
    { type: 'step.started', purpose: 'step' },
    { type: 'step.started', purpose: 'limit' },
    { type: 'step.refused', reason: 'x' },
    { type: 'step.ended' },
  ]
}

function modelDrafts({ context, late, step }: State): Draft[] {
  const messages = context.length + late.length
  const attempt = (step?.requests ?? 0) + 1
  const open = step?.request?.attempt ?? 1
  const asked = { type: 'model.requested', attempt, purpose: 'step', messages, toolChoice: 'auto' } as const
  const failure = { kind: 'server', message: 'x', retry: true } as const
  const failed = { type: 'model.failed', attempt: open, failure, retryAt: null, text: '', usage: noUsage } as const
  const cut = {
    type: 'reply.interrupted',
    attempt: open,
    reason: 'crashed',
    text: '',
    usage: noUsage,
    retryAt: null,
  } as const
  return [
    asked,
    { ...asked, attempt: attempt + 1 },
    { ...asked, messages: messages + 1 },
    failed,
    { ...failed, attempt: open + 1 },
    cut,
    { ...cut, attempt: open + 1 },
  ]
}

interface ReplyOptions {
  readonly text?: string
  readonly call?: CallId
  readonly named?: CallId
  readonly attempt?: number
}

function replyOf({ step }: State, { text = 'x', call, named, attempt }: ReplyOptions): Draft {
  const record = {
    name: 'pay',
    rawArgs: '{}',
    args: {},
    providerId: '',
    effect: 'write',
    resources: [],
    fingerprint: 'f',
  } as const
  return {
    type: 'reply.completed',
    attempt: attempt ?? step?.request?.attempt ?? 1,
    finish: call === undefined ? 'done' : 'calls',
    rawFinish: 'stop',
    parts: [{ type: 'text', text }, ...(named === undefined ? [] : [{ type: 'call', call: named } as const])],
    calls: call === undefined ? [] : [{ id: call, ...record }],
    usage: noUsage,
  }
}

function replyDrafts(state: State): Draft[] {
  const id = replyCallId(state.turn?.n ?? 1, state.step?.n ?? 1, 0)
  return [
    replyOf(state, {}),
    replyOf(state, { attempt: (state.step?.request?.attempt ?? 1) + 1 }),
    replyOf(state, { text: ' ' }),
    replyOf(state, { call: NOBODY, named: NOBODY }),
    replyOf(state, { call: id }),
  ]
}

const OUTCOMES: readonly CallOutcome[] = [
  { kind: 'ok' },
  { kind: 'error', code: 'x', message: 'x' },
  { kind: 'timeout', afterMs: 1 },
  { kind: 'unknown', reason: 'crashed' },
  { kind: 'not-started', reason: 'aborted' },
  { kind: 'denied', by: 'user', reason: 'x' },
  { kind: 'invalid', problem: 'json', message: 'x' },
  { kind: 'intercepted', by: 'x', message: 'x' },
]

function callDrafts(state: State): Draft[] {
  const calls = state.step?.calls ?? []
  const record = { name: 'pay', rawArgs: '{}', args: {}, providerId: '', fingerprint: 'f' } as const
  const requested = (id: CallId): Draft => ({
    type: 'call.requested',
    call: { id, ...record, effect: 'write', resources: [] },
  })
  return [
    requested(NOBODY),
    ...calls
      .slice(0, 1)
      .flatMap((call) => [
        requested(call.record.id),
        { ...requested(callId(`${call.record.id}.9`)), parent: call.record.id } as Draft,
      ]),
    { type: 'child.ended', call: NOBODY, session: sessionId('c'), outcome: { kind: 'completed' }, input: NEW },
    { type: 'call.ended-late', call: NOBODY, outcome: { kind: 'ok' }, content: said, input: NEW },
    ...oneCall(NOBODY, 1),
    ...calls.flatMap((call) => [...oneCall(call.record.id, call.attempt + 1), ...startsOf(call)]),
  ]
}

function oneCall(call: CallId, attempt: number): Draft[] {
  return [
    { type: 'call.approval-asked', call, argsHash: 'h', reason: 'x' },
    { type: 'call.approval-decided', call, decision: 'allow', by: user, grant: 'once', input: NEW },
    { type: 'call.deferred', call, what: 'x' },
    { type: 'call.started', call, attempt },
    { type: 'child.spawned', call, session: sessionId('c'), mode: 'delegate' },
    ...OUTCOMES.map((outcome) => ({ type: 'call.ended', call, outcome, content: said }) as const),
    { type: 'call.ended', call, outcome: { kind: 'ok' }, content: [] },
  ]
}

function startsOf({ record, attempt }: Call): Draft[] {
  return [
    { type: 'call.started', call: record.id, attempt: attempt + 2 },
    { type: 'call.started', call: record.id, attempt: attempt + 1, args: { other: true } },
  ]
}

function contextDrafts({ context }: State): Draft[] {
  const compacted = (upTo: number, text: string): Draft => ({
    type: 'context.compacted',
    upTo,
    summary: [{ type: 'text', text }],
    usage: noUsage,
  })
  const tool = context.findIndex(({ role }) => role === 'tool')
  return [
    compacted(0, 'x'),
    compacted(context.length + 1, 'x'),
    ...(tool === -1 ? [] : [compacted(tool, 'x')]),
    ...(context.length === 0 ? [] : [compacted(1, 'longer than what it replaces '.repeat(9))]),
    { type: 'context.compaction-refused', reason: 'x' },
    { type: 'loop.noted', key: 'k', value: null },
  ]
}
