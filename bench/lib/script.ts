/**
 * The model and the tools of every case: instantaneous, in this process, scripted. Owns the plan of a turn and the counts by which a
 * run is proved complete: a figure of a loop that skipped something is thrown away.
 */

/** What a turn is to be: replies that ask for tools, then one of text. */
export interface Plan {
  /** Replies with calls. Default 0: the first reply is the last. */
  readonly steps?: number
  /** Calls in each of them. Default 1. */
  readonly width?: number
  readonly tool?: ToolName
  /** Pieces in which the last reply comes. Default: one. */
  readonly deltas?: number
  /** Characters of text beside the calls, in an argument, and in a result. Default: as little as there can be. */
  readonly chars?: { readonly text: number; readonly args: number; readonly result: number }
}

/** `noop` answers at once, `wait` after 5 ms. */
export type ToolName = 'noop' | 'wait'

export const WAIT_MS = 5

export interface ScriptedCall {
  readonly id: string
  readonly name: ToolName
  /** JSON text. */
  readonly args: string
}

/** A reply that asks for calls, or one that ends the turn. */
export interface ScriptedReply {
  readonly text: string
  readonly deltas: readonly string[]
  readonly calls: readonly ScriptedCall[]
}

/** JSON Schema of both tools. */
export const TOOL_INPUT = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
  additionalProperties: false,
} as const

export class Script {
  /** Called before each reply is given. */
  onCall: (() => void) | null = null
  /** Pieces of text that reached whoever called the loop. */
  deltasSeen = 0
  /** Characters of all replies, arguments and results since the plan was made. */
  payload = 0
  #calls = 0
  #runs = 0
  #seen = 0
  #left = 0
  #unique = 0
  #plan: Plan = {}
  #deltas: readonly string[] = []
  #text = ''

  plan(plan: Plan): void {
    this.#plan = plan
    this.#left = plan.steps ?? 0
    this.#deltas = Array.from({ length: plan.deltas ?? 1 }, (_, at) => `w${String(at % 1000).padStart(3, '0')} `)
    this.#text = this.#deltas.join('')
    this.#calls = this.#runs = this.#seen = this.deltasSeen = this.payload = 0
  }

  /** One model call; `messages` is how many the loop sent. */
  next(messages: number): ScriptedReply {
    this.#calls++
    this.#seen = messages
    this.onCall?.()
    if (this.#left === 0) {
      this.payload += this.#text.length
      return { text: this.#text, deltas: this.#deltas, calls: [] }
    }
    this.#left--
    const { width = 1, tool = 'noop', chars } = this.#plan
    const text = 't'.repeat(chars?.text ?? 0)
    const calls: ScriptedCall[] = []
    for (let index = 0; index < width; index++) calls.push(this.#call(tool, chars?.args ?? 0))
    this.payload += text.length
    return { text, deltas: [], calls }
  }

  /** The body of both tools; the arguments are as they reached it. */
  run(args: { readonly q?: unknown }): string {
    if (typeof args.q !== 'string' || !args.q.startsWith('q')) throw new Error('the arguments were lost')
    this.#runs++
    const result = this.#plan.chars === undefined ? 'ok' : 'r'.repeat(this.#plan.chars.result)
    this.payload += result.length
    return result
  }

  /** Throws unless the turn was whole: every call, every run, every delta, and the whole history in the last request. */
  check({ history = 0, deltas = false }: { readonly history?: number; readonly deltas?: boolean } = {}): void {
    const { steps = 0, width = 1 } = this.#plan
    this.#same('model calls', this.#calls, steps + 1)
    this.#same('tool runs', this.#runs, steps * width)
    this.#same('messages in the last request', this.#seen, history + 1 + steps * (1 + width))
    if (deltas) this.#same('deltas', this.deltasSeen, this.#deltas.length)
  }

  /** Arguments differ from call to call, so that no guard takes a call for a repetition. */
  #call(name: ToolName, chars: number): ScriptedCall {
    const q = `q${this.#unique++}`.padEnd(chars, '.')
    const args = JSON.stringify({ q })
    this.payload += args.length
    return { id: `call_${this.#unique}`, name, args }
  }

  #same(what: string, value: number, wanted: number): void {
    if (value !== wanted) throw new Error(`${what}: ${value}, wanted ${wanted}; the figure is void`)
  }
}
