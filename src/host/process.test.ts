import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { getEventListeners } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pause } from '../runtime/pause.ts'
import type { ProcessRequest, ProcessResult } from '../runtime/processes.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { RESULT_LIMITS, sizeOf } from '../util/cut.ts'
import { deferred } from '../util/deferred.ts'
import { nodeClock } from './node.ts'
import { runProcess } from './process.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'turnstep-process-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const isLinux = process.platform === 'linux'

function request(command: string, more: Partial<ProcessRequest> = {}): ProcessRequest {
  return {
    file: 'bash',
    args: ['-c', command],
    cwd: dir,
    clock: nodeClock,
    signal: new AbortController().signal,
    timeoutMs: 15_000,
    ...more,
  }
}

const run = (command: string, more?: Partial<ProcessRequest>): Promise<ProcessResult> =>
  runProcess(request(command, more))
const exited = (code: number) => ({ kind: 'exited', code })

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A zombie answers too, and is no life of ours.
  return !isLinux || !/^\d+ \(.*\) Z/s.test(readStat(pid))
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return `${pid} (gone) Z`
  }
}

/** Starts a program and gives it once its output has matched. */
function startUntil(command: string, seen: RegExp, more: Partial<ProcessRequest> = {}) {
  const controller = new AbortController()
  const ready = deferred<string>()
  let text = ''
  const onOutput = (piece: string): void => {
    text += piece
    if (seen.test(text)) ready.resolve(text)
  }
  return { result: run(command, { signal: controller.signal, onOutput, ...more }), ready: ready.promise, controller }
}

describe('the end of a program', () => {
  it('C10: gives the exit code and both streams', async () => {
    const { end, output, survivors, unreaped } = await run('echo out; echo err >&2; exit 3')
    expect(end).toEqual(exited(3))
    expect(output.text.split('\n').toSorted()).toEqual(['', 'err', 'out'])
    expect([survivors, unreaped]).toEqual([[], []])
  })

  it('C10: gives the signal that killed it', async () => {
    expect((await run('kill -SEGV $$')).end).toEqual({ kind: 'signalled', signal: 'SIGSEGV' })
  })

  it('a program that cannot be started is a result', async () => {
    expect((await run('', { file: 'no-such-program' })).end).toMatchObject({ kind: 'failed', code: 'ENOENT' })
    expect((await run('', { cwd: join(dir, 'nowhere') })).end).toMatchObject({ kind: 'failed', code: 'ENOENT' })
    expect((await run('a\0b')).end).toMatchObject({ kind: 'failed', code: 'ERR_INVALID_ARG_VALUE' })
  })

  it('C10: standard input is closed: a program that reads gets nothing and goes on', async () => {
    expect((await run('cat; read x; echo "got [$x]"')).output.text).toBe('got []\n')
  })

  it('runs in its own session, without a terminal, marked, and with the variables that it may have', async () => {
    const { output } = await run(
      'ps -o pid=,pgid=,sid=,tty= -p $$; env | grep -c "^TURNSTEP_CALL=."; echo "[$A][$HOME]"',
      {
        env: { A: 'set' },
        hideEnv: (name) => name === 'HOME',
      },
    )
    const [ids, marks, vars] = output.text.trim().split('\n')
    const [pid, group, session, terminal] = ids!.trim().split(/\s+/)
    expect([group, session, terminal]).toEqual([pid, pid, '?'])
    expect([marks, vars]).toEqual(['1', '[set][]'])
  })
})

describe('timeout and abort', () => {
  it('T7: an abort that came before starts nothing', async () => {
    const marker = join(dir, 'before')
    const { end } = await run(`touch ${marker}`, { signal: AbortSignal.abort() })
    expect(end).toEqual({ kind: 'aborted' })
    expect(existsSync(marker)).toBe(false)
  })

  it('case 017: an abort kills children and grandchildren, and what they were about to do is not done', async () => {
    const marker = join(dir, 'abort-marker')
    const tree = `echo $$; (sh -c 'echo $$; sleep 1; touch ${marker}' & sleep 1; touch ${marker}) & wait`
    const { result, ready, controller } = startUntil(tree, /\d+\n\d+\n/)
    const pids = (await ready).trim().split('\n').map(Number)
    controller.abort()
    const { end, unreaped } = await result
    expect([end, unreaped]).toEqual([{ kind: 'aborted' }, []])
    expect(pids.filter(isAlive)).toEqual([])
    await pause(nodeClock, 1200)
    expect(existsSync(marker)).toBe(false)
  })

  it('case 017: so does a timeout', async () => {
    const marker = join(dir, 'timeout-marker')
    const { end, output } = await run(`echo working; (sleep 1; touch ${marker}) & wait`, { timeoutMs: 300 })
    expect(end).toEqual({ kind: 'timeout', afterMs: 300 })
    expect(output.text).toBe('working\n')
    await pause(nodeClock, 1200)
    expect(existsSync(marker)).toBe(false)
  })

  it('C10: what ignores the polite stop is stopped hard after the grace, and not before', async () => {
    const { result, ready, controller } = startUntil('trap "" TERM; echo $$; while :; do sleep 0.05; done', /\n/, {
      graceMs: 400,
    })
    const pid = Number(await ready)
    const from = nodeClock.now()
    controller.abort()
    expect((await result).unreaped).toEqual([])
    expect(nodeClock.now() - from).toBeGreaterThanOrEqual(390)
    expect(isAlive(pid)).toBe(false)
  })

  it('C10: a program may clean up within the grace', async () => {
    const { result, ready, controller } = startUntil('trap "echo bye; exit 0" TERM; echo on; sleep 9 & wait', /on/)
    await ready
    controller.abort()
    const { end, output } = await result
    expect([end.kind, output.text]).toEqual(['aborted', 'on\nbye\n'])
  })

  it.runIf(isLinux)('C10: a child that made a session of its own is found and stopped', async () => {
    const command = 'setsid sh -c "echo \\$\\$; sleep 60" & setsid -f sh -c "echo \\$\\$; sleep 60"; wait'
    const { result, ready, controller } = startUntil(command, /\d+\n\d+\n/)
    const pids = (await ready).trim().split('\n').map(Number)
    expect(pids.map(isAlive)).toEqual([true, true])
    controller.abort()
    expect((await result).unreaped).toEqual([])
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  it.runIf(isLinux)('C10: a stopped process, and one with an empty environment, do not escape', async () => {
    const command = 'env -i setsid sh -c "echo \\$\\$; sleep 60" & sh -c "echo \\$\\$; kill -STOP \\$\\$" & wait'
    const { result, ready, controller } = startUntil(command, /\d+\n\d+\n/, { graceMs: 100 })
    const pids = (await ready).trim().split('\n').map(Number)
    controller.abort()
    expect((await result).unreaped).toEqual([])
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  it('C10: programs die with the process that runs them', async () => {
    const { result, ready } = startUntil('echo on; sleep 60', /on/)
    await ready
    // What this process would call at its exit.
    const atExit = process.listeners('exit').at(-1) as () => void
    atExit()
    expect((await result).end).toEqual({ kind: 'signalled', signal: 'SIGKILL' })
  })

  it("C13: the timeout is the clock's, and no timer is left behind", async () => {
    const clock = new FakeClock()
    const { result, ready } = startUntil('echo on; exec sleep 60', /on/, { clock, timeoutMs: 3_600_000 })
    await ready
    expect(clock.armed).toBe(1)
    await clock.advance(3_600_000)
    let over = false
    const done = result.finally(() => (over = true))
    for (let tries = 0; !over && tries < 1000; tries++) {
      await clock.advance(10)
      await pause(nodeClock, 2)
    }
    expect((await done).end.kind).toBe('timeout')
    expect(clock.armed).toBe(0)
  })
})

describe('survivors (case 022)', () => {
  it.each([
    ['holding both pipes', 'sleep 30 & echo done'],
    ['holding one of them', 'sleep 30 >/dev/null & echo done'],
    ['holding none', 'sleep 30 >/dev/null 2>&1 & echo done'],
  ])('case 022: a child in the background, %s, holds up nothing, is listed, and is stopped', async (_how, command) => {
    const from = nodeClock.now()
    const { end, output, survivors, unreaped } = await run(command)
    expect(nodeClock.now() - from).toBeLessThan(1000)
    expect([end, output.text, unreaped]).toEqual([exited(0), 'done\n', []])
    expect(survivors).toHaveLength(1)
    if (isLinux) expect(survivors[0]!.command).toContain('sleep 30')
    expect(isAlive(survivors[0]!.pid)).toBe(false)
  })

  it('case 022: a child that prints without end does not hold up the result either', async () => {
    const from = nodeClock.now()
    const { end, survivors } = await run('(while :; do echo x; sleep 0.01; done) & echo done')
    expect(nodeClock.now() - from).toBeLessThan(1500)
    expect([end, survivors.length]).toEqual([exited(0), expect.any(Number)])
  })

  it.runIf(isLinux)('C10: a daemon with a session of its own is listed and stopped', async () => {
    const { survivors } = await run('setsid -f sleep 31 >/dev/null 2>&1; echo done')
    expect(survivors.map(({ command }) => command)).toEqual([expect.stringMatching(/sleep 31$/)])
    expect(isAlive(survivors[0]!.pid)).toBe(false)
  })

  it.runIf(isLinux).each([
    ['a daemon', 'env -i setsid -f sleep 33; echo done'],
    ['a daemon that holds one of the pipes', 'env -i setsid -f sleep 33 >/dev/null; echo done'],
    ['a grandchild of one that left', 'env -i setsid sh -c "sleep 33 & exit"; echo done'],
  ])(
    'C10: %s with an empty environment and a session of its own is known by the pipe that it holds',
    async (_what, command) => {
      const { output, survivors, unreaped } = await run(command)
      expect([output.text, unreaped]).toEqual(['done\n', []])
      expect(survivors.map(({ command: shown }) => shown)).toEqual([expect.stringMatching(/sleep 33$/)])
      expect(isAlive(survivors[0]!.pid)).toBe(false)
    },
  )

  it.runIf(isLinux)('C10: programs of others that run at the same time are no survivors', async () => {
    const results = await Promise.all([run('sleep 0.3; echo one'), run('sleep 33 & echo two'), run('echo three')])
    expect(results.map(({ end, survivors }) => [end, survivors.length])).toEqual([
      [exited(0), 0],
      [exited(0), 1],
      [exited(0), 0],
    ])
  })

  it('C10: by policy a declared server is kept', async () => {
    const { survivors } = await run('sleep 32 >/dev/null 2>&1 & echo done', { survivors: 'keep' })
    expect(survivors).toHaveLength(1)
    const { pid } = survivors[0]!
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  it('takes what the program wrote right before its end, however much', async () => {
    const { output } = await run('head -c 40000 /dev/zero | tr "\\0" x; echo; echo end; sleep 30 &')
    expect(output.text).toBe(`${'x'.repeat(40_000)}\nend\n`)
  })
})

describe('output (C11)', () => {
  it('C11: 100 MB cost bounded memory, and give head and tail', async () => {
    const before = process.memoryUsage()
    const { end, output } = await run(
      'echo first; yes 0123456789abcdefghijklmnopqrstuvwxyz | head -c 104857600; echo last; exit 5',
    )
    const after = process.memoryUsage()
    expect(end).toEqual(exited(5))
    expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(48 * 1024 * 1024)
    const size = sizeOf(output.text)
    expect(size.bytes).toBeLessThanOrEqual(RESULT_LIMITS.bytes)
    expect(size.lines).toBeLessThanOrEqual(RESULT_LIMITS.lines)
    expect(output.text).toMatch(/^first\n0123/)
    expect(output.text).toMatch(/last\n$/)
    expect(output.omitted.bytes + size.bytes).toBeGreaterThanOrEqual(104_857_600)
  })

  it('case 100: NUL, the literal text of an escape, and bytes that are no text', async () => {
    const { output } = await run("printf 'W\\0s\\0l \\\\u0000 \\xff\\xfe \\xed\\xa0\\x80 end'")
    expect(output.text).toMatch(/^W\0s\0l \\u0000 \ufffd+ \ufffd+ end$/)
    expect(output.text).not.toMatch(/\p{Surrogate}/u)
  })

  it('case 098: a character that comes in pieces is whole', async () => {
    const pieces: string[] = []
    const { output } = await run(
      "printf '\\xf0\\x9f'; sleep 0.1; printf '\\x98\\x80!'; sleep 0.1; printf '\\xe6\\xbc'",
      {
        onOutput: (text) => pieces.push(text),
      },
    )
    expect(output.text).toBe('\u{1F600}!\ufffd')
    expect(pieces.join('')).toBe(output.text)
  })

  it('shows the newest line, a few times a second', async () => {
    const lines: string[] = []
    await run('for i in $(seq 1 2000); do echo "step $i"; done; sleep 0.4; echo; echo almost; printf part', {
      onProgress: (line) => lines.push(line),
    })
    expect(lines.length).toBeGreaterThanOrEqual(2)
    expect(lines.length).toBeLessThan(8)
    expect(lines[0]).toMatch(/^step \d+$/)
    expect(lines.at(-1)).toBe('almost')
  })

  it('C10: many programs leave no descriptor, listener or child behind', async () => {
    const controller = new AbortController()
    const count = (): unknown[] => [
      isLinux ? readdirSync('/proc/self/fd').length : 0,
      process.listenerCount('exit'),
      getEventListeners(controller.signal, 'abort').length,
      process.getActiveResourcesInfo().filter((kind) => /Process|Pipe/.test(kind)).length,
    ]
    await run('true')
    const before = count()
    for (let index = 0; index < 8; index++) {
      const [kept] = await Promise.all([
        run('sleep 9 & echo x', { signal: controller.signal, survivors: 'keep' }),
        run('sleep 9 & echo x', { signal: controller.signal }),
        run('sleep 9', { timeoutMs: 20 }),
        run('', { file: 'nope' }),
      ])
      // It holds its end of the pipes; ours are closed.
      expect(count()).toEqual(before)
      for (const { pid } of kept.survivors) process.kill(pid, 'SIGKILL')
    }
    expect(count()).toEqual(before)
  })
})
