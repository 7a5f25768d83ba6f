/**
 * What the Messages API refuses, in the order in which it looks. Each rule is a function that knows nothing of the others; the ids are
 * those of the table in docs/reference/model-server.md, which says how sure we are of each.
 */
import { isPlainObject } from '../../../../util/json.ts'
import { listOf, objectsOf, stringOf, type JsonObject } from '../../json-body.ts'
import type { Refusal, WireRequest } from '../../wire.ts'
import { calls, emptiness, fields, pairing, roles, texts, tools } from './content-rules.ts'
import { familyOf } from './families.ts'
import { refuse } from './refuse.ts'
import type { Rule } from './rule.ts'
import { binding, ending, latest, mustStart, prefill, signatures, thinkingConfig, unwanted } from './thinking-rules.ts'
import { parse, textBlocks } from './turns.ts'

/** Tokens of output that any model gives at most, and of a request with its reply. Four characters are one token. */
const OUTPUT_MAX = 64_000
const WINDOW = 200_000
const BODY_BYTES_MAX = 32 * 2 ** 20

/** The first rule that a request breaks. */
export function refusalOf({ headers, body }: WireRequest): Refusal | null {
  const shape = shapeRefusal(headers, body)
  if (shape !== null) return shape
  const { turns } = parse(body)
  const model = stringOf(body['model'])
  const request = {
    headers,
    body,
    model,
    family: familyOf(model),
    turns,
    blocks: turns.flatMap(({ blocks }) => blocks),
  }
  for (const rule of RULES) {
    const refusal = rule(request)
    if (refusal !== null && refusal !== undefined) return refusal
  }
  return null
}

/** What must hold before the messages can be looked at one by one. */
function shapeRefusal(headers: WireRequest['headers'], body: JsonObject): Refusal | null {
  if (!headers['x-api-key'] && !headers['authorization'])
    return refuse('A-auth', 'x-api-key header is required', 'authentication_error')
  if (!headers['anthropic-version']) return refuse('A-version', 'anthropic-version: header is required')
  if (JSON.stringify(body).length > BODY_BYTES_MAX)
    return refuse('A30', 'Request exceeds the maximum size', 'request_too_large')
  if (typeof body['model'] !== 'string') return refuse('A06', 'model: Field required')
  const limit = body['max_tokens']
  if (limit === undefined) return refuse('A01', 'max_tokens: Field required')
  if (!Number.isSafeInteger(limit) || Number(limit) < 0)
    return refuse('A01', 'max_tokens: Input should be a valid integer')
  if (Number(limit) > OUTPUT_MAX)
    return refuse(
      'A01',
      `max_tokens: ${Number(limit)} > ${OUTPUT_MAX}, which is the maximum allowed number of output tokens for ${body['model']}`,
    )
  const extra = Object.keys(body).find((key) => !TOP.has(key))
  if (extra !== undefined) return refuse('A06', `${extra}: Extra inputs are not permitted`)
  const messages = listOf(body['messages'])
  if (messages.length === 0) return refuse('A03', 'messages: at least one message is required')
  const odd = messages.findIndex((message) => !isPlainObject(message) || !isContent(message['content']))
  return odd < 0 ? null : refuse('A06', `messages.${odd}.content: Input should be a valid list`)
}

const TOP = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'stream',
  'thinking',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'output_config',
  'service_tier',
  'cache_control',
])

const isContent = (content: unknown): boolean =>
  typeof content === 'string' || (Array.isArray(content) && content.every(isPlainObject))

const caching: Rule = ({ body, blocks }) => {
  const marked = [
    ...textBlocks(body['system']),
    ...objectsOf(body['tools']),
    ...blocks.map(({ block }) => block),
  ].filter((block) => block['cache_control'] !== undefined)
  if (marked.length > 4)
    return refuse('A28', `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`)
}

const size: Rule = ({ body, family }) => {
  const input = tokensOf(body)
  const output = Number(body['max_tokens'])
  if (input > WINDOW) return refuse('A29', `prompt is too long: ${input} tokens > ${WINDOW} maximum`)
  if (family === 'classic' && input + output > WINDOW)
    return refuse(
      'A29',
      `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${WINDOW}, decrease input length or \`max_tokens\` and try again`,
    )
}

/** Tokens of a request. */
export function tokensOf({ system, tools: list, messages }: JsonObject): number {
  return Math.ceil(JSON.stringify([system, list, messages]).length / 4)
}

const RULES: readonly Rule[] = [
  roles,
  tools,
  emptiness,
  fields,
  texts,
  calls,
  pairing,
  thinkingConfig,
  ending,
  mustStart,
  unwanted,
  prefill,
  signatures,
  latest,
  binding,
  caching,
  size,
]
