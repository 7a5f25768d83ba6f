import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { id, log, type Log } from '../../test/kit/log.ts'
import type { Draft, Event } from '../kernel/events.ts'
import { callId, sessionId } from '../kernel/ids.ts'
import type { Ask } from '../runtime/session.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { countAsks, showAsks } from './asks.ts'
import { Cli } from './cli.ts'
import type { Io } from './io.ts'
import { Output } from './output.ts'

const ASK: Ask = {
  call: callId('t1s1c1'),
  kind: 'approval',
  tool: 'shell',
  args: { command: 'ls' },
  reason: 'it may change things',
  argsHash: 'h',
  expiresAt: null,
}

function shown(...asks: readonly Partial<Ask>[]): string {
  const stderr = new PassThrough()
  const io = { stdout: new PassThrough(), stderr, env: () => undefined } as unknown as Io
  showAsks(
    new Cli(io, new Output(io, { json: false, quiet: false }), 'en', true),
    asks.map((ask) => ({ ...ASK, ...ask })),
  )
  return String(stderr.read())
}

describe('the number of open questions', () => {
  async function countOf(build: (log: Log) => Log): Promise<number | null> {
    const store = memoryStore({ clock: new FakeClock() })
    const session = sessionId('s')
    await store.create(session)
    const lease = await store.acquire(session, { owner: 'me', ttlMs: 1_000 })
    if (lease.kind !== 'acquired') throw new Error(lease.kind)
    const { events } = build(log())
    await store.append({ session, fence: lease.fence, tail: 0, events, consume: [] })
    return countAsks(store, session, events.length)
  }
  const asked = (name: string): Draft => ({ type: 'call.approval-asked', call: id(name), argsHash: 'h', reason: 'why' })

  it('is none of a session that rests between turns, and of one that has nothing in it', async () => {
    expect(await countOf((empty) => empty)).toBe(0)
    expect(await countOf((empty) => empty.open())).toBe(0)
    expect(await countOf((empty) => empty.asked().said('done').stepEnded().turnEnded())).toBe(0)
  })

  it('A4: counts what is asked and what is deferred, also while other calls run', async () => {
    const calls = [{ effect: 'read' }, { effect: 'read' }, { effect: 'read' }] as const
    expect(
      await countOf((empty) =>
        empty
          .asked()
          .calls(...calls)
          .add(asked('t1s1c1'))
          .started('t1s1c2')
          .started('t1s1c3')
          .add({ type: 'call.deferred', call: id('t1s1c3'), what: 'a parcel' }),
      ),
    ).toBe(2)
  })

  it('L5: is not known where the log cannot be read', async () => {
    expect(
      await countOf((whole) => {
        whole.asked().calls({}).add(asked('t1s1c1'))
        whole.events[2] = { ...whole.events[2]!, type: 'step.ended' } as Event
        return whole
      }),
    ).toBeNull()
  })
})

describe('A2: a question', () => {
  it('shows the call, its arguments as JSON, and why it is asked', () => {
    expect(shown({}, { tool: 'pay', args: { to: 'Ada', sum: 2 }, call: callId('t1s1c2') })).toBe(
      'it waits for 2 answers:\n' +
        '[1] shell "ls" (t1s1c1)\n    it may change things\n' +
        '[2] pay {"to":"Ada","sum":2} (t1s1c2)\n    it may change things\n',
    )
    expect(shown({ args: {}, reason: '' })).toBe('it waits for one answer:\n[1] shell  (t1s1c1)\n')
  })

  it('has nothing in its arguments that is not seen, and all that is there', () => {
    const command = `echo safe \u202E; mr-\u2066\u200B\u2028 "x"  \x1B[2J${' '.repeat(300)}&& rm`
    expect(shown({ args: { command } })).toContain(
      `[1] shell "echo safe \\u{202E}; mr-\\u{2066}\\u{200B}\\u{2028} \\"x\\"  \\u001b[2J${' '.repeat(300)}&& rm" (t1s1c1)\n`,
    )
  })

  it('is one question, whatever its tool and its reason say', () => {
    const forged = 'Question?\n\n[2] shell "ls" (t1s1c9)\r\u202Efake'
    for (const kind of ['approval', 'deferred', 'step-limit'] as const) {
      const lines = shown({ kind, reason: forged, tool: 'a\n[3] b' }).trimEnd().split('\n')
      expect(lines.filter((line) => /^\s*\[\d/.test(line))).toHaveLength(1)
      expect(lines.slice(-3)).toEqual([
        '    │ ',
        '    │ [2] shell "ls" (t1s1c9)',
        expect.stringContaining('    │ \\u{202E}fake'),
      ])
    }
  })
})
