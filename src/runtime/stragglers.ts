/** Bodies that outlive their calls, over all leases of a session here: each holds its resources while it lives, up to a bound (C6). */
import type { CallRecord } from '../kernel/events.ts'
import type { Clock } from './ports.ts'

/** After this a straggler's resources are given to others; what it still does cannot be forbidden. */
const HOLD_MAX_MS = 60_000

export class Stragglers {
  readonly #clock: Clock
  readonly #held = new Map<CallRecord['resources'], () => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get held(): readonly CallRecord['resources'][] {
    return [...this.#held.keys()]
  }

  /** Takes the resources; the answer gives them back. `onFree` is called once, when they are free again. */
  add(resources: CallRecord['resources'], onFree: () => void): () => void {
    const own = [...resources]
    const free = (): void => {
      const cancel = this.#held.get(own)
      if (cancel === undefined) return
      this.#held.delete(own)
      cancel()
      onFree()
    }
    this.#held.set(own, this.#clock.after(HOLD_MAX_MS, free, { unref: true }))
    return free
  }

  /** Forgets them all: nothing here will start again. */
  clear(): void {
    for (const cancel of this.#held.values()) cancel()
    this.#held.clear()
  }
}
