import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeClock } from '../../host/node.ts'
import { runProcess } from '../../host/process.ts'
import { pause } from '../../runtime/pause.ts'
import type { RunProcess } from '../../runtime/processes.ts'
import { cutText, RESULT_LIMITS } from '../../util/cut.ts'
import { deferred } from '../../util/deferred.ts'
import { call, scratchFolder } from '../call.case.ts'
import { Workspace } from '../workspace.ts'
import { shellTool } from './index.ts'
import type { ShellOptions } from './options.ts'

let scratch: ReturnType<typeof scratchFolder>
let workspace: Workspace

beforeAll(() => {
  scratch = scratchFolder()
  workspace = new Workspace(scratch.path)
  mkdirSync(join(scratch.path, 'sub'))
  symlinkSync('/tmp', join(scratch.path, 'out'))
})
afterAll(() => scratch.remove())

const shell = (options: Partial<ShellOptions> = {}) => shellTool(workspace, { runProcess, ...options })

describe('shell', () => {
  it('gives output and exit code; a failing command is a result', async () => {
    expect(await call(shell(), { command: 'echo hi; exit 3' })).toMatchObject({
      text: 'hi\n',
      code: null,
      footer: 'exit code 3',
      result: { data: { exitCode: 3, signal: null, survivors: [], omittedBytes: 0 } },
    })
    expect((await call(shell(), { command: 'true' })).text).toBe('(no output)')
    expect((await call(shell(), { command: 'kill -9 $$' })).footer).toBe('killed by SIGKILL')
  })

  it('runs in the workspace, or in a folder of it, and nowhere else', async () => {
    expect((await call(shell(), { command: 'pwd' })).text).toBe(`${scratch.path}\n`)
    expect((await call(shell(), { command: 'pwd', cwd: 'sub' })).text).toBe(`${join(scratch.path, 'sub')}\n`)
    for (const [cwd, code] of [
      ['..', 'outside'],
      ['out', 'outside'],
      ['/', 'outside'],
      ['none', 'not-a-folder'],
    ])
      expect((await call(shell(), { command: 'pwd', cwd })).code).toBe(code)
  })

  it('gets no input and no terminal, and no pager waits', async () => {
    const { text } = await call(shell(), {
      command: 'read line || echo eof; test -t 0 || echo none; echo $PAGER $TERM',
    })
    expect(text).toBe('eof\nnone\ncat dumb\n')
  })

  it('C11, case 052: of 20 MB both ends are shown with the size that is left out, and the exit code is beside them', async () => {
    const command = 'echo START; yes noise | head -c 20000000; echo ERROR x; exit 2'
    const { text, footer, result } = await call(shell(), { command })
    expect(text).toMatch(/^START\nnoise\n/)
    expect(text).toMatch(/ERROR x\n$/)
    expect(footer).toBe('exit code 2')
    const told = Number(/left out: (\d+) bytes/.exec(text)![1])
    expect(told).toBeGreaterThan(20_000_000 - RESULT_LIMITS.bytes)
    expect(result).toMatchObject({ data: { exitCode: 2, omittedBytes: told } })
    // Within the limits of the runtime, which would else cut it again and tell the size of what it cut itself.
    expect(cutText(text).cut).toBe(false)
  })

  it('case 022: processes that are left behind are listed and stopped', async () => {
    const from = nodeClock.now()
    const { text, footer, result } = await call(shell(), { command: 'sleep 30 & echo done' })
    expect(nodeClock.now() - from).toBeLessThan(1000)
    expect(text).toBe('done\n')
    expect(footer).toMatch(/^exit code 0\nstill running when the command ended, and stopped: \d+ \(.*sleep 30.*\)$/)
    expect(result).toMatchObject({ data: { survivors: [expect.any(Number)] } })
  })

  it('C10: or kept, by policy', async () => {
    const { footer } = await call(shell({ survivors: 'keep' }), { command: 'sleep 33 >/dev/null 2>&1 & echo' })
    const pid = Number(/left running: (\d+) \(.*sleep 33.*\)$/.exec(footer)![1])
    expect(process.kill(pid, 'SIGKILL')).toBe(true)
  })

  it('C13: a timeout stops it, says so, and keeps what it had printed; asking for more than allowed gives what is allowed', async () => {
    const limited = shell({ timeoutMaxMs: 300 })
    expect(limited.timeoutMs).toBeGreaterThan(300 + 2000)
    const { text, code, footer } = await call(limited, { command: 'echo start; sleep 30', timeout_seconds: 600 })
    expect([text, code]).toEqual(['start\n', 'timeout'])
    expect(footer).toBe('timed out after 0.3 s and was stopped; what it had done by then stands')
  })

  it('case 017: an abort stops all of it, and what it was about to do is not done', async () => {
    const controller = new AbortController()
    const running = deferred<void>()
    const answer = call(
      shell(),
      { command: '(sleep 1; touch marker) & (setsid sh -c "sleep 1; touch marker") & echo on; wait' },
      { signal: controller.signal, progress: () => running.resolve() },
    )
    await running.promise
    controller.abort()
    expect(await answer).toMatchObject({ code: 'aborted', text: 'on\n' })
    await pause(nodeClock, 1200)
    expect(existsSync(join(scratch.path, 'marker'))).toBe(false)
  })

  it('shows progress', async () => {
    const lines: string[] = []
    await call(shell(), { command: 'echo one; sleep 0.3; echo two' }, { progress: (line) => lines.push(line) })
    expect(lines).toEqual(['one', 'two'])
  })

  it('hides the keys of model providers from commands, and passes on what it is told to', async () => {
    const spied: Record<string, string | undefined>[] = []
    const watching: RunProcess = (request) => {
      spied.push({ key: String(request.hideEnv?.('DEEPSEEK_API_KEY')), path: String(request.hideEnv?.('PATH')) })
      return runProcess(request)
    }
    const { text } = await call(shell({ runProcess: watching, env: { GIVEN: 'yes' } }), { command: 'echo $GIVEN' })
    expect([text, spied]).toEqual(['yes\n', [{ key: 'true', path: 'false' }]])
  })

  it('takes the next shell where one is missing, and says when there is none', async () => {
    expect((await call(shell({ shells: ['no-such-shell', 'sh'] }), { command: 'echo hi' })).text).toBe('hi\n')
    expect(await call(shell({ shells: ['no-such-shell'] }), { command: 'x' })).toMatchObject({ code: 'no-shell' })
    expect(await call(shell(), { command: 'a\0b' })).toMatchObject({
      code: 'failed',
      footer: expect.stringContaining('could not be started'),
    })
  })

  it('C4, C6: is a write that runs alone', () => {
    const made = shell()
    expect([made.effect, made.resources({ command: 'ls' }), made.reconcile]).toEqual([
      'write',
      [{ name: '*', mode: 'write' }],
      null,
    ])
  })

  it('A1: asks by default, shows the command in the language of the person, and leaves the decision to a function', () => {
    const command = 'rm -rf build'
    expect(shell().approval({ command })).toBe('Run in the shell: rm -rf build')
    expect(shell({ locale: 'zh' }).approval({ command })).toBe('在终端中运行：rm -rf build')
    expect(shell({ approval: 'never' }).approval({ command })).toBeNull()
    const careful = shell({ approval: (text) => text.startsWith('rm') && 'It deletes.' })
    expect([careful.approval({ command }), careful.approval({ command: 'ls' })]).toEqual(['It deletes.', null])
    const broken = shell({
      approval: () => {
        throw new Error('boom')
      },
    })
    expect(broken.approval({ command })).toMatch(/boom/)
    expect(shell().approval({ command: 'x'.repeat(5000) })!.length).toBeLessThan(600)
  })
})
