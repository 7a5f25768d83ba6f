/**
 * Turns a request into the body of a chat completion.
 * Owns: the encoded fragment of each message, made once and kept as long as the message lives. Not: sending it.
 * 1. A fragment depends on its message and on the ids that calls got before it; so a body starts, up to its messages, with the bytes
 *    of the body before it (X1).
 * 2. Opaque state goes back whole, and only to the very route that gave it; otherwise the message is rebuilt without reasoning (X7).
 * 3. Every string is well-formed (X8); no text is empty, and no list is, where the wire refuses that.
 */
import type { ToolSpec } from '../../kernel/events.ts'
import type {
  AssistantMessage,
  ImagePart,
  Message,
  Part,
  Route,
  ToolMessage,
  UserMessage,
} from '../../kernel/message.ts'
import type { ModelRequest } from '../../runtime/ports.ts'
import type { Json } from '../../util/json.ts'
import { isPlainObject } from '../../util/json.ts'
import { wellFormedJson } from '../../util/wellformed.ts'
import { sameRoute } from '../route.ts'
import { WireIds } from '../wire-ids.ts'
import type { Dialect } from './dialects.ts'
import { addEmptyReasoning, wireCall } from './reply-message.ts'

export interface EncoderOptions {
  readonly route: Route
  readonly dialect: Dialect
  readonly maxOutputTokens: number | null
  /** Whether the model takes images. */
  readonly images: boolean
}

interface Fragment {
  /** The message; empty where nothing of it can be sent. */
  readonly json: string
  /** The wire ids that it was made with. */
  readonly ids: readonly string[]
}

export class ChatEncoder {
  readonly #options: EncoderOptions
  readonly #fragments = new WeakMap<Message, Fragment>()
  readonly #tools = new WeakMap<readonly ToolSpec[], string>()

  constructor(options: EncoderOptions) {
    this.#options = options
  }

  /** The body: what stays the same in front, then the messages, then what may differ between requests. */
  encode(request: ModelRequest): string {
    const head = `{"model":${wellFormedJson(this.#options.route.model)}${this.#toolsJson(request.tools)}`
    const tail = wellFormedJson(this.#settings(request)).slice(1)
    return `${head},"messages":[${this.#messages(request).join(',')}],${tail}`
  }

  #messages(request: ModelRequest): string[] {
    const ids = new WireIds(this.#options.dialect.legalId)
    const out: string[] = []
    if (request.system !== '') out.push(wellFormedJson({ role: 'system', content: request.system }))
    let images: ToolMessage[] = []
    for (const message of request.messages) {
      if (message.role !== 'tool' && images.length > 0) {
        out.push(imagesJson(images))
        images = []
      }
      const { json } = this.#fragment(message, ids)
      if (json !== '') out.push(json)
      if (message.role === 'tool' && this.#options.images && message.content.some(isImage)) images.push(message)
    }
    if (images.length > 0) out.push(imagesJson(images))
    return out
  }

  #fragment(message: Message, ids: WireIds): Fragment {
    const wanted = idsOf(message, ids)
    const kept = this.#fragments.get(message)
    if (kept !== undefined && wanted.every((id, index) => id === kept.ids[index])) return kept
    const fragment = { json: this.#encodeMessage(message, wanted), ids: wanted }
    this.#fragments.set(message, fragment)
    return fragment
  }

  #encodeMessage(message: Message, ids: readonly string[]): string {
    if (message.role === 'user') return wellFormedJson({ role: 'user', content: this.#userContent(message) })
    if (message.role === 'tool')
      return wellFormedJson({ role: 'tool', tool_call_id: ids[0]!, content: this.#toolContent(message) })
    return this.#verbatim(message, ids) ?? this.#rebuilt(message, ids)
  }

  #userContent({ content }: UserMessage): Json {
    const usesImages = this.#options.images && content.some(isImage)
    if (!usesImages)
      return content.map((part) => (part.type === 'text' ? part.text : IMAGE_LEFT_OUT)).join('\n') || EMPTY
    return content.map((part) => (part.type === 'text' ? { type: 'text', text: part.text || EMPTY } : imagePart(part)))
  }

  /** A tool message takes text only (C17). */
  #toolContent({ content }: ToolMessage): string {
    const marker = this.#options.images ? IMAGE_FOLLOWS : IMAGE_LEFT_OUT
    return content.map((part) => (part.type === 'text' ? part.text : marker)).join('\n') || EMPTY
  }

  /** What the provider said, byte for byte but for ids that cannot go back; null where it was not this route that said it. */
  #verbatim(message: AssistantMessage, ids: readonly string[]): string | null {
    const { replay } = message
    if (replay === undefined || !sameRoute(replay.route, this.#options.route)) return null
    const said = parseMessage(replay.state)
    if (said === null || said.calls.length !== ids.length) return null
    if (said.calls.every((call, index) => call['id'] === ids[index])) return replay.state
    return wellFormedJson({
      ...said.message,
      tool_calls: said.calls.map((call, index) => ({ ...call, id: ids[index]! })),
    })
  }

  #rebuilt({ parts, calls }: AssistantMessage, ids: readonly string[]): string {
    const text = parts.filter((part) => part.type === 'text').map((part) => part.text)
    const content = text.join('\n')
    if (content.trim() === '' && calls.length === 0) return ''
    const message: Record<string, Json> = { role: 'assistant', content: content === '' ? null : content }
    addEmptyReasoning(message, calls.length > 0, this.#options.dialect)
    if (calls.length > 0)
      message['tool_calls'] = calls.map((call, index) => wireCall(ids[index]!, call.name, call.args))
    return wellFormedJson(message)
  }

  #toolsJson(tools: readonly ToolSpec[]): string {
    if (tools.length === 0) return ''
    let json = this.#tools.get(tools)
    if (json === undefined) {
      json = `,"tools":${wellFormedJson(tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })))}`
      this.#tools.set(tools, json)
    }
    return json
  }

  #settings(request: ModelRequest): Record<string, Json> {
    const { dialect, maxOutputTokens } = this.#options
    const settings: Record<string, Json> = { stream: true, ...dialect.extra }
    if (maxOutputTokens !== null) settings[dialect.maxTokensKey] = maxOutputTokens
    if (request.toolChoice === 'none' && request.tools.length > 0) settings['tool_choice'] = 'none'
    if (isPlainObject(request.options)) {
      for (const [key, value] of Object.entries(request.options)) {
        if (value === null) delete settings[key]
        else if (!OURS.has(key)) settings[key] = value as Json
      }
    }
    return settings
  }
}

/** What provider options may not replace: the log says what these were (L2). An option that is null takes a setting away. */
const OURS: ReadonlySet<string> = new Set(['model', 'messages', 'tools', 'stream'])

const EMPTY = '(empty)'
const IMAGE_FOLLOWS = '[image: shown in the user message after the tool results]'
const IMAGE_LEFT_OUT = '[image: left out, since this model takes text only]'

function idsOf(message: Message, ids: WireIds): string[] {
  if (message.role === 'assistant') return message.calls.map((call) => ids.assign(call))
  return message.role === 'tool' ? [ids.of(message.call)] : []
}

function parseMessage(
  state: string,
): { readonly message: Record<string, Json>; readonly calls: readonly Record<string, Json>[] } | null {
  try {
    const message: unknown = JSON.parse(state)
    if (!isPlainObject(message) || message['role'] !== 'assistant') return null
    const calls: unknown = message['tool_calls'] ?? []
    if (!Array.isArray(calls) || !calls.every(isPlainObject)) return null
    return { message: message as Record<string, Json>, calls: calls as Record<string, Json>[] }
  } catch {
    return null
  }
}

/** The images of tool results, where the wire takes them: in the user message after all results of the step. */
function imagesJson(results: readonly ToolMessage[]): string {
  const content: Json[] = []
  for (const result of results) {
    content.push({ type: 'text', text: `[images in the result of ${result.name}]` })
    content.push(...result.content.filter(isImage).map(imagePart))
  }
  return wellFormedJson({ role: 'user', content })
}

function imagePart({ mediaType, data }: ImagePart): Json {
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }
}

function isImage(part: Part): part is ImagePart {
  return part.type === 'image'
}
