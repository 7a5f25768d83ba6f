/**
 * Every choice of a run that is not calm. Drawn from a seed, and written down if asked; or read from what was written down, where all
 * that is not written is calm. Nothing else in a run is random.
 */
import type { Json } from '../../util/json.ts'
import { Chance } from './chance.ts'
import type { SimDecision } from './sim.ts'

export interface FateOptions {
  readonly seed: number
  /** Given: nothing is drawn, this is what was decided. */
  readonly decisions?: readonly SimDecision[]
  /** Whether what is decided is written down. */
  readonly records?: boolean
  /** Hears of each choice that is not calm. */
  readonly onDecided?: (decision: SimDecision) => void
}

export class Fate {
  readonly chance: Chance
  /** What was decided so far, where it was not calm. */
  readonly decisions: SimDecision[] = []
  readonly #written: ReadonlyMap<string, Json> | null
  readonly #records: boolean
  readonly #onDecided: ((decision: SimDecision) => void) | undefined
  readonly #asked = new Map<string, number>()
  readonly #preparations = new Map<string, Json>()
  #isCalm = false
  #isPreparing = false

  constructor({ seed, decisions, records = false, onDecided }: FateOptions) {
    this.#onDecided = onDecided
    this.chance = new Chance(seed)
    this.#written = decisions === undefined ? null : new Map(decisions)
    this.#records = records
  }

  /** Whether it is written down already: nothing is drawn. */
  get isWritten(): boolean {
    return this.#written !== null
  }

  get isCalm(): boolean {
    return this.#isCalm
  }

  /** From here on everything is calm. */
  calmDown(): void {
    this.#isCalm = true
  }

  /** Runs what prepares a life: its choices are drawn once, and are the same for every life of the run. */
  prepare<T>(run: () => T): T {
    this.#isPreparing = true
    try {
      return run()
    } finally {
      this.#isPreparing = false
    }
  }

  /** The choice named `key`; asked again under the same name it is another choice. */
  decide<T extends Json>(key: string, calm: T, choose: (chance: Chance) => T): T {
    if (this.#isPreparing) return this.#prepared(key, calm, choose)
    return this.#isCalm ? calm : this.#decide(key, calm, choose)
  }

  #prepared<T extends Json>(key: string, calm: T, choose: (chance: Chance) => T): T {
    const known = this.#preparations.get(key)
    if (known !== undefined) return known as T
    const chosen = this.#decide(key, calm, choose)
    this.#preparations.set(key, chosen)
    return chosen
  }

  #decide<T extends Json>(key: string, calm: T, choose: (chance: Chance) => T): T {
    if (this.#written === null && !this.#records && this.#onDecided === undefined) return choose(this.chance)
    const name = this.#nameOf(key)
    const chosen = this.#written === null ? choose(this.chance) : ((this.#written.get(name) ?? calm) as T)
    if (chosen !== calm) this.#note([name, chosen])
    return chosen
  }

  #note(decision: SimDecision): void {
    if (this.#records) this.decisions.push(decision)
    this.#onDecided?.(decision)
  }

  #nameOf(key: string): string {
    const times = (this.#asked.get(key) ?? 0) + 1
    this.#asked.set(key, times)
    return times === 1 ? key : `${key} ~${times}`
  }
}
