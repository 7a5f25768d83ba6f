/** The format can be read without us: a reader in another language, made from what `spec/README.md` says, sees what a model saw. */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { goldenNames, readSpec } from './files.ts'

const path = (file: string): string => fileURLToPath(new URL(`../../spec/${file}`, import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0

interface Projected {
  readonly events: number
  readonly requests: readonly unknown[]
  readonly end: Readonly<Record<'late' | 'kept' | 'added', unknown>>
}

describe('spec/example/reader.py', () => {
  // Without Python there is nothing to run it with.
  it.skipIf(!hasPython)('L2: rebuilds every request of every golden log', () => {
    const names = goldenNames()
    const logs = names.map((name) => path(`golden/${name}.jsonl`))
    const ran = spawnSync('python3', [path('example/reader.py'), ...logs], { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    const read = ran.stdout.trimEnd().split('\n')
    expect(read).toHaveLength(names.length)
    for (const [index, name] of names.entries()) {
      const { events, requests, end } = JSON.parse(readSpec(`golden/${name}.projection.json`)) as Projected
      const { late, kept, added } = end
      expect(JSON.parse(read[index]!), name).toEqual({ events, requests, end: { late, kept, added } })
    }
  })

  it.skipIf(!hasPython)('L6: names the line that it cannot read, whatever is wrong with it', () => {
    const code =
      'import sys; sys.path.insert(0, sys.argv[1]); import reader\nfor p in sys.argv[2:]:\n try: reader.project(p)\n except ValueError as e: print(e)'
    const logs = readdirSync(path('broken/')).map((name) => path(`broken/${name}`))
    const ran = spawnSync('python3', ['-B', '-c', code, path('example'), ...logs], { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    const said = ran.stdout.trimEnd().split('\n')
    expect(said.length).toBeGreaterThan(20)
    for (const line of said) expect(line).toMatch(/^line \d+: /)
  })

  it.skipIf(!hasPython)('X1: finds the hash of an epoch by section 7 alone, whatever the content is', () => {
    const read = (file: string) => spawnSync('python3', [path('example/reader.py'), path(file)], { encoding: 'utf8' })
    expect(read('odd/epoch-of-odd-words.jsonl')).toMatchObject({ status: 0, stderr: '' })
    const { status, stderr } = read('broken/X1-epoch.started-hash.jsonl')
    expect([status, stderr]).toEqual([1, expect.stringMatching(/line 2: the hash is [0-9a-f]{64}, that of .* is /)])
  })

  it.skipIf(!hasPython)('says how it is used, and of a log that is wrong what is wrong', () => {
    const run = (...args: string[]) => spawnSync('python3', [path('example/reader.py'), ...args], { encoding: 'utf8' })
    expect(run()).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('Usage: python3 reader.py') })
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage:'), stderr: '' })
    const { status, stderr } = run(path('broken/L6-shape-no-type.jsonl'))
    expect([status, stderr]).toEqual([1, expect.stringMatching(/no-type\.jsonl: line 3: no event: it has no type\n$/)])
  })
})
