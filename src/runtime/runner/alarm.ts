/**
 * One timer for many deadlines (C13): armed for the first that is due, and left armed when that one is met early, as nearly all are.
 * A timer for each would cost more than what it guards.
 */
import type { Clock } from '../ports.ts'

export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #at: number | null = null
  #cancel: () => void = () => {}

  /** `ring` may be called for nothing: it looks at the clock, and sets the alarm for what is left. */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Rings at this time at the latest, in milliseconds since the epoch. */
  by(at: number): void {
    if (this.#at !== null && this.#at <= at) return
    this.#cancel()
    this.#at = at
    this.#cancel = this.#clock.after(at - this.#clock.now(), () => {
      this.#at = null
      this.#ring()
    })
  }

  stop(): void {
    this.#cancel()
    this.#at = null
  }
}
