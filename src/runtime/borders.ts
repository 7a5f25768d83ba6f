/**
 * What user code hands to the runtime (tools, hooks, model adapters, callers), checked before it can reach the log. A wrong shape is
 * the fault of whoever gave it, and is answered there; it must not stop a runner or make the log differ from what was seen.
 */
import { TurnstepError } from '../kernel/errors.ts'
import type { Failure, Usage } from '../kernel/failure.ts'
import type { Part } from '../kernel/message.ts'
import { isPlainObject, type Json } from '../util/json.ts'
import { messageOf, quoted } from '../util/text.ts'
import type { ModelEnd, ModelReply } from './ports.ts'

/** The names that an object of options may have. Complete by its type. */
export type Known<Options> = { readonly [Name in keyof Options]-?: unknown }

/** Throws `config-invalid` on a name that nobody reads: what was meant by it would be left out without a word. */
export function refuseUnknown(given: object, known: object, what: string): void {
  if (!isPlainObject(given))
    throw new TurnstepError('config-invalid', `${what} is told ${quoted(given)}; give an object, or leave it out`)
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name))
      throw new TurnstepError('config-invalid', `${what} has no "${name}"; known: ${Object.keys(known).join(', ')}`)
  }
}

/** Base64 units of an image that may be logged and sent. */
const IMAGE_UNITS_MAX = 8 * 2 ** 20

/** Whether a value is a part of a message that a model can be sent. */
function isPart(value: unknown): value is Part {
  if (!isPlainObject(value)) return false
  if (value['type'] === 'text') return typeof value['text'] === 'string'
  return value['type'] === 'image' && typeof value['mediaType'] === 'string' && isImageData(value['data'])
}

function isImageData(data: unknown): boolean {
  return typeof data === 'string' && data !== '' && data.length <= IMAGE_UNITS_MAX
}

export function areParts(value: unknown): value is readonly Part[] {
  return Array.isArray(value) && value.every(isPart)
}

/** The value as JSON would give it back, so that what is used here is what is read from the log. Throws where JSON has no word for it. */
export function asLogged(value: unknown): Json {
  const text = JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'number' && !Number.isFinite(inner))
      throw new TypeError(`${inner} is no number that can be written down`)
    return inner
  }) as string | undefined
  if (text === undefined) throw new TypeError(`a ${typeof value} cannot be written down`)
  return JSON.parse(text) as Json
}

/** Any value as the text that a model can read of it. Never throws. */
export function asText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
    case 'boolean':
      return `${value}`
    case 'object':
      return objectText(value)
    case 'undefined':
    case 'symbol':
    case 'function':
      return `(a ${typeof value})`
  }
}

function objectText(value: unknown): string {
  try {
    return JSON.stringify(asLogged(value))
  } catch (error) {
    return `(a result that cannot be shown: ${messageOf(error)})`
  }
}

/** Milliseconds that someone gave: finite and not negative, or nothing. */
export function asMs(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

const REPLY_KINDS: readonly string[] = [
  'done',
  'calls',
  'max-tokens',
  'context-limit',
  'pause',
  'refused',
  'unknown-stop',
]

/** The terminal of a model adapter, or the failure that its shape amounts to. */
export function checkedEnd(end: ModelEnd): ModelEnd {
  const problem = problemOf(end)
  if (problem === null) return end
  const failure: Failure = {
    kind: 'protocol',
    message: `the model adapter gave ${problem}; report it to its author`,
    retry: false,
  }
  return { type: 'end', kind: 'error', failure, usage: null }
}

function problemOf(end: ModelEnd): string | null {
  if (end.kind === 'error' || end.kind === 'aborted') {
    const { failure } = end
    const sound = isPlainObject(failure) && typeof failure.kind === 'string' && typeof failure.message === 'string'
    return sound ? usageProblem(end.usage) : 'an end without a failure'
  }
  if (!REPLY_KINDS.includes(end.kind)) return `an end of unknown kind "${String(end.kind)}"`
  const { reply } = end as { readonly reply?: ModelReply }
  return reply === undefined || reply === null
    ? 'an end without a reply'
    : (replyProblem(reply) ?? usageProblem(reply.usage))
}

function replyProblem({ parts, calls, replay, rawFinish }: ModelReply): string | null {
  if (!Array.isArray(parts) || !Array.isArray(calls)) return 'a reply without parts or calls'
  if (typeof rawFinish !== 'string' || (replay !== null && typeof replay !== 'string'))
    return 'a reply without its finish or replay state'
  const strings = (calls as readonly unknown[]).every(isCall)
  if (!strings) return 'a call whose name, args or providerId is no string'
  const named: number[] = []
  for (const part of parts) {
    if (part?.type === 'call') named.push(part.index)
    else if ((part?.type !== 'text' && part?.type !== 'reasoning') || typeof part.text !== 'string')
      return 'a part of unknown shape'
  }
  return named.length === calls.length && named.every((index, at) => index === at)
    ? null
    : 'parts that do not name each call once, in order'
}

function isCall(call: unknown): boolean {
  return (
    isPlainObject(call) && [call['name'], call['args'], call['providerId']].every((text) => typeof text === 'string')
  )
}

function usageProblem(usage: Usage | null): string | null {
  if (usage === null || usage === undefined) return null
  const counts = [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.reasoning]
  return counts.every((count) => Number.isFinite(count)) && typeof usage.known === 'boolean'
    ? null
    : 'usage that is no numbers'
}

/** Deeper nesting than this is nobody's arguments, and is more than a recursion can take. */
const DEPTH_MAX = 200

/** Why JSON text may not be read although it may be legal; null: it may. */
export function unreadableJson(text: string): string | null {
  if (text.length <= DEPTH_MAX) return null
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]
    if (inString) {
      if (unit === '\\') at++
      else if (unit === '"') inString = false
    } else if (unit === '"') inString = true
    else if (unit === '{' || unit === '[') {
      if (++depth > DEPTH_MAX) return `it is nested deeper than ${DEPTH_MAX}`
    } else if (unit === '}' || unit === ']') depth--
  }
  return null
}

/** Whether every number in it can be written down again: `1e999` reads as infinity. */
export function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isFiniteThroughout)
  return !isPlainObject(value) || Object.values(value).every(isFiniteThroughout)
}
