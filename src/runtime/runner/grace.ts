/**
 * The grace of an aborted turn (T7), measured by a timer and not by the clock: one that is set back does not stretch it. Owns the
 * timer; what is done when the grace is over is the loop's choice.
 */
import type { Turn } from '../../kernel/state.ts'
import type { Clock } from '../ports.ts'

type Abort = NonNullable<Turn['abort']>

export class Grace {
  readonly #clock: Clock
  readonly #ring: () => void
  /** Until when it was to last, once that is over. */
  #over: number | null = null
  #cancel: () => void = () => {}

  /** `ring` is called when the grace is over. */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Whoever takes over goes by the clock as far as it can: what is left is never more than what was given. */
  begin({ at, until }: Abort, now: number): void {
    this.end()
    const over = (): void => {
      this.#over = until
      this.#ring()
    }
    this.#cancel = this.#clock.after(Math.max(0, until - Math.max(now, at)), over, { unref: true })
  }

  /** The time as the loop is to see it in this turn: not before what is known to be over. */
  timeIn(turn: Turn | null, now: number): number {
    return this.#over !== null && turn?.abort?.until === this.#over ? Math.max(now, this.#over) : now
  }

  end(): void {
    this.#cancel()
    this.#over = null
  }
}
