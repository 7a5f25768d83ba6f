/** The format can be read without us: a reader in another language, made from what `spec/README.md` says, sees what a model saw. */
import { spawnSync } from 'node:child_process'
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
})
