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
  for (let before = ''; before !== search.size && !search.isSpent;) {
    before = search.size
    await search.dropKinds()
    await search.dropFrom('moves')
    await search.dropFrom('decisions')
    await search.slide()
    await search.joinWaits()
    await search.plainer('moves')
    await search.plainer('decisions')
  }
  await search.renumber()
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
    const kinds = new Set(this.best.decisions.map(([, question]) => kindOf(question)))
    await this.#try({ ...this.best, decisions: [] })
    for (const kind of kinds)
      await this.#try({
        ...this.best,
        decisions: this.best.decisions.filter(([, question]) => kindOf(question) !== kind),
      })
  }

  /** Pieces of half the list, then of a quarter, down to one. */
  async dropFrom(list: List): Promise<void> {
    for (
      let piece = Math.ceil(this.best[list].length / 2);
      piece >= 1 && !this.isSpent;
      piece = Math.floor(piece / 2)
    ) {
      for (let end = this.best[list].length; end > 0 && !this.isSpent;) {
        const from = Math.max(0, end - piece)
        const kept = [...this.best[list].slice(0, from), ...this.best[list].slice(end)]
        await this.#try({ ...this.best, [list]: kept })
        end = Math.min(from, this.best[list].length)
      }
    }
  }

  /** One answer fewer, where those that come after it move up. */
  async slide(): Promise<void> {
    for (let at = this.best.decisions.length - 1; at >= 0 && !this.isSpent; at--) {
      const left = this.best.decisions[at]
      if (left === undefined) continue
      const rest = this.best.decisions.toSpliced(at, 1)
      await this.#try({ ...this.best, decisions: rest.map((decision) => movedUp(decision, left)) })
    }
  }

  /** One wait instead of two in a row. */
  async joinWaits(): Promise<void> {
    for (let at = this.best.moves.length - 1; at > 0 && !this.isSpent; at--) {
      const [one, other] = [this.best.moves[at - 1], this.best.moves[at]]
      if (one?.[1] !== 'wait' || other?.[1] !== 'wait') continue
      const joined = [one[0], 'wait', Number(one[2]) + Number(other[2])] as const
      await this.#try({
        moves: this.best.moves.toSpliced(at - 1, 2, joined),
        decisions: this.best.decisions.map(
          ([behind, ...said]) => [behind === other[0] ? one[0] : behind, ...said] as const,
        ),
      })
    }
  }

  /** Each value with less in it: a smaller number, a shorter list, a field fewer. */
  async plainer(list: List): Promise<void> {
    const simpler = list === 'moves' ? simplerParams : simplerThan
    for (let at = 0; at < this.best[list].length && !this.isSpent; at++) {
      for (let tried = 0; ; tried++) {
        const [number, name, value] = this.best[list][at] ?? [0, '', null]
        const [candidate] = [...simpler(value)].slice(tried)
        if (candidate === undefined || this.isSpent) break
        const changed = this.best[list].with(at, [number, name, candidate] as const)
        if (await this.#try({ ...this.best, [list]: changed })) tried = -1
      }
    }
  }

  /** Moves are numbered from 1 on. */
  async renumber(): Promise<void> {
    const { moves, decisions } = this.best
    const numbers = new Map([[0, 0], ...moves.map(([number], at) => [number, at + 1] as const)])
    await this.#try({
      moves: moves.map(([number, name, params]) => [numbers.get(number)!, name, params] as const),
      decisions: decisions.map(([behind, question, answer]) => [numbers.get(behind) ?? 0, question, answer] as const),
    })
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

const kindOf = (question: string): string => question.split(' ')[0]!

/** The same question behind the same move, asked once less before. */
function movedUp([behind, question, answer]: SimDecision, left: SimDecision): SimDecision {
  const [name, times] = timesOf(question)
  const [leftName, leftTimes] = timesOf(left[1])
  if (behind !== left[0] || name !== leftName || times < leftTimes) return [behind, question, answer]
  return [behind, times <= 2 ? name : `${name} ~${times - 1}`, answer]
}

function timesOf(question: string): [name: string, times: number] {
  const [name, times = '1'] = question.split(' ~')
  return [name!, Number(times)]
}

/** Particulars of a move name things: only flags are left out, and only numbers made smaller. */
function* simplerParams(params: Json): Generator<Json> {
  if (typeof params === 'number') yield* smallerThan(params)
  if (!isPlainObject(params)) return
  for (const [key, value] of Object.entries(params as { readonly [key: string]: Json })) {
    const { [key]: _left, ...rest } = params as { readonly [key: string]: Json }
    if (value === true) yield rest
    if (typeof value === 'number' && key !== 'process')
      for (const less of smallerThan(value)) yield { ...(params as { readonly [key: string]: Json }), [key]: less }
  }
}

/** Values that are a little less than this one, the least first. */
export function* simplerThan(value: Json): Generator<Json> {
  if (typeof value === 'number') yield* smallerThan(value)
  else if (Array.isArray(value)) yield* shorterThan(value as readonly Json[])
  else if (isPlainObject(value)) yield* fewerThan(value as { readonly [key: string]: Json })
}

function* smallerThan(value: number): Generator<number> {
  const whole = Math.floor(value)
  yield* new Set([0, Math.floor(value / 2), whole - 1, whole].filter((less) => less >= 0 && less < value))
}

/** A pair of numbers, or a word and its number, is no list that can be cut. */
function* shorterThan(items: readonly Json[]): Generator<Json> {
  if (items.length > 1 && typeof items[0] === 'object')
    for (let at = 0; at < items.length; at++) yield items.toSpliced(at, 1)
  for (const [at, item] of items.entries()) for (const simpler of simplerThan(item)) yield items.with(at, simpler)
}

function* fewerThan(object: { readonly [key: string]: Json }): Generator<Json> {
  for (const [key, item] of Object.entries(object)) {
    const { [key]: _left, ...rest } = object
    yield rest
    for (const simpler of simplerThan(item)) yield { ...object, [key]: simpler }
  }
}
