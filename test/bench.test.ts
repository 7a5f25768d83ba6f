import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { CASES } from '../bench/cases/index.ts'
import { median } from '../bench/lib/measure.ts'
import { PARTS, partsOf } from '../bench/lib/parts.ts'
import { sharesOf } from '../bench/lib/profile.ts'
import { markdown } from '../bench/lib/report.ts'
import { Script } from '../bench/lib/script.ts'

/** These start programs that only `build:tools` makes, or install from the registry. */
const NEED_A_BUILD = ['cold', 'install']

describe('the benchmarks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnstep-bench-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  for (const one of CASES.filter(({ name }) => !NEED_A_BUILD.includes(name))) {
    it(`${one.name}: what it runs is whole, and every figure is a number`, async () => {
      const options = { quick: true, folder: mkdtempSync(join(folder, one.name)), round: 0, profile: false }
      await one.prepare?.(options)
      const figures = await one.measure(options)
      expect(Object.keys(figures).length).toBeGreaterThan(0)
      for (const [name, value] of Object.entries(figures)) expect(value, name).toSatisfy(Number.isFinite)
    })
  }

  it('a run that is not whole gives no figure', () => {
    const script = new Script()
    script.plan({ steps: 1 })
    const [call] = script.next(1).calls
    expect(() => script.run({})).toThrowError(/lost/)
    script.run(JSON.parse(call!.args))
    expect(() => script.check()).toThrowError('model calls: 1, wanted 2')
    script.next(2)
    expect(() => script.check()).toThrowError('messages in the last request: 2, wanted 3')
  })

  it('nothing measured has no median', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([1, 2])).toBe(1.5)
    expect(() => median([])).toThrowError(/nothing/)
  })

  it('a goal is met at its bound, and what was not measured has no line', () => {
    const table = markdown({ memoryGrowth: 1.2, lastTenthUs: 12, firstTenthUs: 10, installMb: 40.1 })
    expect(table).toContain('| `memoryGrowth` | 1.20× (12 : 10 µs) | ≤ 1.2× | yes |')
    expect(table).toContain('| `installMb` | 40.1 MB | ≤ 40 MB | no |')
    expect(table).not.toContain('coldRatio')
  })

  it('every file and folder that has a part of its own is there', () => {
    const named = PARTS.flatMap(({ files }) => files).filter((path) => /^(?:src|bench)\//.test(path))
    expect(named.length).toBeGreaterThan(10)
    const root = fileURLToPath(new URL('..', import.meta.url))
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it("a file counts for the first part that has it, and what is nobody's for Node", () => {
    const parts = partsOf(
      [
        { name: 'src/runtime/runner/judge.ts', share: 0.5 },
        { name: 'src/runtime/session/live.ts', share: 0.25 },
        { name: 'src/runtime/runner/sleep.ts', share: 0.125 },
        { name: 'node:timers', share: 0.125 },
      ],
      80,
    )
    expect(parts).toMatchObject({ calls: 40, session: 20, runner: 10, node: 10 })
  })

  it('a profile leaves out the bare loop and what it calls', () => {
    const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 0, columnNumber: 0 })
    const profile = {
      nodes: [
        { id: 1, callFrame: frame('(root)', ''), children: [2, 4] },
        { id: 2, callFrame: frame('run', 'file:///x/bench/lib/bare.js'), children: [3] },
        { id: 3, callFrame: frame('next', 'file:///x/bench/lib/script.js') },
        { id: 4, callFrame: frame('fold', 'file:///x/dist/kernel/fold.js') },
      ],
      samples: [2, 3, 4, 4],
      timeDeltas: [10, 10, 10, 10],
    }
    expect(sharesOf(JSON.stringify(profile)).functions).toEqual([{ name: 'fold  dist/kernel/fold.js:1', share: 1 }])
  })

  it('the pages show the same figures in both languages', () => {
    const numbers = (page: string): string[] => {
      const text = readFileSync(fileURLToPath(new URL(`../docs/${page}`, import.meta.url)), 'utf8')
      const table = text.slice(text.indexOf('<!-- figures'), text.indexOf('<!-- /figures'))
      return [...table.matchAll(/^\| [^|]+ \| (`\w+` \| [^|]+)/gm)].map(([, cells]) => cells!)
    }
    const english = numbers('reference/performance.md')
    expect(english.length).toBeGreaterThan(0)
    expect(numbers('zh/reference/performance.md')).toEqual(english)
  })
})
