import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { callId } from '../kernel/ids.ts'
import type { Ask } from '../runtime/session.ts'
import { showAsks } from './asks.ts'
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
