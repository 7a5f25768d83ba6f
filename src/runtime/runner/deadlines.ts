/**
 * When bodies have had their time (C13). One timer for all of them, armed for the first that is due and left armed when that one
 * ends early: most bodies end long before, and a timer for each would cost more than their call.
 */
import type { Clock } from '../ports.ts'

interface Deadline {
  readonly at: number
  readonly onOver: () => void
}

export class Deadlines {
  readonly #clock: Clock
  readonly #open = new Set<Deadline>()
  #armed: { readonly at: number; readonly cancel: () => void } | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `onOver` once `ms` are over, unless the answer is called before. */
  add(ms: number, onOver: () => void): () => void {
    const deadline = { at: this.#clock.now() + ms, onOver }
    this.#open.add(deadline)
    if (this.#armed === null || deadline.at < this.#armed.at) this.#arm(deadline.at)
    return () => void this.#open.delete(deadline)
  }

  /** Forgets them all; no timer is left. */
  clear(): void {
    this.#open.clear()
    this.#armed?.cancel()
    this.#armed = null
  }

  #arm(at: number): void {
    this.#armed?.cancel()
    this.#armed = { at, cancel: this.#clock.after(at - this.#clock.now(), () => this.#look()) }
  }

  #look(): void {
    this.#armed = null
    const now = this.#clock.now()
    for (const deadline of this.#open) {
      if (deadline.at > now) continue
      this.#open.delete(deadline)
      deadline.onOver()
    }
    let next = Number.POSITIVE_INFINITY
    for (const { at } of this.#open) next = Math.min(next, at)
    if (next !== Number.POSITIVE_INFINITY && this.#armed === null) this.#arm(next)
  }
}
