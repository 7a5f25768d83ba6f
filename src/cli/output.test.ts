import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { Output, type InputLine, type OutputOptions } from './output.ts'
import type { Io } from './io.ts'

interface Terminal {
  readonly isTTY?: boolean
  readonly env?: Readonly<Record<string, string>>
}

function open({ isTTY = false, env = {} }: Terminal, options: Partial<OutputOptions> = {}) {
  const stdout = Object.assign(new PassThrough(), { isTTY })
  const stderr = Object.assign(new PassThrough(), { isTTY })
  const io = { stdout, stderr, env: (name: string) => env[name] } as unknown as Io
  const out = new Output(io, { json: false, quiet: false, ...options })
  const read = (stream: PassThrough): string => String(stream.read() ?? '')
  return { out, seen: () => ({ out: read(stdout), err: read(stderr) }) }
}

const NASTY = 'a\u001B[2Jb\u0007c\r\nd\u009Be\tf'

describe('Output', () => {
  it('writes results to stdout and the rest to stderr, without colours off a terminal', () => {
    const { out, seen } = open({})
    out.result('answer')
    out.progress('on the way')
    out.notice('code', 'mind')
    out.complain('wrong')
    out.line({ type: 'session', session: 'a' })
    expect(seen()).toEqual({ out: 'answer\n', err: 'on the way\nmind\nwrong\n' })
  })

  it('with json writes lines alone, each with the version', () => {
    const { out, seen } = open({}, { json: true })
    out.result('answer')
    out.progress('on the way')
    out.complain('wrong')
    out.notice('held', 'mind')
    out.line({ type: 'session', session: 'a' })
    expect(seen()).toEqual({
      out: '{"v":1,"type":"notice","code":"held","message":"mind"}\n{"v":1,"type":"session","session":"a"}\n',
      err: '',
    })
  })

  it('when quiet keeps results, questions and errors', () => {
    const { out, seen } = open({}, { quiet: true })
    out.result('answer')
    out.progress('on the way')
    out.notice('code', 'mind')
    out.notice('error', 'it failed', 'bad')
    out.question('may I?')
    out.complain('wrong')
    expect(seen()).toEqual({ out: 'answer\n', err: 'it failed\nmay I?\nwrong\n' })
  })

  it('takes control characters out of what is shown on a terminal, and leaves them in a file', () => {
    const terminal = open({ isTTY: true, env: { NO_COLOR: '1' } })
    terminal.out.result(NASTY)
    terminal.out.notice('code', NASTY)
    const safe = 'a\u{FFFD}[2Jb\u{FFFD}c\nd\u{FFFD}e\tf\n'
    expect(terminal.seen()).toEqual({ out: safe, err: safe })
    const file = open({})
    file.out.result(NASTY)
    expect(file.seen().out).toBe(`${NASTY}\n`)
  })

  it('colours only a terminal that has not asked for none', () => {
    const coloured = (terminal: Terminal): boolean => {
      const { out, seen } = open(terminal)
      out.notice('code', 'mind')
      return seen().err.includes('\u001B[')
    }
    expect(coloured({ isTTY: true })).toBe(true)
    expect(coloured({ isTTY: true, env: { NO_COLOR: '1' } })).toBe(false)
    expect(coloured({ isTTY: true, env: { TERM: 'dumb' } })).toBe(false)
    expect(coloured({})).toBe(false)
    expect(coloured({ env: { FORCE_COLOR: '1' } })).toBe(true)
  })

  it('ends streamed text before a line of another kind', () => {
    const { out, seen } = open({ isTTY: true, env: { NO_COLOR: '1' } })
    out.stream('half a ')
    out.stream('line')
    out.notice('code', 'mind')
    out.stream('rest\n')
    out.result('answer')
    expect(seen()).toEqual({ out: 'half a line\nrest\nanswer\n', err: 'mind\n' })
  })

  it('prints whole rows around a line that is being typed', () => {
    const { out, seen } = open({ isTTY: true, env: { NO_COLOR: '1' } })
    const moves: string[] = []
    const input: InputLine = {
      hide: () => moves.push('hide'),
      show: () => moves.push('show'),
      fullRow: (text) => (text.length < 10 ? null : text.slice(0, 9)),
    }
    out.typeBelow(input)
    out.stream('one\ntwo')
    expect(seen().out).toBe('one\n')
    out.stream(' three four')
    expect(seen().out).toBe('two three\n')
    out.result('answer')
    expect(seen().out).toBe('four\nanswer\n')
    expect(moves.join()).toBe('hide,show,hide,show,hide,show,hide,show')
  })
})
