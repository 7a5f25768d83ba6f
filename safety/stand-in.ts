/** The model's stand-in: it decides from the history alone, so that any process can go on where another was killed. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Message, Model, ModelChunk, ModelReply, ModelRequest } from 'turnstep'
import { textOf } from './history.ts'

/** What it says next. */
export interface Said {
  readonly text?: string
  readonly reasoning?: string
  /** Opaque state that has to come back with this reply, byte for byte. */
  readonly replay?: string
  readonly calls?: readonly { readonly name: string; readonly args: string }[]
  /** The answer was cut at the output limit. */
  readonly cut?: boolean
}

/** A call as the stand-in makes it. */
export const call = (name: string, args: object): { readonly name: string; readonly args: string } => ({
  name,
  args: JSON.stringify(args),
})

/** A model of the public port, with the histories that it was given. */
export class StandIn implements Model {
  readonly route = { adapter: 'safety', wire: 'none', provider: 'safety', model: 'stand-in', scope: 'default' }
  readonly binding = 'none'
  readonly contextTokens = null
  readonly histories: (readonly Message[])[] = []
  /** It has been asked and has not answered yet. */
  isSpeaking = false
  readonly #decide: (history: readonly Message[]) => Said
  readonly #latencyMs: number
  readonly #onRequest: (history: readonly Message[]) => void

  constructor(
    decide: (history: readonly Message[]) => Said,
    options: { readonly latencyMs?: number; readonly onRequest?: (history: readonly Message[]) => void } = {},
  ) {
    this.#decide = decide
    this.#latencyMs = options.latencyMs ?? 10
    this.#onRequest = options.onRequest ?? (() => {})
  }

  async *stream({ messages }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const history = messages.toArray()
    this.histories.push(history)
    this.isSpeaking = true
    this.#onRequest(history)
    const said = this.#decide(history)
    if (said.text !== undefined) yield { type: 'text', text: said.text }
    // An abort ends the wait; the signal is looked at below.
    await wait(this.#latencyMs, undefined, { signal }).catch(() => {})
    this.isSpeaking = false
    if (signal.aborted) {
      const failure = { kind: 'aborted', message: 'aborted', retry: false } as const
      yield { type: 'end', kind: 'aborted', failure, usage: null }
      return
    }
    const kind = said.cut === true ? 'max-tokens' : said.calls === undefined ? 'done' : 'calls'
    yield { type: 'end', kind, reply: replyOf(said, this.histories.length) }
  }
}

function replyOf({ text, reasoning, replay, calls = [], cut = false }: Said, n: number): ModelReply {
  return {
    parts: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning } as const]),
      ...(text === undefined ? [] : [{ type: 'text', text } as const]),
      ...calls.map((_, index) => ({ type: 'call', index }) as const),
    ],
    calls: calls.map((one, index) => ({ providerId: `call_${n}_${index}`, ...one })),
    replay: replay ?? null,
    usage: null,
    rawFinish: cut ? 'length' : 'stop',
  }
}

/** The texts of a tool's results, oldest first. */
export function resultsOf(history: readonly Message[], tool: string): string[] {
  return history.flatMap((message) =>
    message.role === 'tool' && message.name === tool ? [textOf(message.content)] : [],
  )
}

/**
 * Refunds what the user asks for, then takes a note, as a model does that believes what it reads: a refund that went through is
 * done; one whose outcome is unknown is looked up in the books; any other answer, or none, and it asks for the refund again.
 */
export function refundOnce(history: readonly Message[]): Said {
  const at = history.findLastIndex((message) => message.role === 'user' && ASKED.test(textOf(message.content)))
  if (at === -1) return { text: 'What should I do?' }
  const order = ASKED.exec(textOf((history[at] as Extract<Message, { readonly role: 'user' }>).content))![1]!
  const since = history.slice(at)
  const refunds = resultsOf(since, 'refund')
  const checks = resultsOf(since, 'check')
  const isPaid = refunds.some((text) => text.includes('refunded')) || checks.some((text) => text.includes('found'))
  if (isPaid)
    return resultsOf(since, 'note').length > 0 ? { text: 'Done.' } : { calls: [call('note', { text: order })] }
  const last = refunds.at(-1)
  // One look for each refund of which nothing is known.
  const unknown = refunds.filter((text) => /unknown/i.test(text)).length
  if (last !== undefined && unknown > checks.length) return { calls: [call('check', { order })] }
  return { calls: [call('refund', { order, amount: 10 })] }
}

const ASKED = /refund order (\w+)/
