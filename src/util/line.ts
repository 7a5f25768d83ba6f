/**
 * Items kept in order. Joining at the end and leaving from the front cost the same however long the line is; anywhere else a place is
 * found by halving, and what stands behind it moves up in memory.
 */
export class Line<T> {
  readonly #compare: (one: T, other: T) => number
  #items: (T | undefined)[] = []
  /** Where the line begins: the places of those who left from the front are dropped in bulk. */
  #start = 0

  /** `compare` tells any two items of the line apart, and never changes its mind about an item that is in it. */
  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length - this.#start
  }

  add(item: T): void {
    const at = this.#place(item)
    if (at === this.#items.length) this.#items.push(item)
    else this.#items.splice(at, 0, item)
  }

  /** Contract: the item is in the line. */
  remove(item: T): void {
    const at = this.#place(item)
    if (at > this.#start) return void this.#items.splice(at, 1)
    this.#items[this.#start++] = undefined
    if (this.#start === this.#items.length) return this.clear()
    if (this.#start < DROPPED_MIN || this.#start * 2 < this.#items.length) return
    this.#items = this.#items.slice(this.#start)
    this.#start = 0
  }

  clear(): void {
    this.#items = []
    this.#start = 0
  }

  /** The last item that comes before this one in the order, whether or not this one is in the line. */
  before(item: T): T | undefined {
    const at = this.#place(item)
    return at > this.#start ? this.#items[at - 1] : undefined
  }

  /** The first of the items, in order, that passes. */
  find(passes: (item: T) => boolean): T | undefined {
    for (let at = this.#start; at < this.#items.length; at++) if (passes(this.#items[at]!)) return this.#items[at]
    return undefined
  }

  /** The last of the items that passes. */
  findLast(passes: (item: T) => boolean): T | undefined {
    for (let at = this.#items.length - 1; at >= this.#start; at--) if (passes(this.#items[at]!)) return this.#items[at]
    return undefined
  }

  /** The first items in order, at most so many. */
  take(count = Infinity): T[] {
    return this.#items.slice(this.#start, this.#start + count) as T[]
  }

  /** Where the item stands, or would stand. */
  #place(item: T): number {
    let [low, high] = [this.#start, this.#items.length]
    if (high > low && this.#compare(this.#items[high - 1]!, item) < 0) return high
    if (high > low && this.#compare(item, this.#items[low]!) <= 0) return low
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(this.#items[middle]!, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** So few empty places are not worth a copy of the rest. */
const DROPPED_MIN = 32
