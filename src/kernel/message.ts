/**
 * The neutral transcript: what a model sees, in no wire's own form. Adapters turn it into their wire and back.
 * Invariants: a message is never changed once it is in a context (X1); text in the assistant role was produced by the model (T9);
 * every call in an assistant message is answered by the tool messages directly after it, in request order (C2).
 */
import type { CallId, InputId } from './ids.ts'
import type { OutcomeKind } from './outcome.ts'

/** A text. Well-formed when it is sent (X8); the log keeps what there was. */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** An image. */
export interface ImagePart {
  readonly type: 'image'
  /** IANA media type, such as `image/png`. */
  readonly mediaType: string
  /** The bytes in base64. */
  readonly data: string
}

/** A piece of what a person or a tool says. */
export type Part = TextPart | ImagePart

/** A piece of a reply, in the order in which the model produced it. */
export type ReplyPart =
  | TextPart
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly call: CallId }

/** Where an input came from. A field, never a mark in the text (I10). */
export interface Origin {
  readonly kind: 'user' | 'steer' | 'plugin' | 'child' | 'timer' | 'system'
  /** Who exactly: a user's name, a plugin's name, a child's session id. */
  readonly name?: string
}

/** How a model is reached. Opaque state goes back only over exactly the route that made it (X7). */
export interface Route {
  /** The codec, such as `chat`. */
  readonly adapter: string
  /** The dialect of the wire, such as `deepseek`. */
  readonly wire: string
  readonly provider: string
  readonly model: string
  /** The account, by its configured name; never a key. */
  readonly scope: string
}

/** Opaque provider state of one reply, kept byte-exact (X7). `state` is never parsed, printed or cut by us. */
export interface Replay {
  readonly state: string
  readonly route: Route
  /** `prefix`: valid only behind the very same prefix, so it ends with its epoch. */
  readonly binding: 'none' | 'prefix'
  readonly epoch: number
}

/** A call as the transcript shows it. */
export interface TranscriptCall {
  readonly id: CallId
  readonly name: string
  /** JSON text of an object: the model's own bytes, or `{}` where those could not be parsed (C8). */
  readonly args: string
  /** The provider's own id: data, never a key (C1). */
  readonly providerId: string
}

/** What stands in the user role: an input, or a line of the runtime, as its origin says. */
export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly Part[]
  readonly origin: Origin
  readonly input?: InputId
}

/** A reply, with the calls that it asks for. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly parts: readonly ReplyPart[]
  readonly calls: readonly TranscriptCall[]
  readonly replay?: Replay
}

/** What the model is told about one call. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly call: CallId
  readonly name: string
  readonly outcome: OutcomeKind
  /** Exactly what the model sees. */
  readonly content: readonly Part[]
}

/** A message of the transcript. */
export type Message = UserMessage | AssistantMessage | ToolMessage

/** The text of some parts, images left out. */
export function textOf(parts: readonly (Part | ReplyPart)[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text
  return text
}

/** The parts that say something: an empty text would be refused by every wire, for as long as it stands in a context. */
export function withoutBlanks(parts: readonly Part[]): readonly Part[] {
  return parts.every((part) => !isBlank(part)) ? parts : parts.filter((part) => !isBlank(part))
}

/** Whether the parts name each of the calls once, in order. */
export function namesInOrder(parts: readonly ReplyPart[], calls: readonly { readonly id: CallId }[]): boolean {
  let named = 0
  for (const part of parts) if (part.type === 'call' && part.call !== calls[named++]?.id) return false
  return named === calls.length
}

export function isBlank(part: Part): boolean {
  return part.type === 'text' && part.text === ''
}

export const textPart = (text: string): TextPart => ({ type: 'text', text })

/**
 * An immutable view of the first `length` messages of a context that may go on growing behind it.
 * A request holds one of these, so that no history is copied per step (L3).
 */
export class Messages implements Iterable<Message> {
  readonly length: number
  readonly #source: readonly Message[]

  constructor(source: readonly Message[], length = source.length) {
    this.#source = source
    this.length = length
  }

  at(index: number): Message | undefined {
    const from = index < 0 ? this.length + index : index
    return from < this.length ? this.#source[from] : undefined
  }

  *[Symbol.iterator](): Iterator<Message> {
    for (let index = 0; index < this.length; index++) yield this.#source[index]!
  }

  toArray(): Message[] {
    return this.#source.slice(0, this.length)
  }
}
