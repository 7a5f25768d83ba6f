import type { Clock } from '../runtime/ports.ts'

/**
 * A clock that stands still until it is moved. Timers fire in order of their time, then of their making, and what they wake runs
 * to its next wait before the clock moves on.
 */
export class FakeClock implements Clock {
  /** Lets everything run that waits for nothing but promises. */
  readonly settle: () => Promise<void>
  #now: number
  #order = 0
  readonly #timers = new Set<{ readonly at: number; readonly order: number; readonly run: () => void }>()

  /** `settle`: lets everything run that waits for promises only; default `drainMicrotasks`. */
  constructor(startAt = 1_700_000_000_000, settle: () => Promise<void> = drainMicrotasks) {
    this.#now = startAt
    this.settle = settle
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Timers that are armed: a test that leaves one has leaked it. */
  get armed(): number {
    return this.#timers.size
  }

  /** When the next timer fires, or null. */
  get nextAt(): number | null {
    return this.#next()?.at ?? null
  }

  /** Moves on by `ms`, firing what comes due on the way. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    await this.settle()
    for (let next = this.#next(); next !== undefined && next.at <= target; next = this.#next()) {
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.run()
      await this.settle()
    }
    this.#now = target
  }

  #next(): { at: number; order: number; run: () => void } | undefined {
    let best: { at: number; order: number; run: () => void } | undefined
    for (const timer of this.#timers) {
      if (best === undefined || timer.at < best.at || (timer.at === best.at && timer.order < best.order)) best = timer
    }
    return best
  }
}

/** Lets everything run that waits for promises only, and what comes of it within the process. */
export async function drainMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** The same where all that runs waits for promises and for nothing else: they are all served before this comes back. */
export function drainPromises(): Promise<void> {
  return new Promise<void>((resolve) => setImmediate(resolve))
}
