/**
 * Lets the rest of the process have its turn. Runners whose models, tools and stores all answer from memory go on from promise to
 * promise, and no timer and no socket of the process is served meanwhile. Owns the measure of that, over all runners of a harness.
 */
import type { Clock } from '../ports.ts'

/** So long may timers wait. */
const SHARE_MS = 100
/** Only every so many effects is the clock read at all. */
const LOOK_EVERY = 32

export class FairShare {
  readonly #clock: Clock
  #effects = 0
  /** Since when a timer of no delay waits to fire; null while none does. */
  #waitingSince: number | null = null
  #cancel: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** After each effect. A pause, once timers have waited for long enough. */
  pause(): Promise<void> | undefined {
    if (++this.#effects % LOOK_EVERY > 0) return
    const now = this.#clock.now()
    if (this.#waitingSince === null) {
      this.#waitingSince = now
      this.#cancel = this.#clock.after(0, () => (this.#waitingSince = null), { unref: true })
    } else if (now - this.#waitingSince >= SHARE_MS) {
      return new Promise((resolve) => this.#clock.after(0, resolve))
    }
  }

  end(): void {
    this.#cancel()
  }
}
