/**
 * Tells a loop that goes round and round from one that works: what it asks for must come to something, sooner or later. Owns the counts
 * and their bounds; that others get their turn is fair-share.ts.
 * Invariant: whoever asks without end for what comes to nothing ends in `loop-stalled`, at a bound.
 */
import type { Effect } from '../../kernel/effects.ts'
import { TurnstepError } from '../../kernel/errors.ts'

/** Effects in a row that change nothing. */
const IDLE_MAX = 1_000
/** Effects without a model call or a tool, after which the loop, or a hook, is broken. */
const BUSY_MAX = 10_000

export class StallWatch {
  #idle = 0
  #busy = 0

  /** Throws `loop-stalled` at the bounds. `changed`: the effect recorded something; `live`: a model call or a tool is at work. */
  saw(loop: string, { kind }: Effect, { changed, live }: { readonly changed: boolean; readonly live: boolean }): void {
    this.#busy = live ? 1 : this.#busy + 1
    this.#idle = changed || kind === 'wait' ? 0 : this.#idle + 1
    if (this.#busy > BUSY_MAX)
      throw stalled(
        `loop "${loop}" asked for ${this.#busy} things, "${kind}" last, and no model was called and no tool was run`,
      )
    if (this.#idle > IDLE_MAX)
      throw stalled(`loop "${loop}" asked for "${kind}" ${this.#idle} times and nothing changed`)
  }
}

const stalled = (message: string): TurnstepError => new TurnstepError('loop-stalled', message)
