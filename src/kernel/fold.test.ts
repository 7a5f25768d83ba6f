import { describe, expect, it } from 'vitest'
import { id, log, text } from '../../test/kit/log.ts'
import { noUsage } from './failure.ts'
import { inputId } from './ids.ts'
import { SETTLED_MAX, STRAGGLERS_MAX, grantKey } from './state.ts'

const USAGE = { known: true, input: 10, cacheRead: 4, cacheWrite: 0, output: 3, reasoning: 1 }

describe('a turn', () => {
  it('T3: the first cut decides; no later step mends it', () => {
    const session = log()
      .asked()
      .said('half', { finish: 'context-limit' })
      .stepEnded()
      .step()
      .requested()
      .said('half', { finish: 'max-tokens' })
      .stepEnded()
    expect(session.state.turn!.sticky).toEqual({ kind: 'max-tokens', limit: 'context' })
  })

  it('T2: a refusal, an unknown stop and a refused step decide its end', () => {
    const ending = (finish: 'refused' | 'unknown-stop'): unknown =>
      log().asked().said('well', { finish, rawFinish: 'odd' }).state.turn!.ending
    expect(ending('refused')).toEqual({ kind: 'refused', reason: 'odd' })
    expect(ending('unknown-stop')).toMatchObject({ kind: 'error', failure: { kind: 'unknown-stop' } })
    expect(log().open().turn().add({ type: 'step.refused', reason: 'no' }).state.turn!.ending).toEqual({
      kind: 'blocked',
      reason: 'no',
    })
  })

  it('T4, case 041: a failed or lost summary call at the limit ends it step-limit', () => {
    const atLimit = (): ReturnType<typeof log> =>
      log().open().turn({ steps: 1 }).entered('go').worked({}).step('limit').requested()
    const lost = atLimit().add({
      type: 'reply.interrupted',
      attempt: 1,
      reason: 'crashed',
      text: '',
      usage: noUsage,
      retryAt: null,
    })
    expect(atLimit().failed(null).state.turn!.ending).toMatchObject({
      kind: 'step-limit',
      how: 'error',
      failure: { kind: 'server' },
    })
    expect(lost.state.turn!.ending).toMatchObject({
      kind: 'step-limit',
      how: 'error',
      failure: { kind: 'interrupted' },
    })
  })

  it('I11: any end but a good one holds the queue; a resume, and the next turn, lift it', () => {
    const ended = log().open().turn().turnEnded({ kind: 'blocked', reason: 'r' })
    expect(ended.state.held).toEqual({ seq: ended.state.seq })
    expect(ended.add({ type: 'session.resumed', input: inputId('r') }).state.held).toBeNull()
    expect(log().open().turn().turnEnded({ kind: 'blocked', reason: 'r' }).turn().state.held).toBeNull()
    expect(log().asked().said('done').stepEnded().turnEnded().state.held).toBeNull()
  })

  it('T10 I12: an attempt that gave way to a steer counts against no budget', () => {
    const superseded = { kind: 'superseded', message: '', retry: true } as const
    const session = log()
      .asked()
      .add({ type: 'model.failed', attempt: 1, failure: superseded, retryAt: 1, text: '', usage: noUsage })
    expect(session.state.step).toMatchObject({ attempts: 0, requests: 1, fatal: null })
  })

  it('T3: cuts in a row are counted, and a good step starts over', () => {
    const cut = (session: ReturnType<typeof log>): ReturnType<typeof log> => {
      session.step().requested()
      session.add({ ...session.reply([{}]), finish: 'max-tokens' } as never)
      const call = session.state.step!.calls[0]!.record.id
      return session.ended(call, { kind: 'not-started', reason: 'output-limit' }).stepEnded()
    }
    const session = cut(cut(log().open().turn({ steps: 9 }).entered('go')))
    expect(session.state.turn!.cuts).toBe(2)
    expect(session.worked({}).state.turn!.cuts).toBe(0)
  })

  it('T6: ends stuck once the guard says so', () => {
    const session = log()
      .asked()
      .calls({})
      .ended('t1s1c1', { kind: 'intercepted', by: 'loop-guard', message: '', stuck: true, times: 5 })
    expect(session.state.turn!.ending).toEqual({ kind: 'stuck', tool: 'tool', times: 5 })
  })
})

describe('usage', () => {
  it('B1, case 071: adds over attempts, failed ones included, per turn and per session', () => {
    const failure = { kind: 'server', message: '', retry: true } as const
    const session = log()
      .asked()
      .add({ type: 'model.failed', attempt: 1, failure, retryAt: 1, text: '', usage: USAGE })
      .requested()
      .said('ok', { usage: { ...USAGE, known: false } })
    const sum = { known: false, input: 20, cacheRead: 8, cacheWrite: 0, output: 6, reasoning: 2 }
    expect([session.state.turn!.usage, session.state.usage]).toEqual([sum, sum])
    expect(session.stepEnded().turnEnded().turn().state.turn!.usage).toEqual(noUsage)
  })
})

describe('what a state remembers', () => {
  it('I1 L3: the last settled inputs, and no more', () => {
    const session = log().open()
    for (let count = 0; count < SETTLED_MAX + 3; count++)
      session.add({ type: 'input.rejected', input: inputId(`i${count}`), lane: 'control', reason: 'stale' })
    expect([
      session.state.settled.size,
      session.state.settled.has(inputId('i2')),
      session.state.settled.has(inputId('i3')),
    ]).toEqual([SETTLED_MAX, false, true])
  })

  it('C5 L3: the last stragglers, and no more', () => {
    const session = log().open().turn({ steps: 1_000 }).entered('go')
    for (let count = 0; count < STRAGGLERS_MAX + 2; count++) {
      session.step().requested().calls({})
      const call = session.state.step!.calls[0]!.record.id
      session.started(call).ended(call, { kind: 'timeout', afterMs: 1 }).stepEnded()
    }
    expect([
      session.state.stragglers.size,
      session.state.stragglers.has(id('t1s2c1')),
      session.state.stragglers.has(id('t1s3c1')),
    ]).toEqual([STRAGGLERS_MAX, false, true])
  })

  it('L5 I2: inputs that damage made pending again may enter again', () => {
    const session = log().open().turn().entered('a').aborted().turnEnded({ kind: 'aborted', reason: 'stop' })
    session.add({
      type: 'log.damaged',
      from: 4,
      reason: 'r',
      quarantined: 1,
      reopened: [inputId('a')],
      content: text('lost'),
    })
    expect(session.turn().entered('a').state.turn!.entered).toBe(1)
  })

  it('A2: a grant, for that tool asking that question', () => {
    const session = log()
      .asked()
      .calls({ name: 'pay', effect: 'write' })
      .add({ type: 'call.approval-asked', call: id('t1s1c1'), argsHash: 'h', reason: 'r' })
    session.add({
      type: 'call.approval-decided',
      call: id('t1s1c1'),
      decision: 'allow',
      by: { kind: 'user' },
      grant: 'session',
      input: inputId('yes'),
    })
    expect([...session.state.grants]).toEqual([grantKey('pay', 'r')])
  })

  it('A2 C3: the arguments that were asked about, until others are started with', () => {
    const session = log()
      .asked()
      .calls({ effect: 'write' })
      .add({ type: 'call.approval-asked', call: id('t1s1c1'), argsHash: 'h', reason: 'r', args: { a: 1 } })
    session
      .add({
        type: 'call.approval-decided',
        call: id('t1s1c1'),
        decision: 'allow',
        by: { kind: 'user' },
        grant: 'once',
        input: inputId('yes'),
      })
      .started('t1s1c1')
    expect(session.state.step!.calls[0]!.args).toEqual({ a: 1 })
  })
})
