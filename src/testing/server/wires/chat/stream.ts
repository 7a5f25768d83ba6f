/** A scripted reply as a chat endpoint gives it: chunks, or one object where no stream was asked for. */
import { argsOf, pieces, stopOf, type Emit, type ScriptStep, type Stop } from '../../../../models/scripted/index.ts'
import { isPlainObject } from '../../../../util/json.ts'
import { stringOf, type JsonObject } from '../../json-body.ts'
import { hashOf, seal } from '../../seal.ts'
import type { Frame, WireRequest } from '../../wire.ts'
import type { Endpoint } from './dialects.ts'
import { markOf } from './reasoning.ts'
import { tokensOf } from './rules.ts'

/** The whole answer. */
export function framesOf(step: ScriptStep, request: WireRequest, endpoint: Endpoint): readonly Frame[] {
  const reply = new ChatReply(step, request, endpoint)
  if (request.body['stream'] !== true) return [{ text: JSON.stringify(reply.whole), isPiece: true }]
  const { body } = request
  const isAsked = isPlainObject(body['stream_options']) && body['stream_options']['include_usage'] === true
  const tellsUsage = isAsked && (step.usage !== undefined || request.estimatesUsage)
  return [
    ...reply.deltas.map((delta) => chunk(reply, [{ index: 0, delta, finish_reason: null }], !('role' in delta))),
    chunk(reply, [{ index: 0, delta: {}, finish_reason: reply.finish }]),
    ...(tellsUsage ? [chunk(reply, [], false, reply.usage)] : []),
    { text: 'data: [DONE]\n\n', isPiece: false },
  ]
}

/** An error in the middle of the stream. */
export const errorChunk = (error: object): string => `data: ${JSON.stringify(error)}\n\n`

function chunk({ head }: ChatReply, choices: readonly object[], isPiece = false, usage: object | null = null): Frame {
  const data = { ...head, object: 'chat.completion.chunk', choices, usage }
  return { text: `data: ${JSON.stringify(data)}\n\n`, isPiece }
}

const FINISH: { readonly [Word in Exclude<Stop, `raw:${string}`>]: string } = {
  end: 'stop',
  tool: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  filter: 'content_filter',
  pause: 'stop',
  context: 'length',
  sequence: 'stop',
}

class ChatReply {
  readonly head: { readonly id: string; readonly created: number; readonly model: string }
  readonly #step: ScriptStep
  readonly #request: WireRequest
  readonly #endpoint: Endpoint

  constructor(step: ScriptStep, request: WireRequest, endpoint: Endpoint) {
    this.#step = step
    this.#request = request
    this.#endpoint = endpoint
    this.head = { id: request.response, created: 0, model: stringOf(request.body['model']) }
  }

  get finish(): string {
    const stop = stopOf(this.#step)
    return stop.startsWith('raw:') ? stop.slice('raw:'.length) : FINISH[stop as keyof typeof FINISH]
  }

  get usage(): JsonObject {
    const { usage } = this.#step
    const prompt = usage?.input ?? tokensOf(this.#request.body)
    const output = usage?.output ?? Math.ceil(JSON.stringify(this.#step.emit ?? []).length / 4)
    const cached = usage?.cacheRead ?? 0
    const counts = { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
    const details = { completion_tokens_details: { reasoning_tokens: usage?.reasoning ?? 0 } }
    switch (this.#endpoint.usage) {
      case 'deepseek':
        return { ...counts, ...details, prompt_cache_hit_tokens: cached, prompt_cache_miss_tokens: prompt - cached }
      case 'kimi':
        return { ...counts, cached_tokens: cached }
      case 'openai':
        return { ...counts, ...details, prompt_tokens_details: { cached_tokens: cached } }
    }
  }

  get whole(): object {
    const message: Record<string, unknown> = { role: 'assistant', content: null }
    for (const delta of this.deltas) merge(message, delta)
    return {
      ...this.head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: this.finish }],
      usage: this.usage,
    }
  }

  get deltas(): readonly JsonObject[] {
    const { emit = [], stream = {} } = this.#step
    let calls = 0
    return [
      { role: 'assistant', content: '' },
      ...emit.flatMap((part): JsonObject[] => {
        if ('call' in part) return this.#call(part.call, calls++)
        if ('text' in part) return pieces(part.text, stream.chunk).map((content) => ({ content }))
        return 'reasoning' in part ? this.#reasoning(part.reasoning) : this.#redacted()
      }),
    ]
  }

  /** What has to come back. */
  get #thought(): string {
    const text = (part: Emit): string => ('reasoning' in part ? part.reasoning : '')
    const { reasoning, demands } = this.#endpoint
    return reasoning === 'none' || demands === 'never' ? '' : (this.#step.emit ?? []).map(text).join('')
  }

  /** Its id says what was thought before it, where the ids of the endpoint are its own to choose. */
  #call(call: Extract<Emit, { call: unknown }>['call'], index: number): JsonObject[] {
    const { name } = call
    const [firstPiece = '', ...rest] = pieces(argsOf(call), this.#step.stream?.argChunk)
    const id = call.id ?? this.#callId(name, index)
    return [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: firstPiece } }] },
      ...rest.map((args) => ({ tool_calls: [{ index, function: { arguments: args } }] })),
    ]
  }

  #callId(name: string, index: number): string {
    const before = tokensOf(this.#request.body)
    switch (this.#endpoint.ids) {
      case 'functions':
        return `functions.${name}:${before}${index}`
      case 'long':
        return `chatcmpl-tool-${this.#request.response}${index}`
      case 'call':
        return `call_${before}${index}_${markOf(this.#thought)}`
    }
  }

  #reasoning(text: string): JsonObject[] {
    const cut = (whole: string): readonly string[] => pieces(whole, this.#step.stream?.chunk)
    switch (this.#endpoint.reasoning) {
      case 'none':
        return []
      case 'inline':
        return cut(`<think>${text}</think>\n\n`).map((content) => ({ content }))
      case 'details': {
        const head = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
        const details = [
          ...cut(text).map((piece) => ({ ...head, text: piece })),
          { ...head, signature: this.#seal(text) },
        ]
        return details.map((detail) => ({ reasoning_details: [detail] }))
      }
      case 'reasoning':
      case 'reasoning_content': {
        const key = this.#endpoint.reasoning
        return cut(text).map((piece) => ({ [key]: piece }))
      }
    }
  }

  #redacted(): JsonObject[] {
    if (this.#endpoint.reasoning !== 'details') return []
    return [{ reasoning_details: [{ type: 'reasoning.encrypted', data: this.#seal(''), index: 1 }] }]
  }

  #seal(text: string): string {
    const { id: response, model } = this.head
    return seal({ text: hashOf(text), prefix: '', model, response, index: 0, count: 1 })
  }
}

/** Puts a delta into the message that it is a part of. */
function merge(message: Record<string, unknown>, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'role') continue
    if (typeof value === 'string') {
      if (value !== '') message[key] = stringOf(message[key]) + value
    } else if (Array.isArray(value)) message[key] = mergedList((message[key] ?? []) as Indexed[], value as Indexed[])
  }
}

type Indexed = Record<string, unknown> & { readonly index: number }

function mergedList(list: readonly Indexed[], added: readonly Indexed[]): readonly Indexed[] {
  const all = [...list]
  for (const item of added) {
    const at = all.findIndex(
      ({ index, type }) => index === item.index && (item['type'] === undefined || type === item['type']),
    )
    if (at < 0) all.push(item)
    else all[at] = mergedItem(all[at]!, item)
  }
  return all
}

function mergedItem(before: Indexed, item: Indexed): Indexed {
  const named = (value: Indexed): JsonObject => (value['function'] ?? {}) as JsonObject
  const args = stringOf(named(before)['arguments']) + stringOf(named(item)['arguments'])
  const text = stringOf(before['text']) + stringOf(item['text'])
  return {
    ...before,
    ...item,
    ...(before['function'] === undefined ? {} : { function: { ...named(before), arguments: args } }),
    ...(text === '' ? {} : { text }),
  }
}
