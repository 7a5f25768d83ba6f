/**
 * Bodies that outlive their calls, over all leases of a session here. Owns the resources that they hold, and for how long; not the bodies,
 * which are the call pool's, nor what may start beside them, which is the plan's (C6).
 * Invariants: each holds its resources while it lives, up to a bound; they are given back once; one runner at a time hears of it.
 */
import type { CallRecord } from '../../kernel/events.ts'
import type { Clock } from '../ports.ts'

/** After this a straggler's resources are given to others; what it still does cannot be forbidden. */
const HOLD_MAX_MS = 60_000

/** Made once: one made where a runner is in sight would keep that runner, with all of its context, for as long as the session is open. */
const nobodyHears = (): void => {}

export class Stragglers {
  readonly #clock: Clock
  readonly #held = new Map<CallRecord['resources'], () => void>()
  #list: readonly CallRecord['resources'][] = []
  /** The runner at work, if there is one: not the one that made them, which may have let go long ago. */
  #onFree: () => void = nobodyHears

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get held(): readonly CallRecord['resources'][] {
    return this.#list
  }

  /** Calls back whenever resources are free again, until the answer is called. One at a time may listen. */
  listen(onFree: () => void): () => void {
    this.#onFree = onFree
    return () => {
      if (this.#onFree === onFree) this.#onFree = nobodyHears
    }
  }

  /** Takes the resources; the answer gives them back. */
  add(resources: CallRecord['resources']): () => void {
    const own = [...resources]
    const free = (): void => {
      const cancel = this.#held.get(own)
      if (cancel === undefined) return
      this.#held.delete(own)
      this.#list = [...this.#held.keys()]
      cancel()
      this.#onFree()
    }
    this.#held.set(own, this.#clock.after(HOLD_MAX_MS, free, { unref: true }))
    this.#list = [...this.#held.keys()]
    return free
  }

  /** Forgets them all: nothing here will start again. */
  clear(): void {
    for (const cancel of this.#held.values()) cancel()
    this.#held.clear()
    this.#list = []
  }
}
