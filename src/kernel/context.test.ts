import { describe, expect, it } from 'vitest'
import { messageLine } from '../../test/kit/message-line.ts'
import { entered, id, log, text, type Log } from '../../test/kit/log.ts'
import { isBlankArgs, sizeOf } from './context.ts'
import type { Draft } from './events.ts'
import { noUsage } from './failure.ts'
import { inputId } from './ids.ts'

const lines = ({ state }: Log): string[] => state.context.map(messageLine)
const LONG = 'a long story '.repeat(10)

describe('a finished step', () => {
  it('C2, case 007: shows the results in request order, directly after the reply, however they came in', () => {
    const session = log().asked().calls({ name: 'a' }, { name: 'b' }, { name: 'c' })
    session.started('t1s1c1').started('t1s1c2').started('t1s1c3')
    session
      .ended('t1s1c3', { kind: 'ok' }, '3')
      .ended('t1s1c1', { kind: 'ok' }, '1')
      .ended('t1s1c2', { kind: 'ok' }, '2')
      .stepEnded()
    expect(lines(session)).toEqual([
      'user "go"',
      'assistant "" a({}) b({}) c({})',
      'tool t1s1c1 ok "1"',
      'tool t1s1c2 ok "2"',
      'tool t1s1c3 ok "3"',
    ])
  })

  it('I4: shows nothing before it ended', () => {
    expect(lines(log().asked().calls({}).ran('t1s1c1'))).toEqual(['user "go"'])
  })

  it('T10: leaves nothing if no attempt of it was answered', () => {
    expect(lines(log().asked().failed(null).stepEnded())).toEqual(['user "go"'])
  })

  it('T9: leaves nothing if the model neither spoke nor called, whatever it thought', () => {
    const session = log().asked()
    session
      .add({ ...session.reply([]), finish: 'max-tokens', parts: [{ type: 'reasoning', text: 'hm' }] } as never)
      .stepEnded()
    expect(lines(session)).toEqual(['user "go"'])
  })

  it('C8, cases 046, 079: shows unreadable and blank arguments as none; the log has the very text', () => {
    const session = log().asked()
    const asked = session.reply([{ broken: true }, {}])
    const calls = [asked.calls[0]!, { ...asked.calls[1]!, rawArgs: ' \n' }]
    session
      .add({ ...asked, calls } as never)
      .ended('t1s1c1', { kind: 'invalid', problem: 'json', message: '' })
      .ran('t1s1c2')
      .stepEnded()
    expect(
      session.state.context.find((message) => message.role === 'assistant')?.calls.map((call) => call.args),
    ).toEqual(['{}', '{}'])
  })

  it('C1: shows no inner calls: those are the business of the call that made them', () => {
    const session = log().asked().calls({}).started('t1s1c1')
    session.add({
      type: 'call.requested',
      call: { ...session.state.step!.calls[0]!.record, id: id('t1s1c1.1') },
      parent: id('t1s1c1'),
    })
    session.ran('t1s1c1.1').ended('t1s1c1').stepEnded()
    expect(lines(session)).toEqual(['user "go"', 'assistant "" tool({})', 'tool t1s1c1 ok "result"'])
  })

  it.each(['', ' ', '\n', 'null', ' null '])('C8: %j is blank', (raw) => expect(isBlankArgs(raw)).toBe(true))
  it.each(['{}', '0', '""', 'nul'])('C8: %j is not', (raw) => expect(isBlankArgs(raw)).toBe(false))
})

describe('what waits for a gate', () => {
  it('C5 I4: a late outcome never comes between a call and its result', () => {
    const session = log()
      .asked()
      .calls({ effect: 'write' })
      .started('t1s1c1')
      .ended('t1s1c1', { kind: 'timeout', afterMs: 1 }, 'timeout')
      .stepEnded()
    session.step().requested().calls({ name: 'b' }).started('t1s2c1')
    session.add({
      type: 'call.ended-late',
      call: id('t1s1c1'),
      outcome: { kind: 'ok' },
      content: text('it happened'),
      input: inputId('late'),
    })
    session.ended('t1s2c1').stepEnded()
    expect(lines(session)).not.toContain('user "it happened"')
    session.step()
    expect(lines(session).slice(-2)).toEqual(['tool t1s2c1 ok "result"', 'user "it happened"'])
  })

  it('C5: enters before the inputs of the same gate', () => {
    const session = log()
      .asked()
      .calls({ effect: 'write' })
      .started('t1s1c1')
      .ended('t1s1c1', { kind: 'timeout', afterMs: 1 })
      .stepEnded()
    session.add({
      type: 'call.ended-late',
      call: id('t1s1c1'),
      outcome: { kind: 'ok' },
      content: text('it happened'),
      input: inputId('late'),
    })
    session.entered('and now?')
    expect(lines(session).slice(-2)).toEqual(['user "it happened"', 'user "and now?"'])
  })

  it('T8: the quote of a broken reply is said in the user\u2019s role, with the next request', () => {
    const session = log().asked()
    session.add({
      type: 'reply.interrupted',
      attempt: 1,
      reason: 'crashed',
      text: 'half',
      usage: noUsage,
      retryAt: 1,
      note: text('it had begun: half'),
    })
    expect(lines(session)).toEqual(['user "go"'])
    session.requested()
    expect(lines(session)).toEqual(['user "go"', 'user "it had begun: half"'])
  })

  it('L5: damage is told to the model', () => {
    const session = log()
      .open()
      .add({ type: 'log.damaged', from: 3, reason: 'r', quarantined: 2, reopened: [], content: text('some was lost') })
    expect(lines(session.turn().entered('go'))).toEqual(['user "some was lost"', 'user "go"'])
  })
})

describe('a compaction', () => {
  const compact = (upTo: number): Draft => ({
    type: 'context.compacted',
    upTo,
    summary: text('in short'),
    usage: noUsage,
  })

  it('X3: replaces exactly the range it read', () => {
    const session = log()
      .open()
      .turn()
      .entered('go', LONG)
      .worked({ name: 'a' })
      .step()
      .requested()
      .said('done')
      .stepEnded()
      .turnEnded()
    expect(lines(session.add(compact(3)))).toEqual(['user "in short"', 'assistant "done"'])
  })

  it('X4: keeps the running turn\u2019s opening request and its steers, verbatim, behind the summary', () => {
    const session = log().open().turn().entered('go').worked({ name: LONG })
    session.add({ ...entered('only B'), lane: 'steer', origin: { kind: 'steer' } } as never).worked({ name: 'b' })
    expect(lines(session.add(compact(4))).slice(0, 3)).toEqual(['user "in short"', 'user "go"', 'user "only B"'])
  })

  it('L3: keeps the size', () => {
    const session = log()
      .open()
      .turn()
      .entered('go', LONG)
      .worked({ name: 'a' })
      .add(compact(1 + 2))
    expect(session.state.contextSize).toBe(session.state.context.reduce((size, message) => size + sizeOf(message), 0))
  })
})

describe('size', () => {
  it('counts text, names and arguments, and an image flat', () => {
    const origin = { kind: 'user' } as const
    expect(
      sizeOf({
        role: 'user',
        origin,
        content: [
          { type: 'text', text: 'abc' },
          { type: 'image', mediaType: 'image/png', data: 'x' },
        ],
      }),
    ).toBe(4_003)
    expect(
      sizeOf({
        role: 'assistant',
        parts: [{ type: 'reasoning', text: 'hm' }],
        calls: [{ id: id('t1s1c1'), name: 'look', args: '{}', providerId: 'long-id' }],
      }),
    ).toBe(8)
  })
})
