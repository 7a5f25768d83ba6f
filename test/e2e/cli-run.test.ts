import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Desk, eventTypes, only } from './cli.case.ts'

const SLOW = { timeout: 90_000 }
let desk: Desk
beforeAll(() => {
  desk = new Desk()
  desk.script()
})
afterAll(() => desk.remove())

describe('help and usage', SLOW, () => {
  it('prints help and version on stdout, and loads nothing heavy for it', async () => {
    const help = await desk.run(['--help'])
    expect(help).toMatchObject({ code: 0, err: '' })
    for (const word of ['run', 'steer', 'approve', 'session', 'verify', 'doctor', 'Exit codes:', '75'])
      expect(help.out).toContain(word)
    expect(await desk.run(['run', '--help'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('--resume'),
    })
    expect(await desk.run(['help', 'steer'])).toMatchObject({ code: 0, out: expect.stringContaining('--now') })
    expect((await desk.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(await desk.run([])).toMatchObject({ code: 0, out: help.out })
    expect(existsSync(desk.path('home'))).toBe(false)
    await desk.run(['--help'], { env: { NODE_V8_COVERAGE: desk.path('loaded') } })
    const loaded = readdirSync(desk.path('loaded')).flatMap((name) => urlsIn(desk.read(`loaded/${name}`)))
    expect(loaded.join()).toContain('cli/bin.js')
    for (const heavy of ['undici', 'ajv', 'libsql', 'core.js', 'sqlite.js', 'chat-line.js', 'tool-bodies.js'])
      expect(loaded.join()).not.toContain(heavy)
  })

  it('speaks Chinese where the locale is Chinese, and keeps the codes', async () => {
    const zh = { env: { LC_ALL: 'zh_CN.UTF-8' } }
    expect((await desk.run(['--help'], zh)).out).toContain('退出码')
    expect((await desk.run(['run', '--help', '--lang', 'zh'])).out).toContain('用法：')
    const missing = await desk.run(['steer', '-s', 'nobody', '快一点'], zh)
    expect(missing).toMatchObject({ code: 2, out: '' })
    expect(missing.err).toContain('错误 [session-missing]')
    expect(missing.err).toContain('没有这个会话')
    expect(await desk.run(['--help'], { env: { LC_ALL: 'zh_CN.UTF-8', TURNSTEP_LANG: 'en' } })).toMatchObject({
      out: expect.stringContaining('Exit codes:'),
    })
  })

  it.each([
    [['nope'], 'unknown command'],
    [['run', '--nope', 'x'], 'unknown option'],
    [['run', 'a', 'b'], 'too many arguments'],
    [['run'], 'say what to do'],
    [['run', '--resume', 'x'], 'exclude each other'],
    [['run', '-s', 'a', '-c', 'x'], 'exclude each other'],
    [['run', '-s', '../up', 'x'], 'no session name'],
    [['run', '--max-steps', 'many', 'x'], '"many"'],
    [['run', '--cwd', 'nowhere', 'x'], 'nowhere'],
    [['run', '--lang', 'tlh', 'x'], '"tlh"'],
    [['run', '', '-s', 'a'], 'say what to do'],
    [['steer'], 'missing required argument'],
    [['session'], 'name a command'],
    [['abort', '--pending', 'burn', '-s', 'a'], 'burn'],
    [['session', 'ls', '-n', '0'], '"0"'],
  ])('%j exits 2 and names the value', async (args, says) => {
    const ended = await desk.run(args)
    expect(ended).toMatchObject({ code: 2, out: '' })
    expect(ended.err).toContain(says)
    expect(ended.err).not.toContain('    at ')
  })
})

describe('run', SLOW, () => {
  it('prints the answer alone on stdout, and goes on in the same session', async () => {
    const first = await desk.run(['run', '-s', 'trip', 'hello'])
    expect(first).toMatchObject({ code: 0, out: 'asked: hello\n' })
    expect(first.err).toContain('session trip')
    expect(await desk.run(['run', '-c', 'again', '-q'])).toMatchObject({ code: 0, out: 'asked: again\n', err: '' })
    const { lines } = await desk.json(['session', 'show', 'trip'])
    expect(eventTypes(lines).filter((type) => type === 'turn.ended')).toHaveLength(2)
    expect(await desk.run(['run', '-', '-q'], { input: 'from a pipe\n' })).toMatchObject({
      out: 'asked: from a pipe\n\n',
    })
  })

  it('--json prints one object per line, the session first, the result last', async () => {
    const { code, lines, err } = await desk.json(['run', '-s', 'lines', 'hello'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(lines[0]).toEqual({ v: 1, type: 'session', session: 'lines', model: 'scripted/script' })
    expect(lines.every((line) => line.v === 1)).toBe(true)
    expect(eventTypes(lines)).toEqual(expect.arrayContaining(['session.created', 'input.entered', 'turn.ended']))
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      session: 'lines',
      status: 'idle',
      outcome: { kind: 'completed' },
      text: 'asked: hello',
      exit: 0,
    })
  })

  it('without a key it works on the built-in script and says so in one line', async () => {
    const bare = new Desk()
    try {
      bare.write('notes.txt', 'x')
      const first = await bare.run(['run', '-s', 'a', 'what is here?'])
      expect(first.code).toBe(0)
      expect(first.out).toContain('built-in script')
      expect(first.out).toContain('what is here?')
      expect(first.out).toContain('notes.txt')
      expect(first.err.match(/no key found.*DEEPSEEK_API_KEY/g)).toHaveLength(1)
      expect((await bare.run(['run', '-s', 'a', 'and now?'])).out).toContain('"and now?"')
      const asked = await bare.run(['run', '-s', 'a', 'run `echo $((40 + 2))`'])
      expect(asked).toMatchObject({ code: 6, out: '' })
      expect(asked.err).toContain('echo $((40 + 2))')
      expect(await bare.run(['run', '-s', 'b', 'run `echo $((40 + 2))`', '--yes'])).toMatchObject({
        code: 0,
        out: expect.stringContaining('  42\n'),
      })
    } finally {
      await bare.remove()
    }
  })

  it('stops quietly when its reader goes away', async () => {
    await desk.run(['run', '-s', 'pipe', 'hello'])
    const run = desk.start(['session', 'tail', '-f', '-n', '1', 'pipe'])
    await run.untilSaid(/turn\.ended/)
    run.child.stdout!.destroy()
    await desk.run(['send', '-s', 'pipe', 'more'])
    await desk.run(['run', '-s', 'pipe', '--resume'])
    expect(await run.ended).toMatchObject({ code: 141, err: '' })
  })
})

describe('exit codes', SLOW, () => {
  it.each([
    [1, ['refuse'], 'the model refused'],
    [4, ['broken'], '(invalid-request)'],
    [3, ['denied'], '(auth)'],
    [5, ['loop', '--max-steps', '2'], 'stopped at 2 steps'],
    [6, ['pay'], 'it costs money'],
  ])('%i for %j', async (code, args, says) => {
    const ended = await desk.run(['run', ...args])
    expect({ code: ended.code, err: ended.err }).toMatchObject({ code, err: expect.stringContaining(says) })
    expect(await desk.json(['run', ...args])).toMatchObject({
      code,
      lines: expect.arrayContaining([expect.objectContaining({ type: 'result', exit: code })]),
    })
  })

  it('3 for a model without its key, for one that is unknown, and for a key without a model', async () => {
    const noKey = await desk.run(['run', '-m', 'deepseek/deepseek-chat', 'x'])
    expect(noKey).toMatchObject({ code: 3, err: expect.stringContaining('DEEPSEEK_API_KEY') })
    const unknown = await desk.json(['run', '-m', 'nobody/x', 'x'])
    expect(unknown).toMatchObject({ code: 3, lines: [{ type: 'error', code: 'model-unknown', exit: 3 }] })
    const bare = new Desk()
    try {
      const unnamed = await bare.run(['run', 'x'], { env: { OPENAI_API_KEY: 'sk-secret' } })
      expect(unnamed).toMatchObject({ code: 3, err: expect.stringContaining('-m openai/MODEL') })
      expect(unnamed.err).not.toContain('sk-secret')
    } finally {
      await bare.remove()
    }
  })

  it('3 for a wrong key, which is never shown; the message stays in the log', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'Authentication Fails, your api key: sk-wrong is invalid' } }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const keyed = { env: { DEEPSEEK_API_KEY: 'sk-wrong', DEEPSEEK_BASE_URL: `http://127.0.0.1:${port}` } }
      const ended = await desk.run(['run', '-s', 'key', '-m', 'deepseek/deepseek-chat', 'remember me'], keyed)
      expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('(auth)') })
      expect(ended.out + ended.err).not.toContain('sk-wrong')
      expect((await desk.run(['session', 'show', 'key'])).out).toContain('remember me')
    } finally {
      server.close()
    }
  })

  it('4 for an endpoint that cannot be reached, after a finite number of tries', async () => {
    const ended = await desk.run(['run', '-m', 'vllm/x', 'x'], { env: { VLLM_BASE_URL: 'http://127.0.0.1:9/v1' } })
    expect(ended.code).toBe(4)
    expect(ended.err.match(/Attempt \d/g)).toEqual(['Attempt 2', 'Attempt 3', 'Attempt 4'])
    expect(ended.err).toContain('127.0.0.1:9')
  })
})

describe('config file', SLOW, () => {
  const configs: readonly (readonly [file: string, text: string, says: string])[] = [
    ['turnstep.config.json', '{ "modle": "x/y" }', '"modle"'],
    ['turnstep.config.json', '{ "limits": { "steps": 0 } }', '`limits.steps` is 0'],
    ['turnstep.config.json', '{ "lang": "fr" }', '`lang` is "fr"'],
    ['turnstep.config.json', '{ "model"', 'turnstep.config.json'],
    ['turnstep.config.mjs', 'export default 7', 'must export an object'],
    ['turnstep.config.mjs', 'import "./nowhere.mjs"', 'nowhere.mjs'],
  ]
  it.each(configs)('%s: %s exits 3 and names what is wrong', async (file, text, says) => {
    const own = new Desk()
    try {
      own.write(file, text)
      const ended = await own.run(['run', 'x'])
      expect(ended).toMatchObject({ code: 3, out: '' })
      expect(ended.err).toContain('[config-invalid]')
      expect(ended.err).toContain(says)
      expect(existsSync(own.path('home'))).toBe(false)
    } finally {
      await own.remove()
    }
  })

  it('yields to the environment, which yields to flags', async () => {
    const own = new Desk()
    try {
      own.write('turnstep.config.json', '{ "model": "nobody/config", "lang": "zh" }')
      expect((await own.run(['run', 'x'])).err).toContain('nobody')
      expect((await own.run(['run', 'x'])).err).toContain('错误')
      expect((await own.run(['run', 'x'], { env: { TURNSTEP_MODEL: 'else/env' } })).err).toContain('"else"')
      const flag = await own.run(['run', '-m', 'third/flag', '--lang', 'en', 'x'], {
        env: { TURNSTEP_MODEL: 'else/env' },
      })
      expect(flag.err).toContain('error [model-unknown] no provider "third"')
    } finally {
      await own.remove()
    }
  })

  it('two of them, or TypeScript where Node cannot run it, are refused', async () => {
    const own = new Desk()
    try {
      own.write('turnstep.config.ts', 'const model: string = "nobody/typed"\nexport default { model }\n')
      const ended = await own.run(['run', 'x'])
      expect(ended.code).toBe(3)
      const isNative = Boolean((process.features as { readonly typescript?: unknown }).typescript)
      expect(ended.err).toContain(isNative ? '"nobody"' : 'cannot run TypeScript')
      own.write('turnstep.config.json', '{}')
      expect(await own.run(['run', 'x'])).toMatchObject({ code: 3, err: expect.stringContaining('two config files') })
    } finally {
      await own.remove()
    }
  })
})

describe('signals', SLOW, () => {
  it('one Ctrl-C aborts the turn and keeps the queue; the exit code is 130', async () => {
    const run = desk.start(['run', '-s', 'int', 'hold'])
    await desk.untilHeld()
    await desk.run(['send', '-s', 'int', 'later'])
    run.child.kill('SIGINT')
    expect(await run.ended).toMatchObject({ code: 130, out: '' })
    const { lines } = await desk.json(['session', 'show', 'int'])
    expect(only(lines, 'event').at(-1)).toMatchObject({ event: { type: 'turn.ended', outcome: { kind: 'aborted' } } })
    expect(only(lines, 'status')).toMatchObject([{ status: 'held' }])
    expect(await desk.run(['run', '-s', 'int', '--resume', '-q'])).toMatchObject({ code: 0, out: 'asked: later\n' })
  })

  it('a second Ctrl-C leaves at once; the abort is a fact by then, and the next process carries it out', async () => {
    const own = new Desk()
    try {
      own.script()
      const run = own.start(['run', '-s', 'twice', 'deaf'])
      await own.untilHeld()
      run.child.kill('SIGINT')
      await run.untilSaid(/stopping the turn/)
      const tail = own.start(['session', 'tail', '-f', 'twice'])
      await tail.untilSaid(/turn\.abort-asked/)
      run.child.kill('SIGINT')
      expect((await run.ended).code).toBe(130)
      expect(tail.out).not.toContain('turn.ended')
      const resumed = await own.run(['run', '-s', 'twice', '--resume'])
      expect(resumed).toMatchObject({ code: 1, err: expect.stringContaining('aborted: Ctrl-C') })
    } finally {
      await own.remove()
    }
  })

  it('W5: a SIGTERM parks the turn, and --resume goes on with it; the exit code is 143', async () => {
    const own = new Desk()
    try {
      own.script()
      const run = own.start(['run', '-s', 'term', 'look'])
      await own.untilHeld()
      run.child.kill('SIGTERM')
      await run.untilSaid(/parked/)
      own.letGo()
      expect(await run.ended).toMatchObject({ code: 143, out: '' })
      const resumed = await own.run(['run', '-s', 'term', '--resume', '-q'])
      expect(resumed).toMatchObject({ code: 0, out: 'asked: look\nlook ok: held and let go\n' })
    } finally {
      await own.remove()
    }
  })
})

/** The files that a report on coverage speaks of. */
function urlsIn(report: string): string[] {
  const { result } = JSON.parse(report) as { readonly result: readonly { readonly url: string }[] }
  return result.map(({ url }) => url)
}
