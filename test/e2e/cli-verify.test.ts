import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Manifest } from '../spec/corpus.ts'
import { readSpec } from '../spec/files.ts'
import { Desk, only } from './cli.case.ts'

const { broken, golden } = JSON.parse(readSpec('manifest.json')) as Manifest
const spec = (path: string): string => fileURLToPath(new URL(`../../spec/${path}`, import.meta.url))

/** One log for each kind of fault. */
const samples = [...new Map(broken.map((row) => [row.code, row])).values()].filter(({ code }) => code !== 'long')

let desk: Desk

beforeEach(() => {
  desk = new Desk()
  desk.script()
})

afterEach(() => desk.remove())

/** Puts a log of `spec/` into the folder. */
function put(log: string, name: string): string {
  copyFileSync(spec(log), desk.path(name))
  return name
}

describe('turnstep verify FILE', () => {
  it('L6: a sound log is sound, as a file, by a path, and from stdin; nothing is made on the way', async () => {
    const { log, events } = golden[0]!
    put(log, 'a.jsonl')
    const input = readFileSync(spec(log), 'utf8')
    const said = `${events} events, every one legal; a file is not protected against edits of what they say\n`
    expect(await desk.run(['verify', 'a.jsonl'])).toEqual({
      code: 0,
      signal: null,
      out: `a.jsonl: ${said}`,
      err: '',
    })
    expect(await desk.run(['verify', './a.jsonl'])).toMatchObject({ code: 0, out: `./a.jsonl: ${said}` })
    expect(await desk.run(['verify', '-'], { input })).toMatchObject({ code: 0, out: `-: ${said}` })
    expect((await desk.json(['verify', 'a.jsonl'])).lines).toEqual([
      { v: 1, type: 'verified', file: 'a.jsonl', ok: true, events },
    ])
    expect(() => desk.read('home/sessions.db')).toThrow('ENOENT')
  })

  it.each(samples)('$rule: $code is found in $log', async ({ log, rule, code, line, seq, event }) => {
    put(log, 'bad.jsonl')
    const { code: exit, lines } = await desk.json(['verify', 'bad.jsonl'])
    expect(exit).toBe(1)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ type: 'verified', file: 'bad.jsonl', ok: false, rule, code, line, seq })
    expect(lines[0]).toMatchObject({ events: seq - 1, wanted: expect.any(String), next: expect.any(String) })
    expect(lines[0]!['event'] ?? null).toBe(event)
  })

  it('says where, what was seen, what was wanted and what to do, in both languages', async () => {
    put('broken/C4-call.started-write-again.jsonl', 'bad.jsonl')
    const english = await desk.run(['verify', 'bad.jsonl'])
    expect(english).toMatchObject({ code: 1, err: '' })
    expect(english.out.split('\n')).toEqual([
      'bad.jsonl: line 9 (event 9, call.started) breaks C4: a write is never run twice',
      '  wanted: a write starts once; other calls start again only under a later lease',
      '  next: most likely the file was edited or lost lines: export it again; if it is the same then, whoever wrote this event has a fault: report it with the log; the 8 events before it are sound',
      '',
    ])
    const chinese = await desk.run(['verify', 'bad.jsonl', '--lang', 'zh'])
    expect(chinese.out).toMatch(
      /^bad\.jsonl：第 9 行（第 9 条事件，call\.started）违反 C4：.*\n {2}应为：.*\n {2}下一步：.*\n$/,
    )
  })

  it('L1, L5: a gap is named, and of another encoding what to do with it', async () => {
    const said = async (log: string, ...more: string[]): Promise<string> => {
      put(`broken/${log}.jsonl`, 'bad.jsonl')
      return (await desk.run(['verify', 'bad.jsonl', ...more])).out
    }
    expect(await said('L1-seq-gap')).toMatch(/ breaks L1: seq 5 after 3: event 4 is missing\n/)
    expect(await said('L5-utf16')).toMatch(/next: save it as UTF-8, and verify it again\n/)
    expect(await said('L5-bom', '--lang', 'zh')).toMatch(/下一步：请另存为 UTF-8，然后再检查\n/)
    expect(await said('L5-gzip')).toMatch(/next: unpack it, and verify it again\n/)
  })

  it('L7: what is said of a session does not speak of files', async () => {
    await desk.run(['run', '-s', 'trip', 'hello'])
    expect((await desk.run(['verify', 'trip'])).out).toMatch(/^trip: \d+ events, all well\n$/)
  })

  it('an exported log is sound, says whose it is, and is found out when it is cut', async () => {
    await desk.run(['run', '-s', 'trip', 'hello'])
    await desk.run(['session', 'export', 'trip', '-o', 'trip.jsonl'])
    const { code, lines } = await desk.json(['verify', 'trip.jsonl'])
    expect([code, lines]).toMatchObject([0, [{ session: 'trip', file: 'trip.jsonl', ok: true }]])
    desk.write('cut.jsonl', desk.read('trip.jsonl').split('\n').slice(0, -3).join('\n'))
    const cut = await desk.json(['verify', 'cut.jsonl'])
    expect([cut.code, cut.lines]).toMatchObject([1, [{ session: 'trip', ok: false, code: 'count', rule: 'L5' }]])
  })

  it('what is no file and no session exits 2', async () => {
    mkdirSync(desk.path('folder'))
    for (const [name, why] of [
      ['./folder', 'folder" is a folder: name a file in it'],
      ['./nowhere.jsonl', 'nowhere.jsonl": look at its path'],
      ['nowhere.jsonl', 'session-missing'],
      ['folder', 'session-missing'],
    ] as const) {
      const ended = await desk.run(['verify', name])
      expect([name, ended.code, ended.out]).toEqual([name, 2, ''])
      expect(ended.err).toContain(why)
    }
  })

  it('a name is that of a session before it is that of a file', async () => {
    await desk.run(['run', '-s', 'trip', 'hello'])
    desk.write('trip', 'no log')
    desk.write('other', 'no log')
    expect(await desk.run(['verify', 'trip'])).toMatchObject({ code: 0 })
    expect(await desk.run(['verify', './trip'])).toMatchObject({ code: 1 })
    expect(only((await desk.json(['verify', 'other'])).lines, 'verified')).toMatchObject([
      { file: 'other', code: 'json' },
    ])
  })
})
