import { describe, expect, it } from 'vitest'
import { id, log, text, type Asked, type Log } from '../../../test/kit/log.ts'
import type { Effect, InboxView, View } from '../../kernel/effects.ts'
import { inputId } from '../../kernel/ids.ts'
import { react } from './react.ts'

interface Given {
  readonly inbox?: Partial<InboxView>
  readonly live?: readonly string[]
  readonly judged?: readonly string[]
  readonly gated?: boolean
  readonly shown?: boolean
  readonly fence?: number
  readonly now?: number
  readonly owed?: View['owed']
  readonly held?: View['held']
  readonly afterFailure?: 'hold' | 'continue'
}

const NOW = 1_000_000

function ask({ state }: Log, given: Given = {}): Effect {
  const {
    inbox,
    live = [],
    judged = [],
    gated = false,
    shown = false,
    fence = 1,
    now = NOW,
    held = [],
    afterFailure = 'hold',
  } = given
  return react.next({
    state,
    inbox: { control: 0, steer: 0, note: 0, followup: 0, steerNow: 0, newestTail: -1, ...inbox },
    live: { has: (what) => live.includes(what) },
    judged: { has: (call) => judged.includes(call) },
    gated,
    shown,
    fence,
    held,
    now,
    owed: given.owed ?? { seq: 0, downMs: 0 },
    settings: { attemptsMax: 4, staleAfterMs: 1_000, startsMax: 2, cutsMax: 2, poolSize: 2, afterFailure },
  })
}

const blocked = (): Log => log().open().turn().turnEnded({ kind: 'blocked', reason: 'r' })
const answered = (): Log => log().asked().said('done').stepEnded()
const requested = (...calls: readonly Asked[]): Log =>
  log()
    .asked()
    .calls(...calls)
const abortedWith = (session: Log): Log => session.aborted()

/** A situation, what is given beside it, and the effect that the loop asks for. */
type Row = readonly [behaviour: string, session: Log, given: Given, effect: Partial<Effect>]

const OUTSIDE: readonly Row[] = [
  ['I13: control comes before everything', blocked(), { inbox: { control: 1, followup: 1 } }, { kind: 'absorb' }],
  ['an idle session rests', log().open(), {}, { kind: 'rest', mode: 'idle', wake: ['control', 'steer', 'followup'] }],
  ['I3: a note wakes nobody', log().open(), { inbox: { note: 1 } }, { kind: 'rest', mode: 'idle' }],
  ['a followup starts a turn', log().open(), { inbox: { followup: 1 } }, { kind: 'begin', trigger: 'input' }],
  ['I5: so does a steer', log().open(), { inbox: { steer: 1 } }, { kind: 'begin' }],
  [
    'I11: a held queue does not',
    blocked(),
    { inbox: { followup: 1, newestTail: 2 } },
    { kind: 'rest', mode: 'held', since: 4 },
  ],
  ['I11: until something came after the end', blocked(), { inbox: { followup: 2, newestTail: 4 } }, { kind: 'begin' }],
  [
    'I11: or by policy',
    blocked(),
    { inbox: { followup: 1, newestTail: 2 }, afterFailure: 'continue' },
    { kind: 'begin' },
  ],
  [
    'I9: which lets nothing start by itself after an abort',
    log().open().turn().aborted().turnEnded({ kind: 'aborted', reason: 's' }),
    { inbox: { followup: 1, newestTail: 2 }, afterFailure: 'continue' },
    { kind: 'rest', mode: 'held' },
  ],
  [
    'T4: a steer that met the step limit starts the next turn',
    log().open().turn({ steps: 1 }).entered('go').worked({}).turnEnded({ kind: 'step-limit', how: 'error', steps: 1 }),
    { inbox: { steer: 1, newestTail: 2 } },
    { kind: 'begin' },
  ],
  [
    'T4: a yes at the limit starts one without input',
    log()
      .open()
      .turn({ steps: 1 })
      .entered('go')
      .worked({})
      .turnEnded({ kind: 'step-limit', how: 'ask', steps: 1, goOn: true }),
    {},
    { kind: 'begin', trigger: 'go-on' },
  ],
]

const BETWEEN: readonly Row[] = [
  [
    'I3: the first gate takes what is there',
    log().open().turn(),
    { inbox: { followup: 1 } },
    { kind: 'claim', first: true, needsInput: true },
  ],
  [
    'T11: nothing left at the first gate',
    log().open().turn(),
    {},
    { kind: 'end-turn', outcome: { kind: 'blocked', reason: 'nothing was left to do' } },
  ],
  [
    'T11: all rejected at the first gate',
    log()
      .open()
      .turn()
      .add({ type: 'input.rejected', input: inputId('a'), lane: 'followup', reason: 'r' }),
    { inbox: { followup: 1 } },
    { kind: 'end-turn', outcome: { kind: 'blocked', reason: 'every input was rejected' } },
  ],
  [
    'what entered before a crash is enough',
    log().open().turn().entered('go'),
    {},
    { kind: 'claim', first: false, needsInput: false },
  ],
  ['the model is done', answered(), {}, { kind: 'stopping', outcome: { kind: 'completed' } }],
  ['I5: a steer goes on with the turn', answered(), { inbox: { steer: 1 } }, { kind: 'claim', needsInput: true }],
  ['I3: a note does not', answered(), { inbox: { note: 1, followup: 1 } }, { kind: 'stopping' }],
  [
    'after calls comes the next step',
    log().open().turn().entered('go').worked({}),
    {},
    { kind: 'claim', purpose: 'step' },
  ],
  [
    'T5: after a veto too',
    answered().add({ type: 'stop.vetoed', by: 'p', content: text('v') }),
    {},
    { kind: 'claim', purpose: 'step' },
  ],
  [
    'T3: a cut reply',
    log().asked().said('half', { finish: 'max-tokens' }).stepEnded(),
    {},
    { kind: 'stopping', outcome: { kind: 'max-tokens', limit: 'output' } },
  ],
  [
    'T3: a good step after a cut one',
    log().asked().said('half', { finish: 'max-tokens' }).stepEnded().step().requested().said('all').stepEnded(),
    {},
    { kind: 'stopping', outcome: { kind: 'max-tokens', limit: 'output' } },
  ],
  [
    'a pause is gone on from',
    log().asked().said('wait', { finish: 'pause' }).stepEnded(),
    {},
    { kind: 'claim', purpose: 'step' },
  ],
  ['a decided turn ends', log().asked().failed(null).stepEnded(), {}, { kind: 'end-turn' }],
  ...(['error', 'handback'] as const).map((policy): Row => [
    `T4: at the limit with ${policy}`,
    atLimit(policy),
    {},
    { kind: 'end-turn', outcome: { kind: 'step-limit', how: policy, steps: 1 } },
  ]),
  ['T4: at the limit with summary', atLimit('summary'), {}, { kind: 'claim', purpose: 'limit' }],
  ['T4: at the limit with ask', atLimit('ask'), {}, { kind: 'ask-limit' }],
  [
    'T4: until it is answered',
    atLimit('ask').add({ type: 'turn.limit-asked', ask: id('t1limit') }),
    {},
    { kind: 'rest', mode: 'waiting', wake: ['control'] },
  ],
  [
    'T4: after the summary',
    atLimit('summary').step('limit').requested().said('so far').stepEnded(),
    {},
    { kind: 'end-turn', outcome: { kind: 'step-limit', how: 'summary', steps: 1 } },
  ],
  [
    'T4: a steer at the last step',
    log().asked({ steps: 1, stepPolicy: 'error' }).said('done').stepEnded(),
    { inbox: { steer: 1 } },
    { kind: 'end-turn' },
  ],
]

const ASKING: readonly Row[] = [
  ['the gate comes first', log().open().turn().entered('go').step(), {}, { kind: 'claim', first: false }],
  ['then the model', log().open().turn().entered('go').step(), { gated: true }, { kind: 'infer' }],
  [
    'I4: what came since the gate enters first',
    log().open().turn().entered('go').step(),
    { gated: true, inbox: { steer: 1 } },
    { kind: 'claim' },
  ],
  [
    'a followup does not',
    log().open().turn().entered('go').step(),
    { gated: true, inbox: { followup: 1 } },
    { kind: 'infer' },
  ],
  ['it is waited for', log().asked(), { live: ['infer'] }, { kind: 'wait' }],
  [
    'C4: one that nobody waits for any more is closed',
    log().asked(),
    {},
    { kind: 'settle-request', reason: 'crashed' },
  ],
  [
    'I12: a steer that wants to be heard now',
    log().asked(),
    { live: ['infer'], inbox: { steer: 1, steerNow: 1 } },
    { kind: 'settle-request', reason: 'superseded' },
  ],
  [
    'I12: not once something was shown',
    log().asked(),
    { live: ['infer'], shown: true, inbox: { steer: 1, steerNow: 1 } },
    { kind: 'wait' },
  ],
  [
    'T10: a retry waits for its time',
    log()
      .asked()
      .failed(NOW + 5),
    {},
    { kind: 'wait', until: NOW + 5 },
  ],
  ['T10: and passes the gate again', log().asked().failed(NOW), {}, { kind: 'claim' }],
  ['T10: a failure for good ends the step', log().asked().failed(null), {}, { kind: 'end-step' }],
  [
    'T11: so does a refusal',
    log().asked().failed(1).add({ type: 'step.refused', reason: 'r' }),
    {},
    { kind: 'end-step' },
  ],
]

const CALLS: readonly Row[] = [
  ['are judged first', requested({}, {}), {}, { kind: 'judge', calls: [id('t1s1c1'), id('t1s1c2')] }],
  [
    'then run',
    requested({}, {}),
    { judged: ['t1s1c1', 't1s1c2'] },
    { kind: 'execute', calls: [id('t1s1c1'), id('t1s1c2')] },
  ],
  [
    'C6: as many as there is room for',
    requested({}, {}, {}),
    { judged: ['t1s1c1', 't1s1c2', 't1s1c3'] },
    { kind: 'execute', calls: [id('t1s1c1'), id('t1s1c2')] },
  ],
  [
    'C6: none beside a straggler that holds what it needs',
    requested({}),
    { judged: ['t1s1c1'], held: [[{ name: '*', mode: 'write' }]] },
    { kind: 'wait' },
  ],
  ['are waited for', requested({}).started('t1s1c1'), { live: ['t1s1c1'] }, { kind: 'wait' }],
  [
    'C4: a read that nobody runs any more runs again, under a higher fence',
    requested({}).started('t1s1c1'),
    { fence: 2 },
    { kind: 'execute', calls: [id('t1s1c1')] },
  ],
  [
    'C4: a write does not',
    requested({ effect: 'write' }).started('t1s1c1'),
    { fence: 2 },
    { kind: 'settle', as: 'recover' },
  ],
  [
    'C4: nor a read under the same fence',
    requested({}).started('t1s1c1'),
    { fence: 1 },
    { kind: 'settle', as: 'recover' },
  ],
  ['C4: nor one that was started often enough', startedTwice(), { fence: 3 }, { kind: 'settle', as: 'recover' }],
  [
    'C4: nor one that is owed for too long',
    requested({}),
    { owed: { seq: 99, downMs: 1_001 } },
    { kind: 'settle', as: 'stale' },
  ],
  ['C4: what was asked for since is not owed', requested({}), { owed: { seq: 6, downMs: 1_001 } }, { kind: 'judge' }],
  ['A2: a denied call is closed', asked('deny'), {}, { kind: 'settle', as: 'denied', calls: [id('t1s1c1')] }],
  ['A2: an approved call runs', asked('allow'), {}, { kind: 'execute', calls: [id('t1s1c1')] }],
  [
    'A3: one that is asked about lets the session rest',
    asked(null),
    {},
    { kind: 'rest', mode: 'waiting', wake: ['control'], until: NOW + 9 },
  ],
  ['A2: until it expires', asked(null), { now: NOW + 9 }, { kind: 'settle', as: 'expired' }],
  ['A3: but not while another runs', waitingBesideRunning(), { live: ['t1s1c2'] }, { kind: 'wait', until: NOW + 9 }],
  ['C8: those of a cut reply are closed', finished('max-tokens'), {}, { kind: 'settle', as: 'output-limit' }],
  ['C8: and of one that hit the context limit', finished('context-limit'), {}, { kind: 'settle', as: 'output-limit' }],
  ['C8: and of a refusal', finished('refused'), {}, { kind: 'settle', as: 'refused' }],
  ['C8: and of an unknown end', finished('unknown-stop'), {}, { kind: 'settle', as: 'unknown-stop' }],
  [
    'T4: and those at the step limit',
    atLimit('summary').step('limit').requested().calls({}),
    {},
    { kind: 'settle', as: 'step-limit' },
  ],
  ['a step with every result ends', requested({}).ran('t1s1c1'), {}, { kind: 'end-step' }],
]

const ABORTED: readonly Row[] = [
  [
    'T7: between steps it ends at once',
    abortedWith(answered()),
    {},
    { kind: 'end-turn', outcome: { kind: 'aborted', reason: 'stop' } },
  ],
  ['T7: a model call has its grace', abortedWith(log().asked()), { live: ['infer'], now: 0 }, { kind: 'wait' }],
  ['T7: and no more', abortedWith(log().asked()), { live: ['infer'] }, { kind: 'settle-request', reason: 'aborted' }],
  [
    'T7: one that is not here has none',
    abortedWith(log().asked()),
    { now: 0 },
    { kind: 'settle-request', reason: 'aborted' },
  ],
  [
    'C12: what does not run is closed at once',
    abortedWith(requested({}, {}).started('t1s1c1')),
    { live: ['t1s1c1'], now: 0 },
    { kind: 'settle', calls: [id('t1s1c2')], as: 'aborted' },
  ],
  [
    'T7: what runs has its grace',
    abortedWith(requested({}).started('t1s1c1')),
    { live: ['t1s1c1'], now: 0 },
    { kind: 'wait' },
  ],
  [
    'T7: and no more',
    abortedWith(requested({}).started('t1s1c1')),
    { live: ['t1s1c1'] },
    { kind: 'settle', as: 'aborted' },
  ],
  ['C12: then the step ends', abortedWith(requested({}).ran('t1s1c1')), {}, { kind: 'end-step' }],
  [
    'T7: nothing is judged or started',
    abortedWith(requested({})),
    { judged: ['t1s1c1'] },
    { kind: 'settle', as: 'aborted' },
  ],
]

function atLimit(stepPolicy: 'error' | 'summary' | 'handback' | 'ask'): Log {
  return log().open().turn({ steps: 1, stepPolicy }).entered('go').worked({})
}

function finished(finish: 'max-tokens' | 'context-limit' | 'refused' | 'unknown-stop'): Log {
  const session = log().asked()
  return session.add({ ...session.reply([{}]), finish } as never)
}

function startedTwice(): Log {
  const session = requested({}).started('t1s1c1')
  session.fence = 2
  return session.started('t1s1c1', 2)
}

function asked(decision: 'allow' | 'deny' | null, ...more: readonly Asked[]): Log {
  const session = requested({ effect: 'write', resources: [] }, ...more)
  session.add({ type: 'call.approval-asked', call: id('t1s1c1'), argsHash: 'h', reason: 'why', expiresAt: NOW + 9 })
  if (decision === null) return session
  return session.add({
    type: 'call.approval-decided',
    call: id('t1s1c1'),
    decision,
    by: { kind: 'user' },
    grant: 'once',
    input: inputId('d'),
  })
}

function waitingBesideRunning(): Log {
  return asked(null, {}).started('t1s1c2')
}

describe.each([
  ['no turn', OUTSIDE],
  ['between steps', BETWEEN],
  ['a step without a reply', ASKING],
  ['calls', CALLS],
  ['an aborted turn', ABORTED],
] as const)('%s', (_where, rows) => {
  it.each(rows.map((row) => ({ name: row[0], row })))('$name', ({ row: [, session, given, effect] }) => {
    expect(ask(session, given)).toMatchObject(effect)
  })
})

describe('the loop', () => {
  it('is pure: the same view gives the same answer, and is not changed', () => {
    const session = requested({}, { effect: 'write' })
    const before = JSON.stringify(session.state)
    expect(ask(session)).toEqual(ask(session))
    expect(JSON.stringify(session.state)).toBe(before)
  })
})
