import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Case } from '../lib/case.ts'
import { inPairs, median } from '../lib/measure.ts'

const program = (name: string): string => fileURLToPath(new URL(`../${name}.js`, import.meta.url))
const COLD = program('cold')
const EMPTY = program('empty')

export const cold: Case = {
  name: 'cold',
  title: 'from the spawn of a process to its first model call; against an empty script',
  rounds: 3,
  async measure({ folder, quick, round }) {
    let files = 0
    const reps = { reps: quick ? 2 : 11, budgetMs: 20_000 }
    const empty = async (): Promise<number> => msTo(EMPTY)
    const memory = await inPairs(async () => msTo(COLD, 'memory'), empty, reps)
    const sqlite = await inPairs(async () => msTo(COLD, join(folder, `${round}-${files++}.db`)), empty, reps)
    return {
      coldRatio: memory.ratio,
      coldSqliteRatio: sqlite.ratio,
      coldMs: median(memory.subject),
      coldSqliteMs: median(sqlite.subject),
      emptyMs: median(memory.floor),
    }
  },
}

/** Milliseconds from the spawn of a program to the moment that it tells. */
function msTo(...args: readonly string[]): number {
  const start = process.hrtime.bigint()
  const child = spawnSync(process.execPath, ['--no-warnings', ...args], { encoding: 'utf8' })
  if (child.status !== 0) throw new Error(`${args.join(' ')} failed:\n${child.stderr}`)
  return Number(BigInt(child.stdout) - start) / 1e6
}
