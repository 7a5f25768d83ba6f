import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeClock } from '../../host/node.ts'
import { runProcess } from '../../host/process.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { pause } from '../../runtime/pause.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { RESULT_LIMITS, sizeOf } from '../../util/cut.ts'
import { call, context, scratchFolder } from '../call.case.ts'
import { Workspace } from '../workspace.ts'
import { findFilesTool, grepTool } from './index.ts'

let scratch: ReturnType<typeof scratchFolder>
let workspace: Workspace

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(scratch.path, path)), { recursive: true })
  writeFileSync(join(scratch.path, path), content)
}

beforeAll(() => {
  scratch = scratchFolder()
  workspace = new Workspace(scratch.path)
  put('src/a.ts', 'import x\nconst alpha = 1\nlet beta\nlet gamma\nconst delta = alpha\n')
  put('src/deep/b.ts', 'Alpha\r\nalpha(1)\r\n')
  put('src/deep/c.md', '# alpha\n')
  put('.hidden/d.ts', 'alpha hidden\n')
  put('node_modules/pack/i.js', 'alpha ignored\n')
  put('.git/config', 'alpha git\n')
  put('.gitignore', '/node_modules\n*.log\n')
  put('out.log', 'alpha log\n')
  put('bin.dat', Buffer.from('alpha\0binary'))
  put('wide.txt', `${'漢'.repeat(2000)}needle${'字'.repeat(2000)}\n`)
  symlinkSync('src', join(scratch.path, 'link'))
  symlinkSync('/etc', join(scratch.path, 'etc'))
})
afterAll(() => scratch.remove())

const hasRipgrep = await runProcess({
  file: 'rg',
  args: ['--version'],
  cwd: '.',
  clock: nodeClock,
  signal: new AbortController().signal,
  timeoutMs: 5000,
}).then(({ end }) => end.kind === 'exited')

function grepSuite(grep: () => Tool): void {
  const lines = async (args: object): Promise<string[]> => (await call(grep(), args)).text.split('\n')

  it('gives path, line and text in the order of paths, hidden files too, ignored and binary ones not', async () => {
    expect(await lines({ pattern: 'alpha' })).toEqual([
      '.hidden/d.ts:1:alpha hidden',
      'src/a.ts:2:const alpha = 1',
      'src/a.ts:5:const delta = alpha',
      'src/deep/b.ts:2:alpha(1)',
      'src/deep/c.md:1:# alpha',
    ])
  })

  it('takes a folder, a file, a glob relative to it, and what is ignored if asked for', async () => {
    expect(await lines({ pattern: 'alpha', path: 'src/deep' })).toHaveLength(2)
    expect(await lines({ pattern: 'alpha', path: 'src/deep/c.md' })).toEqual(['src/deep/c.md:1:# alpha'])
    expect(await lines({ pattern: 'alpha', path: 'link', glob: 'deep/*.{ts,js}' })).toEqual([
      'src/deep/b.ts:2:alpha(1)',
    ])
    expect(await lines({ pattern: 'alpha', glob: '*.md' })).toEqual(['src/deep/c.md:1:# alpha'])
    expect(await lines({ pattern: 'alpha', glob: '*.{js,log}', include_ignored: true })).toEqual([
      'node_modules/pack/i.js:1:alpha ignored',
      'out.log:1:alpha log',
    ])
    expect(await lines({ pattern: 'alpha', path: 'node_modules' })).toEqual(['node_modules/pack/i.js:1:alpha ignored'])
  })

  it('gives context, the groups told apart', async () => {
    expect(await lines({ pattern: '^const', path: 'src/a.ts', context: 1 })).toEqual([
      'src/a.ts-1-import x',
      'src/a.ts:2:const alpha = 1',
      'src/a.ts-3-let beta',
      'src/a.ts-4-let gamma',
      'src/a.ts:5:const delta = alpha',
    ])
    expect(await lines({ pattern: 'import|delta', path: 'src/a.ts', context: 1 })).toEqual([
      'src/a.ts:1:import x',
      'src/a.ts-2-const alpha = 1',
      '--',
      'src/a.ts-4-let gamma',
      'src/a.ts:5:const delta = alpha',
    ])
  })

  it('ignores case, and takes plain text as plain text', async () => {
    expect(await lines({ pattern: 'ALPHA', path: 'src/deep', ignore_case: true })).toHaveLength(3)
    expect(await lines({ pattern: '(?i)ALPHA$', path: 'src/deep/b.ts' })).toEqual(['src/deep/b.ts:1:Alpha'])
    expect(await lines({ pattern: 'alpha(', path: 'src', literal: true })).toEqual(['src/deep/b.ts:2:alpha(1)'])
    expect(await lines({ pattern: '\\p{Script=Han}needle', path: 'wide.txt' })).toHaveLength(1)
  })

  it('case 098: shows a long line around its match, cut between characters', async () => {
    const [line] = await lines({ pattern: 'needle' })
    expect(line).toMatch(/^wide\.txt:1:\[\.\.\.\] 漢+needle字+ \[\.\.\.\]$/)
    expect(line!.length).toBeLessThan(400)
  })

  it('stops at its bound and says so; nothing found is an answer', async () => {
    put('bulk/many.txt', `${'x'.repeat(100)} hit\n`.repeat(5000))
    const some = await call(grep(), { pattern: 'hit', path: 'bulk', max_matches: 3 })
    expect([some.text.split('\n').length, some.footer]).toEqual([
      3,
      '[the first 3 matches; narrow the pattern, the path or the glob]',
    ])
    const all = await call(grep(), { pattern: 'hit', path: 'bulk', max_matches: 500 })
    expect(sizeOf(`${all.text}\n${all.footer}`).bytes).toBeLessThan(RESULT_LIMITS.bytes)
    const none = await call(grep(), { pattern: 'no such thing' })
    expect([none.code, none.text]).toEqual([null, 'No line matches no such thing.'])
    const exact = await call(grep(), { pattern: 'alpha', path: 'src/a.ts', max_matches: 2 })
    expect([exact.text.split('\n').length, exact.footer]).toEqual([2, ''])
  })

  it('knows patterns of the other dialect, and refuses what is none', async () => {
    expect(await lines({ pattern: 'alpha(?= =)', path: 'src' })).toEqual(['src/a.ts:2:const alpha = 1'])
    const bad = await call(grep(), { pattern: '(' })
    expect([bad.code, bad.text]).toEqual(['pattern', expect.stringContaining('set literal to true')])
    expect((await call(grep(), { pattern: 'x', path: 'nowhere' })).code).toBe('missing')
  })

  it('case 085: does not follow links that lead out', async () => {
    expect((await call(grep(), { pattern: 'root', path: 'etc' })).code).toBe('outside')
    expect((await call(grep(), { pattern: 'root:' })).text).toBe('No line matches root:.')
  })

  it('T7: an aborted call ends', async () => {
    expect((await call(grep(), { pattern: 'x' }, { signal: AbortSignal.abort() })).code).toBe('aborted')
  })
}

describe('grep, reading files itself', () => {
  grepSuite(() => grepTool(workspace))

  it('a pattern that would take for ever costs its deadline, not the event loop', async () => {
    put('bad/evil.txt', `${'a'.repeat(60)}!\n`)
    const clock = new FakeClock()
    const answer = call(grepTool(workspace), { pattern: '^(a+)+$', path: 'bad' }, { clock })
    for (let tries = 0; clock.armed === 0 && tries < 2000; tries++) await pause(nodeClock, 2)
    await clock.advance(3000)
    expect(await answer).toMatchObject({ code: 'too-slow', text: expect.stringContaining('bad/evil.txt') })
    expect(clock.armed).toBe(0)
  })

  it('T7: an abort does not wait for such a pattern', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const answer = call(grepTool(workspace), { pattern: '^(a+)+$', path: 'bad' }, { clock, signal: controller.signal })
    for (let tries = 0; clock.armed === 0 && tries < 2000; tries++) await pause(nodeClock, 2)
    controller.abort()
    expect((await answer).code).toBe('aborted')
    expect(clock.armed).toBe(0)
  })

  it('falls back to reading where ripgrep is not installed', async () => {
    const grep = grepTool(workspace, { runProcess, ripgrep: 'no-such-ripgrep' })
    expect((await call(grep, { pattern: 'alpha', path: 'src/deep' })).text.split('\n')).toHaveLength(2)
  })
})

describe.runIf(hasRipgrep)('grep, with ripgrep', () => {
  grepSuite(() => grepTool(workspace, { runProcess }))
})

describe('find_files', () => {
  const find = async (args: object) => (await call(findFilesTool(workspace), args)).text.split('\n')

  it('finds by glob, relative to a folder, ignored files left out', async () => {
    expect(await find({ glob: '*.ts' })).toEqual(['.hidden/d.ts', 'src/a.ts', 'src/deep/b.ts'])
    expect(await find({ glob: 'deep/*', path: 'src' })).toEqual(['src/deep/b.ts', 'src/deep/c.md'])
    expect(await find({ glob: '**/*.js' })).toEqual(['No file matches **/*.js.'])
    expect(await find({ glob: '**/*.js', include_ignored: true })).toEqual(['node_modules/pack/i.js'])
  })

  it('stops at its bound and says so, and when it is aborted', async () => {
    for (let index = 0; index < 510; index++) put(`found/${index}.x`, '')
    const { text, footer } = await call(findFilesTool(workspace), { glob: '*.x' })
    expect([text.split('\n').length, footer]).toEqual([500, '[the first 500 files; use a narrower glob]'])
    expect((await call(findFilesTool(workspace), { glob: '*' }, { signal: AbortSignal.abort() })).code).toBe('aborted')
    expect(context().signal.aborted).toBe(false)
  })
})
