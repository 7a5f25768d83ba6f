/** What was asked and answered: in memory, and on disk as JSON lines. Owns the file; keys and tokens of clients are never in it. */
import { appendFileSync } from 'node:fs'
import type { Message } from '../../kernel/message.ts'

/** One request. */
export interface RequestRecord {
  /** From 1, in order of arrival. */
  readonly n: number
  readonly session: string
  readonly wire: string
  readonly path: string
  /** The very bytes, as text. */
  readonly raw: string
  readonly model: string
  /** The request in neutral words; null where it was refused. */
  readonly view: null | {
    readonly system: string
    readonly tools: readonly string[]
    readonly messages: readonly Message[]
  }
  /** Id of the rule that it broke, or `script` where no step answers it; null: it was answered. */
  readonly refused: string | null
  /** Name of the step that answered. */
  readonly step: string | null
  /** Expectations that did not hold. */
  readonly complaints: readonly string[]
  readonly status: number
  /** Frames that were written. */
  readonly frames: number
  /** The client left before the answer was whole. */
  readonly hungUp: boolean
}

/** Those in memory; the file has all. */
const KEPT = 10_000

export class Recorder {
  readonly all: RequestRecord[] = []
  readonly #path: string | null
  #count = 0

  constructor(path: string | null) {
    this.#path = path
  }

  /** The number of the request that begins now. */
  begin(): number {
    return ++this.#count
  }

  /** A request is over. */
  add(record: RequestRecord): void {
    this.all.push(record)
    if (this.all.length > KEPT) this.all.shift()
    if (this.#path !== null) appendFileSync(this.#path, `${JSON.stringify(record)}\n`)
  }
}
