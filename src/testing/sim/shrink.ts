/**
 * From a run that broke a rule to the smallest that still does. Moves and decisions are left out in ever smaller pieces, then their
 * values are made plain. Owns the search; a candidate is tried by replaying it. Bounded by the number of replays.
 */
import { isPlainObject, type Json } from '../../util/json.ts'
import type { SimDecision, SimMove } from './sim.ts'

/** What can be left out. */
export interface Written {
  readonly moves: readonly SimMove[]
  readonly decisions: readonly SimDecision[]
}

/** Whether the rule is still broken; if so, by what of the candidate was played and asked for at all. */
export type Breaks = (candidate: Written) => Promise<Written | null>

const REPLAYS_MAX = 600

/** Contract: `start` breaks the rule; so does the answer. */
export async function shrink(start: Written, breaks: Breaks): Promise<Written> {
  const search = new Search(start, breaks)
  for (let before = ''; before !== search.size && !search.isSpent; ) {
    before = search.size
    await search.dropKinds()
    await search.dropFrom('moves')
    await search.dropFrom('decisions')
    await search.plainer('moves')
    await search.plainer('decisions')
  }
  return search.best
}

type List = 'moves' | 'decisions'

class Search {
  best: Written
  readonly #breaks: Breaks
  #left = REPLAYS_MAX

  constructor(start: Written, breaks: Breaks) {
    this.best = start
    this.#breaks = breaks
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  get size(): string {
    return JSON.stringify(this.best)
  }

  /** All decisions about one kind of thing at once: what does not matter mostly does not matter at all. */
  async dropKinds(): Promise<void> {
    const kinds = new Set(this.best.decisions.map(([name]) => kindOf(name)))
    await this.#try({ ...this.best, decisions: [] })
    for (const kind of kinds)
      await this.#try({ ...this.best, decisions: this.best.decisions.filter(([name]) => kindOf(name) !== kind) })
  }

  /** Pieces of half the list, then of a quarter, down to one. */
  async dropFrom(list: List): Promise<void> {
    for (let piece = Math.ceil(this.best[list].length / 2); piece >= 1 && !this.isSpent; piece = Math.floor(piece / 2)) {
      for (let end = this.best[list].length; end > 0 && !this.isSpent; ) {
        const from = Math.max(0, end - piece)
        const kept = [...this.best[list].slice(0, from), ...this.best[list].slice(end)]
        await this.#try({ ...this.best, [list]: kept })
        end = Math.min(from, this.best[list].length)
      }
    }
  }

  /** Each value with less in it: a shorter list, a smaller number, one thing fewer. */
  async plainer(list: List): Promise<void> {
    for (let at = 0; at < this.best[list].length && !this.isSpent; at++) {
      for (let tried = 0; ; tried++) {
        const [name, value] = this.best[list][at] ?? ['', null]
        const simpler = [...simplerThan(value)][tried]
        if (simpler === undefined || this.isSpent) break
        const changed = this.best[list].with(at, [name, simpler] as const)
        if (await this.#try({ ...this.best, [list]: changed })) tried = -1
      }
    }
  }

  async #try(candidate: Written): Promise<boolean> {
    if (this.isSpent || JSON.stringify(candidate) === this.size) return false
    this.#left--
    const broken = await this.#breaks(candidate)
    if (broken === null) return false
    this.best = broken
    return true
  }
}

const kindOf = (name: string): string => name.split(' ')[0]!

/** Values that are a little less than this one, the least first. */
export function* simplerThan(value: Json): Generator<Json> {
  if (typeof value === 'number' && value > 0) {
    for (const less of [0, Math.floor(value / 2), Math.floor(value) - 1, Math.floor(value)]) if (less >= 0 && less < value) yield less
  }
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    for (let at = 0; at < items.length; at++) if (items.length > 1 && typeof items[0] === 'object') yield items.toSpliced(at, 1)
    for (const [at, item] of items.entries()) for (const simpler of simplerThan(item)) yield items.with(at, simpler)
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) {
      const { [key]: item, ...rest } = value as { readonly [key: string]: Json }
      yield rest
      for (const simpler of simplerThan(item!)) yield { ...(value as { readonly [key: string]: Json }), [key]: simpler }
    }
  }
}
