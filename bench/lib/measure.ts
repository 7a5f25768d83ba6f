/** Numbers out of repetitions. Times are microseconds unless a name says otherwise. */
import { nowWarm } from './profiler.ts'

/** The middle of some numbers. Throws if there are none: a case that measured nothing has failed. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new Error('nothing was measured')
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new Error('nothing was measured')
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Microseconds since some moment, of a clock that never goes back. */
export const nowUs = (): number => performance.now() * 1000

/**
 * Microseconds that this thread has worked: where other programs want the processor too, the better clock for work that waits for
 * nothing. Null before Node 23.9, which cannot tell.
 */
export const workedUs: (() => number) | null = threadClock()

function threadClock(): (() => number) | null {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => { readonly user: number; readonly system: number } }
  if (threadCpuUsage === undefined) return null
  return () => {
    const { user, system } = threadCpuUsage.call(process)
    return user + system
  }
}

export interface PairOptions {
  readonly reps: number
  /** No repetition begins after so long; the first one always does. */
  readonly budgetMs: number
}

/** Two things measured in turn, so that whatever the machine does meets both. */
export interface Pair {
  readonly subject: readonly number[]
  readonly floor: readonly number[]
  /** Median of the ratios of neighbours. */
  readonly ratio: number
}

/** Measures floor and subject alternately. Each function answers its own figure. */
export async function inPairs(
  subject: () => Promise<number>,
  floor: () => Promise<number>,
  { reps, budgetMs }: PairOptions,
): Promise<Pair> {
  await nowWarm()
  const floors: number[] = []
  const subjects: number[] = []
  const end = nowUs() + budgetMs * 1000
  for (let rep = 0; rep < reps && (rep === 0 || nowUs() < end); rep++) {
    floors.push(await floor())
    subjects.push(await subject())
  }
  return { subject: subjects, floor: floors, ratio: median(subjects.map((value, rep) => value / floors[rep]!)) }
}
