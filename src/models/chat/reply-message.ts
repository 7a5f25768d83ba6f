/**
 * The provider's own assistant message, as it will be sent back: its strings and argument texts as they came, reasoning under the
 * key under which it came. This text is the replay state of the reply (X7).
 */
import type { Json } from '../../util/json.ts'
import { isPlainObject } from '../../util/json.ts'
import { wellFormedJson } from '../../util/wellformed.ts'
import type { Draft } from './calls.ts'
import type { Dialect } from './dialects.ts'

/** What a reply said, by the wire's own keys. */
export class ReplyRecord {
  content = ''
  refusal = ''
  readonly #reasoning = new Map<string, string>()
  readonly #details: Record<string, Json>[] = []

  addReasoning(key: string, text: string): void {
    this.#reasoning.set(key, (this.#reasoning.get(key) ?? '') + text)
  }

  /** Adds an entry of `reasoning_details`: text goes on with the entry before it, everything else stands by itself. */
  addDetail(detail: Record<string, Json>): void {
    const last = this.#details.at(-1)
    if (last === undefined || !goesOn(last, detail)) {
      this.#details.push({ ...detail })
      return
    }
    for (const [key, value] of Object.entries(detail)) {
      const before = last[key]
      if (value === null) continue
      last[key] =
        STREAMED.includes(key) && typeof value === 'string' && typeof before === 'string' ? before + value : value
    }
  }

  /** The message as JSON text, or null where there is nothing that a wire would take back. */
  toJson(calls: readonly Draft[], dialect: Dialect): string | null {
    if (this.content === '' && calls.length === 0 && this.refusal === '') return null
    // A refusal goes back as text: few endpoints know its own key.
    const content = this.content === '' ? this.refusal : this.content
    const message: Record<string, Json> = { role: 'assistant', content: content === '' ? null : content }
    if (dialect.sendsReasoning) {
      for (const [key, text] of this.#reasoning) message[key] = text
      if (this.#details.length > 0) message['reasoning_details'] = this.#details
    }
    addEmptyReasoning(message, calls.length > 0, dialect)
    if (calls.length > 0)
      message['tool_calls'] = calls.map((call) => wireCall(call.id, call.name, call.args, call.extra))
    return wellFormedJson(message)
  }
}

/** Puts `reasoning_content` where the dialect demands it and there is none. */
export function addEmptyReasoning(message: Record<string, Json>, hasCalls: boolean, dialect: Dialect): void {
  const needed = dialect.emptyReasoning === 'always' || (dialect.emptyReasoning === 'calls' && hasCalls)
  if (needed) message['reasoning_content'] ??= ''
}

/** A call as an assistant message carries it. Blank and unparsable arguments are `{}` here; the log has the raw text (C8). */
export function wireCall(id: string, name: string, args: string, extra: Readonly<Record<string, Json>> = {}): Json {
  return {
    id,
    type: 'function',
    function: { name: wireName(name), arguments: isObjectText(args) ? args : '{}' },
    ...extra,
  }
}

/** A model may make up names that no wire takes back. */
function wireName(name: string): string {
  const legal = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  return legal === '' ? 'unnamed' : legal
}

function isObjectText(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** Fields of a detail that come in pieces. */
const STREAMED: readonly string[] = ['text', 'summary']

function goesOn(last: Record<string, Json>, next: Record<string, Json>): boolean {
  // A signature closes its block: what comes then is the next one.
  if (
    typeof last['signature'] === 'string' &&
    STREAMED.some((key) => typeof next[key] === 'string' && next[key] !== '')
  )
    return false
  const streamed = STREAMED.some(
    (key) => typeof last[key] === 'string' && (next[key] === undefined || typeof next[key] === 'string'),
  )
  return streamed && last['type'] === next['type'] && same(last['index'], next['index']) && same(last['id'], next['id'])
}

/** A field that only one of them has says nothing. */
function same(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || one === undefined || other === undefined || one === null || other === null
}
