/**
 * The runner's sleep (docs/design/kernel.md, trap 2). Owns whether something happened since the runner last looked, and the one timer
 * that keeps a process alive with a session at work in it; not what there is to look at.
 */
import type { Clock } from '../ports.ts'

/** In pieces that no timer overflows. */
const LONGEST_MS = 3_600_000

export class Sleep {
  readonly #clock: Clock
  #woken = false
  #poke: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The runner begins to look: what happens from here on wakes it. */
  beginToLook(): void {
    this.#woken = false
  }

  /** Something happened since the runner began to look. */
  get isWoken(): boolean {
    return this.#woken
  }

  wake(): void {
    this.#woken = true
    this.#poke?.()
  }

  /** Until it is woken, or for `ms`. */
  till(ms?: number): Promise<void> {
    return new Promise((resolve) => this.#begin(ms, resolve))
  }

  #begin(ms: number | undefined, end: () => void): void {
    const cancel = ms === undefined ? null : this.#clock.after(Math.min(ms, LONGEST_MS), () => this.#poke?.())
    this.#poke = () => {
      this.#poke = null
      cancel?.()
      end()
    }
  }

  /** Keeps the process alive until the answer is called: one timer for all sleeps. */
  keepAlive(): () => void {
    let cancel: () => void
    const arm = (): void => void (cancel = this.#clock.after(LONGEST_MS, arm))
    arm()
    return () => cancel()
  }
}
