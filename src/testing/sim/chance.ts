/** Chance that can be repeated: the same seed gives the same sequence. */
import type { Random } from '../../runtime/ports.ts'

/** Draws from a seed. */
export class Chance implements Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** In [0, 1). The generator is mulberry32, which is in the public domain. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.next() * below)
  }

  /** True with this probability. */
  is(probability: number): boolean {
    return this.next() < probability
  }

  /** One of these, each as likely as the others. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  /** One of these, by weight. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T {
    let all = 0
    for (const [weight] of items) all += weight
    let left = this.next() * all
    for (const [weight, item] of items) {
      left -= weight
      if (left < 0) return item
    }
    return items.at(-1)![1]
  }
}
