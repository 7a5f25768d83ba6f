import { describe, expect, it } from 'vitest'
import { entered, id, log, LIMITS, recordOf, text, type Asked, type Log } from '../../test/kit/log.ts'
import type { Draft, EventHead, EventOf, EventType } from './events.ts'
import { noUsage } from './failure.ts'
import { fold } from './fold.ts'
import { inputId } from './ids.ts'
import type { CallOutcome, TurnOutcome } from './outcome.ts'
import { toSnapshot } from './snapshot.ts'

/** A situation, the event that comes then, and the rule that it breaks; null: it is legal. */
type Row = readonly [behaviour: string, given: Log, event: Draft, rule: string | null, head?: Partial<EventHead>]

const fresh = (): Log => log().open()
const inTurn = (): Log => fresh().turn()
const answered = (): Log => log().asked().said('done').stepEnded()
const requested = (...calls: readonly Asked[]): Log =>
  log()
    .asked()
    .calls(...calls)
const started = (effect: 'read' | 'write' = 'read'): Log => requested({ effect }).started('t1s1c1')
const asked = (): Log => requested({ effect: 'write' }).add(ask('t1s1c1'))
const deferred = (): Log => started('write').add({ type: 'call.deferred', call: id('t1s1c1'), what: 'a parcel' })
const abortedTurn = (): Log => inTurn().entered('go').aborted()
const full = (): Log => fresh().turn({ steps: 1 }).entered('go').worked({})
const atLimitStep = (): Log => full().step('limit')
const refused = (finish: 'max-tokens' | 'unknown-stop' | 'refused'): Log =>
  log()
    .asked()
    .add({ ...log().asked().reply([{}]), finish } as never)

/** The same after an input of that name was settled: nothing else may settle it (I6). */
const known = (given: Log, input: string): Log =>
  given.add({ type: 'input.rejected', input: inputId(input), lane: 'control', reason: 'stale' })

const ask = (call: string): Draft => ({ type: 'call.approval-asked', call: id(call), argsHash: 'h', reason: 'why' })
const decide = (call: string): Draft => ({
  type: 'call.approval-decided',
  call: id(call),
  decision: 'allow',
  by: { kind: 'user' },
  grant: 'once',
  input: inputId('yes'),
})
/** The same by another input, which is not settled yet. */
const again = (draft: Draft): Draft => ({ ...draft, input: inputId('another') }) as Draft
const begin = (call: string, attempt = 1): Draft => ({ type: 'call.started', call: id(call), attempt })
const end = (outcome: CallOutcome, call = 't1s1c1'): Draft => ({
  type: 'call.ended',
  call: id(call),
  outcome,
  content: text('x'),
})
const endTurn = (outcome: TurnOutcome): Draft => ({ type: 'turn.ended', outcome, goal: 'unchecked' })
const turn: Draft = { type: 'turn.started', trigger: 'input', limits: LIMITS }
const step: Draft = { type: 'step.started', purpose: 'step' }
const limitStep: Draft = { type: 'step.started', purpose: 'limit' }
const stepEnd: Draft = { type: 'step.ended' }
const abort: Draft = { type: 'turn.abort-asked', input: inputId('stop'), reason: 'stop', pending: 'keep', until: 1 }
const veto: Draft = { type: 'stop.vetoed', by: 'plugin', content: text('not yet') }
const epoch = (n: number): Draft => ({
  type: 'epoch.started',
  n,
  reason: 'changed',
  content: { system: '', tools: [], route: ROUTE, hash: '' },
})
const ROUTE = { adapter: 'a', wire: 'w', provider: 'p', model: 'm', scope: 's' }
const created = (format = 1): Draft => ({ type: 'session.created', format, agent: 'a', locale: 'en' })
const failed = (attempt = 1): Draft => ({
  type: 'model.failed',
  attempt,
  failure: { kind: 'server', message: '', retry: true },
  retryAt: 1,
  text: '',
  usage: noUsage,
})
const interrupted = (attempt = 1): Draft => ({
  type: 'reply.interrupted',
  attempt,
  reason: 'crashed',
  text: '',
  usage: noUsage,
  retryAt: 1,
})
const limitAsk: Draft = { type: 'turn.limit-asked', ask: id('t1limit') }
const limitDecide = (call = 't1limit'): Draft => ({
  type: 'turn.limit-decided',
  ask: id(call),
  goOn: true,
  input: inputId('yes'),
})
const childEnded: Draft = {
  type: 'child.ended',
  call: id('t1s1c1'),
  session: 'c' as never,
  outcome: { kind: 'completed' },
  input: inputId('child'),
}
const compact = (upTo: number, summary = 's'): Draft => ({
  type: 'context.compacted',
  upTo,
  summary: text(summary),
  usage: noUsage,
})
const codeCall = (call: string, parent?: string): Draft => ({
  type: 'call.requested',
  call: recordOf(call, {}),
  ...(parent === undefined ? {} : { parent: id(parent) }),
})
const reply = (given: Log, change: Partial<EventOf<'reply.completed'>> = {}): Draft =>
  ({ ...given.reply([], 'done'), ...change }) as never
const request = (given: Log, change: Partial<EventOf<'model.requested'>> = {}): Draft =>
  ({ ...given.request(), ...change }) as never

const UNKNOWN: CallOutcome = { kind: 'unknown', reason: 'crashed' }
const NOT_STARTED: CallOutcome = { kind: 'not-started', reason: 'aborted' }
const DENIED: CallOutcome = { kind: 'denied', by: 'user', reason: '' }
const INVALID: CallOutcome = { kind: 'invalid', problem: 'json', message: '' }
const INTERCEPTED: CallOutcome = { kind: 'intercepted', by: 'loop-guard', message: '' }
const TIMEOUT: CallOutcome = { kind: 'timeout', afterMs: 1 }
const ERROR: CallOutcome = { kind: 'error', code: 'failed', message: '' }
const OK: CallOutcome = { kind: 'ok' }

/** A message long enough to be summarised. */
const LONG = 'a long story '.repeat(10)

const HEADS: readonly Row[] = [
  ['the first event', log(), created(), null],
  ['anything before the session', log(), epoch(1), 'L1'],
  ['a plugin event before the session', log(), { type: 'x.plugin.fact', data: 1 }, 'L1'],
  ['a gap', fresh(), epoch(2), 'L1', { seq: 4 }],
  ['an event twice', fresh(), epoch(2), 'L1', { seq: 2 }],
  ['a lower fence', fresh(), epoch(2), 'W1', { fence: 0 }],
  ['a higher fence', fresh(), epoch(2), null, { fence: 9 }],
  ['an unknown type', fresh(), { type: 'x.plugin.fact', data: 1 }, null],
]

const ROWS: Readonly<Record<EventType, readonly Row[]>> = {
  'session.created': [
    ['a second time', fresh(), created(), 'L1'],
    ['in a newer format', log(), created(2), 'L6'],
  ],
  'session.forked': [
    ['right after its creation', log().created(), { type: 'session.forked', from: 's' as never, upTo: 1 }, null],
    ['later', fresh(), { type: 'session.forked', from: 's' as never, upTo: 1 }, 'L1'],
  ],
  'session.resumed': [
    ['between turns', fresh(), { type: 'session.resumed', input: inputId('r') }, null],
    ['in a turn', inTurn(), { type: 'session.resumed', input: inputId('r') }, 'I9'],
    ['by a settled input', known(fresh(), 'r'), { type: 'session.resumed', input: inputId('r') }, 'I6'],
  ],
  'epoch.started': [
    ['the next one', fresh(), epoch(2), null],
    ['between steps', inTurn(), epoch(2), null],
    ['out of order', fresh(), epoch(3), 'X1'],
    ['the first is not 1', log().created(), epoch(2), 'X1'],
    ['in a step', log().asked(), epoch(2), 'X1'],
  ],
  'agent.switched': [
    ['between steps', answered(), { type: 'agent.switched', to: 'b', by: id('t1s1c1') }, null],
    ['in a step', log().asked(), { type: 'agent.switched', to: 'b', by: id('t1s1c1') }, 'G2'],
    ['outside a turn', fresh(), { type: 'agent.switched', to: 'b', by: id('t1s1c1') }, 'G2'],
  ],

  'turn.started': [
    ['between turns', fresh(), turn, null],
    ['in a turn', inTurn(), turn, 'T1'],
    ['with the wrong number', fresh(), turn, 'T1', { turn: 2 }],
    ['without an epoch', log().created(), turn, 'X1'],
  ],
  'turn.abort-asked': [
    ['in a turn', inTurn(), abort, null],
    ['in a step', log().asked(), abort, null],
    ['outside a turn', fresh(), abort, 'I13'],
    ['a second time', abortedTurn(), abort, 'I13'],
    ['by a settled input', known(inTurn(), 'stop'), abort, 'I6'],
  ],
  'turn.limit-asked': [
    ['at the limit', full(), limitAsk, null],
    ['before the limit', answered(), limitAsk, 'T4'],
    ['in a step', fresh().turn({ steps: 1 }).entered('go').step(), limitAsk, 'T4'],
    ['a second time', full().add(limitAsk), limitAsk, 'T4'],
    ['outside a turn', fresh(), limitAsk, 'T4'],
  ],
  'turn.limit-decided': [
    ['once asked', full().add(limitAsk), limitDecide(), null],
    ['unasked', full(), limitDecide(), 'A2'],
    ['for another question', full().add(limitAsk), limitDecide('t2limit'), 'A2'],
    ['a second time', full().add(limitAsk, limitDecide()), limitDecide(), 'A2'],
    ['outside a turn', fresh(), limitDecide(), 'T4'],
    ['by a settled input', known(full().add(limitAsk), 'yes'), limitDecide(), 'I6'],
  ],
  'turn.ended': [
    ['completed', answered(), endTurn({ kind: 'completed' }), null],
    ['outside a turn', fresh(), endTurn({ kind: 'completed' }), 'T1'],
    [
      'with an open step',
      log().asked(),
      endTurn({ kind: 'error', failure: { kind: 'server', message: '', retry: false } }),
      'C12',
    ],
    ['aborted, and called something else', answered().aborted(), endTurn({ kind: 'completed' }), 'T7'],
    ['aborted', abortedTurn(), endTurn({ kind: 'aborted', reason: '' }), null],
    ['aborted, unasked', inTurn(), endTurn({ kind: 'aborted', reason: '' }), 'I13'],
    [
      'completed after a cut',
      log().asked().said('half', { finish: 'max-tokens' }).stepEnded(),
      endTurn({ kind: 'completed' }),
      'T3',
    ],
    [
      'completed after a cut and a good step',
      log().asked().said('half', { finish: 'max-tokens' }).stepEnded().step().requested().said('all').stepEnded(),
      endTurn({ kind: 'completed' }),
      'T3',
    ],
    [
      'max-tokens after a cut',
      log().asked().said('half', { finish: 'max-tokens' }).stepEnded(),
      endTurn({ kind: 'max-tokens', limit: 'output' }),
      null,
    ],
    ['max-tokens without a cut', answered(), endTurn({ kind: 'max-tokens', limit: 'output' }), 'T3'],
    ['completed after a failed step', log().asked().failed(null).stepEnded(), endTurn({ kind: 'completed' }), 'T3'],
    ['completed without a step', inTurn(), endTurn({ kind: 'completed' }), 'T3'],
    ['completed after calls', fresh().turn().entered('go').worked({}), endTurn({ kind: 'completed' }), 'T3'],
    ['completed after a veto', answered().add(veto), endTurn({ kind: 'completed' }), 'T3'],
    [
      'completed after a pause',
      log().asked().said('wait', { finish: 'pause' }).stepEnded(),
      endTurn({ kind: 'completed' }),
      'T3',
    ],
    [
      'completed by a summary at the limit',
      atLimitStep().requested().said('so far').stepEnded(),
      endTurn({ kind: 'completed' }),
      'T4',
    ],
    ['step-limit at the limit', full(), endTurn({ kind: 'step-limit', how: 'error', steps: 1 }), null],
    ['step-limit before the limit', answered(), endTurn({ kind: 'step-limit', how: 'error', steps: 1 }), 'T4'],
    [
      'veto-capped at the cap',
      log().asked({ vetoes: 0 }).said('done').stepEnded(),
      endTurn({ kind: 'veto-capped', vetoes: 0 }),
      null,
    ],
    ['veto-capped below the cap', answered(), endTurn({ kind: 'veto-capped', vetoes: 0 }), 'T5'],
    ['budget', answered(), endTurn({ kind: 'budget', reason: '' }), null],
    ['blocked', inTurn(), endTurn({ kind: 'blocked', reason: '' }), null],
    ['refused', answered(), endTurn({ kind: 'refused', reason: '' }), null],
    ['stuck', answered(), endTurn({ kind: 'stuck', tool: 't', times: 5 }), null],
    ['error', answered(), endTurn({ kind: 'error', failure: { kind: 'server', message: '', retry: false } }), null],
    ['as only a newer version knows', answered(), endTurn({ kind: 'paused' } as never), 'L6'],
  ],

  'input.entered': [
    ['at the first gate', inTurn(), entered('a'), null],
    ['between steps', answered(), entered('a'), null],
    ['in a step that was not asked yet', inTurn().entered('go').step(), entered('a'), null],
    ['in a step whose attempt failed', log().asked().failed(1), entered('a'), null],
    ['outside a turn', fresh(), entered('a'), 'I4'],
    ['a second time', inTurn().entered('a'), entered('a'), 'I1'],
    ['while the model is asked', log().asked(), entered('a'), 'I4'],
    ['between a call and its result', requested({}), entered('a'), 'I4'],
    ['after the reply', log().asked().said('done'), entered('a'), 'I4'],
    ['in an aborted turn', abortedTurn(), entered('a'), 'T7'],
    ['with nothing in it', inTurn(), { ...entered('a'), content: [] }, 'X8'],
    ['with an empty text', inTurn(), entered('a', ''), 'X8'],
  ],
  'input.rejected': [
    [
      'outside a turn',
      fresh(),
      { type: 'input.rejected', input: inputId('a'), lane: 'control', reason: 'stale' },
      null,
    ],
    [
      'of a settled input',
      inTurn().entered('a'),
      { type: 'input.rejected', input: inputId('a'), lane: 'steer', reason: 'late' },
      'I6',
    ],
  ],

  'step.started': [
    ['in a turn', inTurn().entered('go'), step, null],
    ['outside a turn', fresh(), step, 'T1', { step: 1 }],
    ['in a step', log().asked(), step, 'T1'],
    ['in an aborted turn', abortedTurn(), step, 'T7'],
    ['in a turn that is decided', inTurn().add({ type: 'step.refused', reason: 'no' }), step, 'T1'],
    ['beyond the limit', full(), step, 'T4'],
    ['a summary at the limit', full(), limitStep, null],
    ['a summary before the limit', answered(), limitStep, 'T4'],
    ['a second summary', atLimitStep().requested().said('so far').stepEnded(), limitStep, 'T4'],
  ],
  'step.refused': [
    ['between steps', inTurn(), { type: 'step.refused', reason: 'no' }, null],
    ['before an attempt', log().asked().failed(1), { type: 'step.refused', reason: 'no' }, null],
    ['while the model is asked', log().asked(), { type: 'step.refused', reason: 'no' }, 'T11'],
    ['outside a turn', fresh(), { type: 'step.refused', reason: 'no' }, 'T11'],
  ],
  'step.ended': [
    ['after the reply', log().asked().said('done'), stepEnd, null],
    ['after every result', started().ended('t1s1c1'), stepEnd, null],
    ['outside a step', inTurn(), stepEnd, 'T1'],
    ['while the model is asked', log().asked(), stepEnd, 'T1'],
    ['with an open call', started(), stepEnd, 'C2'],
    ['with a waiting call', asked(), stepEnd, 'C2'],
  ],

  'model.requested': [
    ['in a step', inTurn().entered('go').step(), request(inTurn().entered('go').step()), null],
    ['outside a step', inTurn(), request(inTurn()), 'T1'],
    [
      'in an aborted turn',
      inTurn().entered('go').step().aborted(),
      request(inTurn().entered('go').step().aborted()),
      'T7',
    ],
    ['after a terminal failure', log().asked().failed(null), request(log().asked().failed(null)), 'T10'],
    ['while one is open', log().asked(), request(log().asked()), 'T10'],
    ['after the reply', log().asked().said('done'), request(log().asked().said('done')), 'T10'],
    ['again after a failure', log().asked().failed(1), request(log().asked().failed(1)), null],
    ['with the wrong attempt', log().asked().failed(1), request(log().asked().failed(1), { attempt: 1 }), 'T10'],
    [
      'with another number of messages',
      inTurn().entered('go').step(),
      request(inTurn().entered('go').step(), { messages: 2 }),
      'X1',
    ],
    ['with no message', inTurn().step(), request(inTurn().step()), 'X1'],
    ['with calls at the limit', atLimitStep(), request(atLimitStep(), { toolChoice: 'auto' }), 'T4'],
    ['without calls at the limit', atLimitStep(), request(atLimitStep()), null],
  ],
  'model.failed': [
    ['of the open attempt', log().asked(), failed(), null],
    ['of another attempt', log().asked(), failed(2), 'T10'],
    ['without a request', inTurn().entered('go').step(), failed(), 'T10'],
    ['outside a step', inTurn(), failed(), 'T1'],
    ['under another fence', log().asked(), failed(), 'W1', { fence: 2 }],
  ],
  'reply.completed': [
    ['of the open attempt', log().asked(), reply(log().asked()), null],
    ['outside a step', inTurn(), reply(inTurn()), 'T1'],
    ['of another attempt', log().asked(), reply(log().asked(), { attempt: 2 }), 'T10'],
    ['to nobody', log().asked().failed(1), reply(log().asked().failed(1)), 'T10'],
    ['of a runner that is gone', log().asked(), reply(log().asked()), 'W1', { fence: 2 }],
    ['that says nothing', log().asked(), log().asked().reply([]), 'T3'],
    ['that says nothing but blanks', log().asked(), log().asked().reply([], ' \n'), 'T3'],
    ['cut before it said anything', log().asked(), { ...log().asked().reply([]), finish: 'max-tokens' } as never, null],
    [
      'with the ids of another step',
      log().asked(),
      { ...log().asked().reply([]), calls: [recordOf('t9s1c1', {})] } as never,
      'C1',
    ],
    ['whose parts name other calls', log().asked(), { ...log().asked().reply([{}]), parts: [] } as never, 'C2'],
  ],
  'reply.interrupted': [
    ['of the open attempt', log().asked(), interrupted(), null],
    ['by the next runner', log().asked(), interrupted(), null, { fence: 2 }],
    ['of another attempt', log().asked(), interrupted(2), 'T10'],
    ['outside a step', inTurn(), interrupted(), 'T1'],
  ],

  'call.requested': [
    ['by code', inTurn().entered('go').step(), codeCall('t1s1c1'), null],
    ['by code while the model is asked', log().asked(), codeCall('t1s1c1'), 'C2'],
    ['by code beside a reply', requested({}), codeCall('t1s1c2'), 'C2'],
    ['twice', inTurn().entered('go').step().add(codeCall('t1s1c1')), codeCall('t1s1c1'), 'C1'],
    ['inside a running call', started(), codeCall('t1s1c1.1', 't1s1c1'), null],
    ['inside a call that does not run', requested({}), codeCall('t1s1c1.1', 't1s1c1'), 'C2'],
    ['inside no call', started(), codeCall('t1s1c9.1', 't1s1c9'), 'C2'],
    ['outside a step', inTurn(), codeCall('t1s1c1'), 'C2'],
  ],
  'call.approval-asked': [
    ['for a requested call', requested({}), ask('t1s1c1'), null],
    ['a second time', asked(), ask('t1s1c1'), 'A2'],
    ['for a call that runs', started(), ask('t1s1c1'), 'A2'],
    ['for no call', requested({}), ask('t1s1c2'), 'A2'],
  ],
  'call.approval-decided': [
    ['once asked', asked(), decide('t1s1c1'), null],
    ['unasked', requested({}), decide('t1s1c1'), 'A2'],
    ['a second time', asked().add(decide('t1s1c1')), again(decide('t1s1c1')), 'A2'],
    ['after its end', asked().ended('t1s1c1', DENIED), decide('t1s1c1'), 'A2'],
    ['outside a step', inTurn(), decide('t1s1c1'), 'A2'],
    ['by a settled input', known(asked(), 'yes'), decide('t1s1c1'), 'I6'],
  ],
  'call.deferred': [
    ['by a running call', started('write'), { type: 'call.deferred', call: id('t1s1c1'), what: 'w' }, null],
    ['by a call that does not run', requested({}), { type: 'call.deferred', call: id('t1s1c1'), what: 'w' }, 'A4'],
    ['a second time', deferred(), { type: 'call.deferred', call: id('t1s1c1'), what: 'w' }, 'A4'],
  ],
  'call.started': [
    ['a requested call', requested({}), begin('t1s1c1'), null],
    ['an approved call', asked().add(decide('t1s1c1')), begin('t1s1c1'), null],
    [
      'an approved call with the arguments that were approved',
      asked().add(decide('t1s1c1')),
      { ...begin('t1s1c1'), args: {} } as never,
      null,
    ],
    [
      'an approved call with other arguments',
      asked().add(decide('t1s1c1')),
      { ...begin('t1s1c1'), args: { path: 'b' } } as never,
      'A2',
    ],
    [
      'an approved call with the arguments that were put in place and approved',
      requested({}).add({ ...ask('t1s1c1'), args: { path: 'b', n: 1 } } as never, decide('t1s1c1')),
      { ...begin('t1s1c1'), args: { n: 1, path: 'b' } } as never,
      null,
    ],
    [
      "an approved call with the model's arguments, where others were approved",
      requested({}).add({ ...ask('t1s1c1'), args: { path: 'b' } } as never, decide('t1s1c1')),
      { ...begin('t1s1c1'), args: {} } as never,
      'A2',
    ],
    ['a call that waits for an answer', asked(), begin('t1s1c1'), 'C3'],
    ['a deferred call', deferred(), begin('t1s1c1', 2), 'C3'],
    ['a call that ended', started().ended('t1s1c1'), begin('t1s1c1', 2), 'C3'],
    ['in an aborted turn', requested({}).aborted(), begin('t1s1c1'), 'T7'],
    ['at the step limit', atLimitStep().requested().calls({}), begin('t1s2c1'), 'T4'],
    ['of a cut reply', refused('max-tokens'), begin('t1s1c1'), 'C8'],
    ['of a reply with an unknown end', refused('unknown-stop'), begin('t1s1c1'), 'C8'],
    ['of a refusal', refused('refused'), begin('t1s1c1'), 'C8'],
    ['without arguments', requested({ broken: true }), begin('t1s1c1'), 'C8'],
    [
      'without arguments, but with rewritten ones',
      requested({ broken: true }),
      { ...begin('t1s1c1'), args: {} } as never,
      null,
    ],
    ['a write again', started('write'), begin('t1s1c1', 2), 'C4', { fence: 2 }],
    ['a read again under the same fence', started(), begin('t1s1c1', 2), 'C4'],
    ['a read again under a higher fence', started(), begin('t1s1c1', 2), null, { fence: 2 }],
    ['with the wrong number', requested({}), begin('t1s1c1', 2), 'C3'],
    ['before a call that it conflicts with', requested({ effect: 'write' }, {}), begin('t1s1c2'), 'C6'],
    ['beside a call that it shares with', requested({}, {}), begin('t1s1c2'), null],
    ['after the call that it conflicts with', requested({ effect: 'write' }, {}).ran('t1s1c1'), begin('t1s1c2'), null],
  ],
  'call.ended': [
    ['by an input', deferred(), { ...end(OK), input: inputId('answer') } as Draft, null],
    ['by a settled input', known(deferred(), 'answer'), { ...end(OK), input: inputId('answer') } as Draft, 'I6'],
    ...endings('requested', requested({}), {
      ok: 'C2',
      error: 'C2',
      timeout: 'C2',
      unknown: 'C2',
      'not-started': null,
      denied: null,
      invalid: null,
      intercepted: null,
    }),
    ...endings('asked', asked(), {
      ok: 'C2',
      error: 'C2',
      timeout: 'C2',
      unknown: 'C2',
      'not-started': null,
      denied: null,
      invalid: 'C2',
      intercepted: 'C2',
    }),
    ...endings('approved', asked().add(decide('t1s1c1')), {
      ok: 'C2',
      error: 'C2',
      timeout: 'C2',
      unknown: 'C2',
      'not-started': null,
      denied: null,
      invalid: null,
      intercepted: 'C2',
    }),
    ...endings('refused', asked().add({ ...decide('t1s1c1'), decision: 'deny' } as never), {
      ok: 'C2',
      error: 'C2',
      timeout: 'C2',
      unknown: 'C2',
      'not-started': null,
      denied: null,
      invalid: 'C2',
      intercepted: 'C2',
    }),
    ...endings('started', started(), {
      ok: null,
      error: null,
      timeout: null,
      unknown: null,
      'not-started': 'C2',
      denied: 'C2',
      invalid: 'C2',
      intercepted: 'C2',
    }),
    ...endings('deferred', deferred(), {
      ok: null,
      error: null,
      timeout: null,
      unknown: null,
      'not-started': null,
      denied: null,
      invalid: 'C2',
      intercepted: 'C2',
    }),
    ...endings('ended', started().ended('t1s1c1'), {
      ok: 'C2',
      error: 'C2',
      timeout: 'C2',
      unknown: 'C2',
      'not-started': 'C2',
      denied: 'C2',
      invalid: 'C2',
      intercepted: 'C2',
    }),
    ['without content', started(), { ...end(OK), content: [] } as never, 'C2'],
    ['as only a newer version knows', started(), end({ kind: 'paused' } as never), 'L6'],
    ['of no call', started(), end(OK, 't1s1c2'), 'C2'],
    ['outside a step', inTurn(), end(OK), 'C2'],
  ],
  'call.ended-late': [
    ['of a call that timed out', started().ended('t1s1c1', TIMEOUT), late(), null],
    ['of a call that is unknown', started().ended('t1s1c1', UNKNOWN).stepEnded(), late(), null],
    ['of a deferred call that was given up', deferred().ended('t1s1c1', UNKNOWN), late(), null],
    ['of a call that ended', started().ended('t1s1c1'), late(), 'C5'],
    ['of a call that never started', requested({}).ended('t1s1c1', NOT_STARTED), late(), 'C5'],
    ['a second time', started().ended('t1s1c1', TIMEOUT).add(late()), again(late()), 'C5'],
    ['by a settled input', known(started().ended('t1s1c1', TIMEOUT), 'late'), late(), 'I6'],
  ],

  'child.spawned': [
    [
      'by a running call',
      started(),
      { type: 'child.spawned', call: id('t1s1c1'), session: 'c' as never, mode: 'delegate' },
      null,
    ],
    [
      'by a call that does not run',
      requested({}),
      { type: 'child.spawned', call: id('t1s1c1'), session: 'c' as never, mode: 'delegate' },
      'G1',
    ],
  ],
  'child.ended': [
    ['at any time', fresh(), childEnded, null],
    ['by a settled input', known(fresh(), 'child'), childEnded, 'I6'],
  ],
  'stop.vetoed': [
    ['after the last step', answered(), veto, null],
    ['in a step', log().asked(), veto, 'T5'],
    ['beyond the cap', log().asked({ vetoes: 0 }).said('done').stepEnded(), veto, 'T5'],
    ['in an aborted turn', answered().aborted(), veto, 'T7'],
    ['outside a turn', fresh(), veto, 'T5'],
    ['with an empty message', answered(), { ...veto, content: text('') } as never, 'X8'],
  ],
  'context.compacted': [
    ['between turns', answered().turnEnded(), compact(1, 's'), null],
    ['in a step', log().asked(), compact(1), 'X3'],
    ['of nothing', answered().turnEnded(), compact(0), 'X3'],
    ['of more than there is', answered().turnEnded(), compact(3), 'X3'],
    ['between a call and its result', inTurn().entered('go').worked({}), compact(2), 'X3'],
    ['after the result', inTurn().entered('go', LONG).worked({ name: LONG }), compact(3), null],
    ['that does not shrink', answered().turnEnded(), compact(2, LONG), 'X3'],
    ['of nothing but what is kept verbatim', inTurn().entered('go', LONG), compact(1), 'X3'],
  ],
  'context.compaction-refused': [['at any time', fresh(), { type: 'context.compaction-refused', reason: 'r' }, null]],
  'loop.noted': [
    ['at any time', fresh(), { type: 'loop.noted', key: 'k', value: 1 }, null],
    ['by an input', fresh(), { type: 'loop.noted', key: 'k', value: 1, input: inputId('timer') }, null],
    [
      'by a settled input',
      known(fresh(), 'timer'),
      { type: 'loop.noted', key: 'k', value: 1, input: inputId('timer') },
      'I6',
    ],
  ],
  'log.damaged': [
    [
      'at any time',
      fresh(),
      { type: 'log.damaged', from: 3, reason: 'r', quarantined: 1, reopened: [], content: text('x') },
      null,
    ],
  ],
}

function late(): Draft {
  return {
    type: 'call.ended-late',
    call: id('t1s1c1'),
    outcome: OK,
    content: text('it happened'),
    input: inputId('late'),
  }
}

/** C2: from which state a call may end how. */
function endings(state: string, given: Log, rules: Readonly<Record<CallOutcome['kind'], string | null>>): Row[] {
  const outcomes = [OK, ERROR, TIMEOUT, UNKNOWN, NOT_STARTED, DENIED, INVALID, INTERCEPTED]
  return outcomes.map((outcome) => [
    `${outcome.kind} of a call that is ${state}`,
    given,
    end(outcome),
    rules[outcome.kind],
  ])
}

function prove([, given, event, rule, head]: Row): void {
  const stamped = { ...given.stamp(event), ...head }
  const before = toSnapshot(given.state)
  expect(given.refusal(event, head)?.rule ?? null).toBe(rule)
  if (rule === null) return
  // What is refused changes nothing (L1).
  expect(fold(given.state, stamped)?.rule).toBe(rule)
  expect(toSnapshot(given.state)).toBe(before)
}

const named = (rows: readonly Row[]): { readonly name: string; readonly row: Row }[] =>
  rows.map((row) => ({ name: row[3] === null ? `${row[0]} is legal` : `${row[3]}: ${row[0]} is refused`, row }))

describe('an event head', () => {
  it.each(named(HEADS))('$name', ({ row }) => prove(row))
})

describe.each(Object.entries(ROWS))('%s', (_type, rows) => {
  it.each(named(rows))('$name', ({ row }) => prove(row))
})
