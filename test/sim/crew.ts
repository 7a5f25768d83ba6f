/** Many seeds on all processors. Owns the threads, and which seed comes next; the same seeds give the same failures on any number of threads. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { nodeClock } from '../../src/host/node.ts'
import type { SimFailure } from '../../src/testing/sim/sim.ts'
import type { Done, Task } from './worker.ts'

export interface CrewOptions {
  /** Seeds that are run first, one after the other; then the fresh ones from `fresh` on. */
  readonly fixed: { readonly from: number; readonly count: number }
  /** Null: none. */
  readonly fresh: number | null
  /** When no more are begun, by the host's clock; null: when all are run. */
  readonly until: number | null
  readonly threads: number | null
  readonly onProgress: (total: Total) => void
  /** At once: a long run may be broken off. */
  readonly onFailure: (failure: SimFailure) => void
}

export interface Total {
  seeds: number
  events: number
  readonly failures: SimFailure[]
}

/** Seeds that a thread is given at a time. */
const TASK_SEEDS = 5
/** After so many failures there is enough to look at. */
const FAILURES_MAX = 10

export async function runCrew(options: CrewOptions): Promise<Total> {
  const total: Total = { seeds: 0, events: 0, failures: [] }
  let given = 0
  const next = (): Task => {
    if (options.until !== null && nodeClock.now() >= options.until) return null
    if (total.failures.length >= FAILURES_MAX) return null
    const { fixed, fresh } = options
    const left = fixed.count - given
    if (left <= 0 && fresh === null) return null
    const count = left > 0 ? Math.min(TASK_SEEDS, left) : TASK_SEEDS
    const from = left > 0 ? fixed.from + given : fresh! + given - fixed.count
    given += count
    return { from, count }
  }
  const threads = Math.max(1, options.threads ?? availableParallelism())
  await Promise.all(Array.from({ length: threads }, () => runThread(next, total, options)))
  return total
}

function runThread(
  next: () => Task,
  total: Total,
  { onProgress, onFailure }: Pick<CrewOptions, 'onProgress' | 'onFailure'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url))
    worker.on('error', reject)
    worker.on('exit', () => resolve())
    worker.on('message', ({ seeds, events, failures }: Done) => {
      total.seeds += seeds
      total.events += events
      total.failures.push(...failures)
      for (const failure of failures) onFailure(failure)
      onProgress(total)
      worker.postMessage(next())
    })
  })
}
