/** The judges of `npm run safety`, on planted samples: a run that cannot see a fault proves nothing. */
import { describe, expect, it } from 'vitest'
import { faultsOf, toldUnknown } from '../safety/history.ts'
import { readOptions } from '../safety/options.ts'
import { table, total } from '../safety/report.ts'
import { refundOnce } from '../safety/stand-in.ts'
import { judge, judgeSteer, sum, type Killed, type Steered } from '../safety/verdict.ts'
import { callId } from '../src/kernel/ids.ts'
import type { Message } from '../src/kernel/message.ts'

const user = (text: string): Message => ({
  role: 'user',
  content: [{ type: 'text', text }],
  origin: { kind: 'user' },
})

const calls = (...made: readonly (readonly [id: string, name: string, args?: string])[]): Message => ({
  role: 'assistant',
  parts: made.map(([id]) => ({ type: 'call', call: callId(id) })),
  calls: made.map(([id, name, args = '{}']) => ({ id: callId(id), name, args, providerId: '' })),
})

const says = (text: string): Message => ({ role: 'assistant', parts: [{ type: 'text', text }], calls: [] })

const result = (id: string, text = 'ok', name = 'refund'): Message => ({
  role: 'tool',
  call: callId(id),
  name,
  outcome: 'ok',
  content: [{ type: 'text', text }],
})

describe('the faults of a history', () => {
  it('are none where every call has its result, in order', () => {
    const history = [user('go'), calls(['a', 'x'], ['b', 'x']), result('a'), result('b'), says('done'), user('more')]
    expect(faultsOf(history)).toEqual([])
  })

  it.each<readonly [fault: string, history: readonly Message[]]>([
    ['no result of a', [user('go'), calls(['a', 'x']), user('more')]],
    ['no result of b', [user('go'), calls(['a', 'x'], ['b', 'x']), result('a')]],
    ['the result of b before that of a', [user('go'), calls(['a', 'x'], ['b', 'x']), result('b'), result('a')]],
    ['two results of a', [user('go'), calls(['a', 'x']), result('a'), result('a')]],
    ['a result of z, which nobody called', [user('go'), result('z')]],
    ['a late result of a', [user('go'), calls(['a', 'x']), user('more'), result('a')]],
    ['the call a twice', [user('go'), calls(['a', 'x']), result('a'), calls(['a', 'x']), result('a')]],
    ['arguments of a that are no object', [user('go'), calls(['a', 'x', '{"cut":']), result('a')]],
    ['an empty reply', [user('go'), says('')]],
    ['an empty message of the user', [user('')]],
    ['the assistant speaks first', [says('hello')]],
  ])('%s', (fault, history) => {
    expect(faultsOf(history)).toContain(fault)
  })

  it('the model is told in words: an outcome kind that it never sees does not count', () => {
    const history = [user('go'), calls(['a', 'x'], ['b', 'x']), result('a', 'Outcome unknown: …'), result('b', 'ok')]
    expect(toldUnknown(history)).toEqual(['a'])
  })
})

describe('the verdict on a session that was killed', () => {
  const refund = { order: 'A', amount: 10, key: 'k' }
  const whole: Killed = {
    at: 'anywhere',
    owed: ['t1s1c1'],
    told: ['t1s1c1'],
    faults: [],
    paid: [refund],
    rest: { turns: ['completed'], entered: 1 },
    approval: { early: [], askedAgain: [], onceMore: ['rejected'] },
  }

  it('is nothing where one refund was made and the model was told of what nobody knew', () => {
    expect(judge(whole)).toEqual({})
  })

  it.each<readonly [count: string, planted: Partial<Killed>]>([
    ['doubled', { paid: [refund, refund], approval: { early: [], askedAgain: [], onceMore: [] } }],
    ['doubled', { rest: { turns: ['completed', 'completed'], entered: 2 } }],
    ['lost', { rest: { turns: ['completed'], entered: 0 } }],
    ['lost', { paid: [] }],
    ['lost', { rest: { turns: ['error'], entered: 1 } }],
    ['untold', { told: [] }],
    ['untold', { owed: [] }],
    ['invalid', { faults: ['no result of a'] }],
    ['approval', { approval: { early: [refund], askedAgain: [], onceMore: [] } }],
    ['approval', { approval: { early: [], askedAgain: ['t1s1c1'], onceMore: [] } }],
    ['approval', { approval: { early: [], askedAgain: [], onceMore: ['entered'] } }],
    ['approval', { paid: [refund, refund] }],
  ])('is %s for %j', (count, planted) => {
    const killed = { ...whole, ...planted }
    expect(judge(killed)).toHaveProperty(count)
    expect(sum([whole, killed]).wrong.join()).toContain(`${count}: killed anywhere`)
  })

  it('adds up', () => {
    const untold = { ...whole, told: [] }
    const clean = { ...whole, owed: [], told: [] }
    expect(sum([whole, untold, clean, { ...clean, paid: [refund, refund] }]).counts).toEqual({
      doubled: 1,
      lost: 0,
      toldUnknown: 1,
      unknownOwed: 2,
      invalid: 0,
    })
  })
})

describe('the verdict on a steer', () => {
  const steered: Steered = { requests: 1, wasBusy: true, counts: [0, 1, 1], faults: [], end: 'completed' }

  it.each<readonly [verdict: RegExp, planted: Partial<Steered>]>([
    [/^$/, {}],
    [/^in none of 3/, { counts: [0, 0, 0] }],
    [/^in request 3/, { counts: [0, 0, 1] }],
    [/^$/, { counts: [0, 0, 1], wasBusy: false }],
    [/^in request 4/, { counts: [0, 0, 0, 1], wasBusy: false }],
    [/^not once/, { counts: [0, 2, 2] }],
    [/^not once/, { counts: [0, 1, 0] }],
    [/^its turn ended aborted/, { end: 'aborted' }],
  ])('is %s for %j', (verdict, planted) => {
    expect(judgeSteer({ ...steered, ...planted })).toMatch(verdict)
  })
})

describe('the stand-in of the model', () => {
  const ask = user('refund order A1')
  const next = (...history: readonly Message[]): string => {
    const said = refundOnce([ask, ...history])
    return said.calls?.map((one) => one.name).join() ?? said.text ?? ''
  }
  const first = calls(['a', 'refund'])
  const UNKNOWN = result('a', 'Outcome unknown: the process died.')

  it('believes what it reads, and nothing else', () => {
    expect(refundOnce([user('hello')])).toEqual({ text: 'What should I do?' })
    expect(next()).toBe('refund')
    expect(next(first, result('a', 'refunded A1'))).toBe('note')
    expect(next(first, result('a', 'The call was stopped.'))).toBe('refund')
    expect(next(first, UNKNOWN)).toBe('check')
  })

  it('looks up what is unknown, once for each refund, and pays again only if there is none', () => {
    const check = calls(['b', 'check'])
    expect(next(first, UNKNOWN, check, result('b', 'found', 'check'))).toBe('note')
    const again = [first, UNKNOWN, check, result('b', 'no refund of it', 'check')]
    expect(next(...again)).toBe('refund')
    expect(next(...again, calls(['c', 'refund']), result('c', 'Outcome unknown: …'))).toBe('check')
    expect(next(...again, calls(['c', 'refund']), result('c', 'refunded A1'), result('d', 'noted', 'note'))).toBe(
      'Done.',
    )
  })
})

describe('the report', () => {
  it('adds the scenarios up, and says null of what was not run', () => {
    const refund = { counts: { kills: 3, doubled: 1, invalid: 0 } }
    const approve = { counts: { kills: 2, doubled: 0, approvalsWrong: 0 } }
    expect(total([refund, approve])).toMatchObject({
      kills: 5,
      doubled: 1,
      invalid: 0,
      approvalsWrong: 0,
      lost: null,
      steersLate: null,
    })
  })

  it('shows what is wrong below its scenario', () => {
    const text = table(
      new Map([
        ['refund', { counts: { kills: 3 }, seen: '3 kills', wrong: ['paid twice'] }],
        ['steer', { counts: { steersLate: 0 }, seen: '60 steers', wrong: [] }],
      ]),
    )
    expect(text.split('\n')).toEqual([
      'WRONG refund     3 kills',
      '      paid twice',
      'ok    steer      60 steers',
      '',
      'kills 3 · steersLate 0',
    ])
  })
})

describe('the options', () => {
  it('have defaults', () => {
    expect(readOptions([])).toMatchObject({ kills: 100, seed: 1, jobs: 2, json: false, effect: 'write' })
    expect(readOptions([]).scenarios).toHaveLength(8)
    expect(readOptions(['steer', '--kills', '7', '--json'])).toMatchObject({
      scenarios: ['steer'],
      kills: 7,
      json: true,
    })
  })

  it.each([
    [['kills'], /scenario is "kills"; give one of dangling, refund/],
    [['--kills', 'many'], /--kills is "many"; give a whole number from 1 up/],
    [['--effect', 'none'], /--effect is "none"; give one of read/],
    [['--kill', '7'], /Unknown option '--kill'/],
  ])('refuse %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message)
  })
})
