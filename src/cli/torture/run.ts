/**
 * One run: a folder of its own, and processes in it, one after the other, until one of them brings the session to its rest. Owns the
 * processes and what they started; nothing of it is alive when it is over.
 */
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { findMarked, killHard, startMarked } from '../../host/marked-process.ts'
import type { TortureRun } from '../../protocol/torture.ts'
import { pause } from '../../runtime/pause.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { FoundProcess } from '../../runtime/processes.ts'
import { runPaths, type Job, type RunPaths, type Settings } from './job.ts'
import { entriesOf, readJournal } from './journal.ts'
import { hitsOf } from './moments.ts'
import { WORKER } from './worker.ts'

export interface RunOrder {
  readonly settings: Settings
  readonly root: string
  /** Null: it is left alone. */
  readonly moment: string | null
  /** When, after its begin, a body is hit inside. */
  readonly insideMs: (moment: string) => number
}

/** How a process of a run ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** It took longer than it may, and was killed for that. */
  readonly isLate: boolean
}

export interface RunEnd {
  readonly paths: RunPaths
  readonly ends: readonly ProcessEnd[]
  /** Processes that the agent started and that outlived all of the run's. */
  readonly survivors: readonly FoundProcess[]
  readonly ms: number
}

interface Surroundings {
  readonly clock: Clock
  /** Kills what runs. */
  readonly signal: AbortSignal
}

/** Runs it to its end. */
export async function execute(order: RunOrder, around: Surroundings): Promise<RunEnd> {
  const paths = runPaths(order.root)
  for (const folder of [paths.root, paths.work, paths.temp, paths.store]) mkdirSync(folder, { recursive: true })
  const startedAt = around.clock.now()
  const hits = order.moment === null ? [] : hitsOf(order.moment)
  const ends: ProcessEnd[] = []
  const leaders: number[] = []
  for (const moment of [...hits, null]) {
    const hit = moment === null ? null : { moment, insideMs: order.insideMs(moment) }
    const job = { ...order.settings, process: ends.length + 1, hit }
    const { pid, end } = await runProcess(paths, job, around)
    leaders.push(pid)
    ends.push(end)
    if (around.signal.aborted || !isToBeResumed(paths, ends.length, end)) break
  }
  const survivors = await endSurvivors(paths, leaders, around)
  return { paths, ends, survivors, ms: around.clock.now() - startedAt }
}

/** Asks the user's check about a run that is over; what it says is in the journal. */
export async function askCheck(paths: RunPaths, run: TortureRun, job: Job, around: Surroundings): Promise<ProcessEnd> {
  writeFileSync(paths.run, JSON.stringify(run))
  const { pid, end } = await runProcess(paths, job, around, ['check'])
  await endSurvivors(paths, [pid], around)
  return end
}

/** It was killed where it was to be, or was told to stop. */
function isToBeResumed(paths: RunPaths, process: number, { signal, isLate }: ProcessEnd): boolean {
  const entries = readJournal(paths.journal).filter((entry) => entry.process === process)
  const [rested] = entriesOf(entries, 'rested')
  if (rested !== undefined) return rested.status === 'stopped'
  return signal === 'SIGKILL' && !isLate && entriesOf(entries, 'hit').length > 0
}

async function runProcess(
  paths: RunPaths,
  job: Job,
  { clock, signal }: Surroundings,
  more: readonly string[] = [],
): Promise<{ readonly pid: number; readonly end: ProcessEnd }> {
  if (signal.aborted) return { pid: 0, end: { code: null, signal: null, isLate: false } }
  writeFileSync(paths.job(job.process), `${JSON.stringify(job, null, 2)}\n`)
  const output = openSync(paths.output, 'a')
  // A store that the module opens by itself is one of this run, too: no other run may meet it.
  const env = { TMPDIR: paths.temp, TMP: paths.temp, TEMP: paths.temp, TURNSTEP_HOME: paths.home }
  const args = [WORKER, paths.root, String(job.process), ...more]
  const child = startMarked({ args, cwd: paths.work, mark: paths.root, env, output })
  closeSync(output)
  const pid = child.pid ?? 0
  let isLate = false
  const kill = (): void => {
    if (pid !== 0) killHard(-pid)
    // Where there are no groups.
    child.kill('SIGKILL')
  }
  const cancel = clock.after(job.limitMs, () => {
    isLate = true
    kill()
  })
  signal.addEventListener('abort', kill, { once: true })
  const end = await ended(child)
  signal.removeEventListener('abort', kill)
  cancel()
  return { pid, end: { ...end, isLate } }
}

function ended(child: ChildProcess): Promise<Omit<ProcessEnd, 'isLate'>> {
  return new Promise((resolve) => {
    // It could not be started at all: it leaves no line, and that is what is told.
    child.once('error', () => resolve({ code: null, signal: null }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** How long a program may go on by itself after the process that started it was killed. */
const SURVIVAL_MS = 1_500

/** Waits for those who end by themselves, kills the others, and answers these. */
async function endSurvivors(
  paths: RunPaths,
  leaders: readonly number[],
  { clock, signal }: Surroundings,
): Promise<readonly FoundProcess[]> {
  const until = clock.now() + SURVIVAL_MS
  for (;;) {
    const found = await findMarked(paths.root, leaders)
    if (found.length === 0) return []
    if (clock.now() >= until || signal.aborted) {
      for (const { pid } of found) killHard(pid)
      return found
    }
    await pause(clock, 50)
  }
}
