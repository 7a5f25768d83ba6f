/** Runs a case: each round in a process of its own, and the median over the rounds of each figure. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Case, CaseOptions, Figures } from './case.ts'
import { median } from './measure.ts'

const CHILD = fileURLToPath(new URL('../child.js', import.meta.url))
/** Beside the built programs: the system's own folder for such files may be in memory, where nothing waits for a disk. */
const FILES = fileURLToPath(new URL('../../bench-', import.meta.url))
const TIMEOUT_MS = 600_000

export interface RoundsOptions {
  readonly quick: boolean
  /** Instead of the case's own number. */
  readonly rounds: number | null
}

/** The medians over the rounds. Throws with what the process said if a round fails. */
export function runRounds(one: Case, { quick, rounds }: RoundsOptions): Figures {
  return inFolder((folder) => {
    const all: Figures[] = []
    const count = rounds ?? (quick ? 1 : one.rounds)
    for (let round = 0; round < count; round++) {
      const options: CaseOptions = { quick, folder, round, profile: false }
      if (round === 0 && one.prepare !== undefined) runChild(one, 'prepare', options)
      all.push(runChild(one, 'measure', options))
    }
    const names = Object.keys(all[0] ?? {})
    return Object.fromEntries(names.map((name) => [name, median(all.map((figures) => figures[name]!))]))
  })
}

/** One long round under Node's sampling profiler: its figures, and the profile as JSON text. */
export function runProfiled(one: Case): { readonly figures: Figures; readonly profile: string } {
  return inFolder((folder) => {
    const options: CaseOptions = { quick: false, folder, round: 0, profile: true }
    if (one.prepare !== undefined) runChild(one, 'prepare', options)
    const figures = runChild(one, 'profile', options)
    return { figures, profile: readFileSync(join(folder, 'profile.json'), 'utf8') }
  })
}

function runChild(one: Case, act: 'prepare' | 'measure' | 'profile', options: CaseOptions): Figures {
  const args = ['--expose-gc', '--no-warnings', CHILD, one.name, act, JSON.stringify(options)]
  const child = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: TIMEOUT_MS, maxBuffer: 1 << 26 })
  if (child.status !== 0) throw new Error(`${act} of the case ${one.name} failed:\n${child.stderr}${child.error ?? ''}`)
  return JSON.parse(child.stdout.trimEnd().split('\n').at(-1)!) as Figures
}

function inFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(FILES)
  try {
    return run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
