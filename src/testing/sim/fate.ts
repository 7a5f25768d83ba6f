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
  readonly #names: boolean
  readonly #options: FateOptions
  /** How often each question was asked since the last move. */
  readonly #asked = new Map<string, number>()
  readonly #preparations = new Map<string, Json>()
  #behind = 0
  #isCalm = false
  #isPreparing = false

  constructor(options: FateOptions) {
    const { seed, decisions, records = false, onDecided } = options
    this.#options = options
    this.chance = new Chance(seed)
    this.#written =
      decisions === undefined ? null : new Map(decisions.map(([behind, name, answer]) => [`${behind} ${name}`, answer]))
    this.#names = this.#written !== null || records || onDecided !== undefined
  }

  get isCalm(): boolean {
    return this.#isCalm
  }

  /** From here on everything is calm. */
  calmDown(): void {
    this.#isCalm = true
  }

  /** A move is made: what is asked from here on is named by it. So a move before it may be left out, and the names stay. */
  behind(move: number): void {
    this.#behind = move
    this.#asked.clear()
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

  /** Asked again, the same question is another choice. */
  decide<T extends Json>(question: string, calm: T, choose: (chance: Chance) => T): T {
    if (this.#isPreparing) return this.#prepared(question, calm, choose)
    return this.#isCalm ? calm : this.#decide(question, calm, choose)
  }

  #prepared<T extends Json>(question: string, calm: T, choose: (chance: Chance) => T): T {
    if (this.#preparations.has(question)) return this.#preparations.get(question) as T
    const chosen = this.#decide(question, calm, choose)
    this.#preparations.set(question, chosen)
    return chosen
  }

  #decide<T extends Json>(question: string, calm: T, choose: (chance: Chance) => T): T {
    if (!this.#names) return choose(this.chance)
    const name = this.#nameOf(question)
    const chosen = this.#written === null ? choose(this.chance) : read(this.#written, `${this.#behind} ${name}`, calm)
    if (chosen !== calm) this.#note([this.#behind, name, chosen])
    return chosen
  }

  #note(decision: SimDecision): void {
    if (this.#options.records === true) this.decisions.push(decision)
    this.#options.onDecided?.(decision)
  }

  #nameOf(question: string): string {
    const times = (this.#asked.get(question) ?? 0) + 1
    this.#asked.set(question, times)
    return times === 1 ? question : `${question} ~${times}`
  }
}

function read<T extends Json>(written: ReadonlyMap<string, Json>, name: string, calm: T): T {
  return written.has(name) ? (written.get(name) as T) : calm
}
