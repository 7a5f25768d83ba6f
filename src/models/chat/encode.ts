/**
 * Turns a request into the body of a chat completion.
 * Owns: the encoded fragment of each message, made once and kept as long as the message lives, and their sum. Not: sending it.
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

/** A message as it was encoded. */
interface Fragment {
  /** Empty where nothing of it can be sent. */
  readonly json: string
  /** The wire ids that it was made with. */
  readonly ids: readonly string[]
}

/** The messages of a context so far, joined. */
interface Joined {
  readonly system: string
  readonly messages: Message[]
  readonly ids: WireIds
  /** Results whose images are not shown yet. */
  images: ToolMessage[]
  json: string
}

export class ChatEncoder {
  readonly #options: EncoderOptions
  readonly #fragments = new WeakMap<Message, Fragment>()
  /** By the first message of a context. */
  readonly #joined = new WeakMap<Message, Joined>()
  readonly #tools = new WeakMap<readonly ToolSpec[], string>()

  constructor(options: EncoderOptions) {
    this.#options = options
  }

  /** The body: what stays the same in front, then the messages, then what may differ between requests. */
  encode(request: ModelRequest): string {
    const head = `{"model":${wellFormedJson(this.#options.route.model)}${this.#toolsJson(request.tools)}`
    const tail = wellFormedJson(this.#settings(request)).slice(1)
    return `${head},"messages":[${this.#messages(request)}],${tail}`
  }

  /** Goes on where the last request of this context ended, and starts anew for one that does not continue it. */
  #messages({ system, messages }: ModelRequest): string {
    const first = messages.at(0)
    if (first === undefined) return systemJson(system)
    const kept = this.#joined.get(first)
    const goesOn = kept !== undefined && continues(kept, system, messages)
    const joined = goesOn ? kept : startJoined(system, this.#options.dialect)
    // Kept again only when it is whole: something thrown on the way must not leave half of it behind.
    this.#joined.delete(first)
    const pieces = joined.json === '' ? [] : [joined.json]
    for (let index = joined.messages.length; index < messages.length; index++) {
      this.#append(messages.at(index)!, joined, pieces)
    }
    // Joined and not added up, since a long chain of additions is slow to read.
    joined.json = pieces.join(',')
    this.#joined.set(first, joined)
    return joined.images.length === 0 ? joined.json : `${joined.json},${imagesJson(joined.images)}`
  }

  #append(message: Message, joined: Joined, pieces: string[]): void {
    if (message.role !== 'tool' && joined.images.length > 0) {
      pieces.push(imagesJson(joined.images))
      joined.images = []
    }
    joined.messages.push(message)
    const { json } = this.#fragment(message, joined.ids)
    if (json !== '') pieces.push(json)
    if (message.role === 'tool' && this.#options.images && message.content.some(isImage)) joined.images.push(message)
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

  /** A tool message takes text only (wire C17). */
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

function startJoined(system: string, dialect: Dialect): Joined {
  return { system, messages: [], ids: new WireIds(dialect.legalId), images: [], json: systemJson(system) }
}

function systemJson(system: string): string {
  return system === '' ? '' : wellFormedJson({ role: 'system', content: system })
}

/** Whether the request starts with what was joined: a context only grows, but a fork or a compaction shares its first message. */
function continues(joined: Joined, system: string, messages: ModelRequest['messages']): boolean {
  if (joined.system !== system || joined.messages.length > messages.length) return false
  return joined.messages.every((message, index) => message === messages.at(index))
}

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
