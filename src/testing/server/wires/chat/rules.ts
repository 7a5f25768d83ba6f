/** What chat endpoints refuse, in the order in which they look. The ids are those of docs/reference/model-server.md. */
import { isPlainObject } from '../../../../util/json.ts'
import { listOf, objectsOf, stringOf, type JsonObject } from '../../json-body.ts'
import type { Refusal, WireRequest } from '../../wire.ts'
import type { Endpoint } from './dialects.ts'
import { reasoningRefusal } from './reasoning.ts'
import { refuse } from './refuse.ts'

const TOOLS_MAX = 128
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** The first rule that a request breaks. */
export function refusalOf({ headers, body }: WireRequest, endpoint: Endpoint): Refusal | null {
  const messages = objectsOf(body['messages'])
  return (
    shape(headers, body, endpoint) ??
    tools(body) ??
    pairing(messages, endpoint) ??
    first(messages, (message, at) => oneMessage(message, at, endpoint)) ??
    reasoningRefusal(messages, endpoint) ??
    size(body, endpoint)
  )
}

function first<Item>(items: readonly Item[], rule: (item: Item, at: number) => Refusal | null): Refusal | null {
  for (const [at, item] of items.entries()) {
    const refusal = rule(item, at)
    if (refusal !== null) return refusal
  }
  return null
}

function shape(headers: WireRequest['headers'], body: JsonObject, { isExact }: Endpoint): Refusal | null {
  if (!/^Bearer .+/.test(headers['authorization'] ?? ''))
    return refuse('C-auth', "You didn't provide an API key.", { status: 401, code: 'invalid_api_key' })
  if (typeof body['model'] !== 'string') return refuse('C16', 'you must provide a model parameter')
  const messages = body['messages']
  if (!Array.isArray(messages) || messages.length === 0)
    return refuse('C09', "Invalid 'messages': empty array. Expected an array with minimum length 1.", {
      code: 'empty_array',
      param: 'messages',
    })
  if (!messages.every(isPlainObject)) return refuse('C11', "Invalid type for 'messages'.", { code: 'invalid_type' })
  if (!isExact) return null
  const extra = Object.keys(body).find((key) => !TOP.has(key))
  if (extra !== undefined)
    return refuse('C16', `Unknown parameter: '${extra}'.`, { code: 'unknown_parameter', param: extra })
  if (body['max_tokens'] !== undefined)
    return refuse(
      'C13',
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { code: 'unsupported_parameter', param: 'max_tokens' },
    )
  return null
}

const TOP = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'reasoning_effort',
  'response_format',
  'seed',
  'user',
  'store',
  'metadata',
  'prompt_cache_key',
])

function tools(body: JsonObject): Refusal | null {
  const list = body['tools']
  if (list === undefined)
    return body['tool_choice'] === undefined
      ? null
      : refuse('C09', "'tool_choice' is only allowed when 'tools' are specified.", { param: 'tool_choice' })
  const all = objectsOf(list)
  if (all.length === 0)
    return refuse('C09', "Invalid 'tools': empty array. Expected an array with minimum length 1.", {
      code: 'empty_array',
      param: 'tools',
    })
  if (all.length > TOOLS_MAX)
    return refuse(
      'C12',
      `Invalid 'tools': array too long. Expected an array with maximum length ${TOOLS_MAX}, but got an array with length ${all.length} instead.`,
      { code: 'array_above_max_length', param: 'tools' },
    )
  return first(all, (tool, at) => {
    const name = isPlainObject(tool['function']) ? stringOf(tool['function']['name']) : ''
    return NAME.test(name)
      ? null
      : refuse('C12', `Invalid 'tools[${at}].function.name': string does not match pattern.`, { code: 'invalid_value' })
  })
}

function pairing(messages: readonly JsonObject[], { orphan }: Endpoint): Refusal | null {
  let open: string[] = []
  let answered: string[] = []
  const seen = new Set<string>()
  for (const [at, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = stringOf(message['tool_call_id'])
      if (!open.includes(id)) return strayResult(id, at, { open, answered, orphan })
      open = open.filter((other) => other !== id)
      answered.push(id)
      continue
    }
    if (open.length > 0) return unanswered(open)
    const ids = objectsOf(message['tool_calls']).map((call) => stringOf(call['id']))
    for (const id of ids) {
      if (seen.has(id) || id === '')
        return refuse('C07', `Duplicate or empty id '${id}' in 'messages[${at}].tool_calls'.`)
      seen.add(id)
    }
    open = ids
    answered = []
  }
  return open.length > 0 ? unanswered(open) : null
}

interface Stray {
  readonly open: readonly string[]
  readonly answered: readonly string[]
  readonly orphan: Endpoint['orphan']
}

function strayResult(id: string, at: number, { open, answered, orphan }: Stray): Refusal {
  if (answered.includes(id)) return refuse('C07', `Invalid parameter: 'tool_call_id' of '${id}' was answered already.`)
  if (orphan !== undefined) return refuse('C04', orphan(id))
  if (open.length === 0 && answered.length === 0)
    return refuse(
      'C04',
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      { param: `messages.[${at}].role` },
    )
  return refuse('C06', `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`, {
    param: `messages.[${at}].tool_call_id`,
  })
}

function unanswered(ids: readonly string[]): Refusal {
  return refuse(
    'C03',
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
  )
}

const KEYS: { readonly [role: string]: readonly string[] } = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'refusal', 'tool_calls', 'audio'],
  tool: ['role', 'content', 'tool_call_id'],
}

function oneMessage(message: JsonObject, at: number, endpoint: Endpoint): Refusal | null {
  const role = stringOf(message['role'])
  const known = KEYS[role]
  if (known === undefined)
    return refuse('C16', `Invalid value: '${role}'.`, { code: 'invalid_value', param: `messages[${at}].role` })
  const extra = endpoint.isExact ? Object.keys(message).find((key) => !known.includes(key)) : undefined
  if (extra !== undefined)
    return refuse('C16', `Unknown parameter: 'messages[${at}].${extra}'.`, {
      code: 'unknown_parameter',
      param: `messages[${at}].${extra}`,
    })
  const calls = message['tool_calls']
  if (Array.isArray(calls) && calls.length === 0)
    return refuse(
      'C09',
      `Invalid 'messages[${at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      { code: 'empty_array' },
    )
  return content(message, at, endpoint) ?? first(objectsOf(calls), (call) => oneCall(call, at, endpoint))
}

function content(message: JsonObject, at: number, { images, name }: Endpoint): Refusal | null {
  const { role, content: value } = message
  const hasCalls = objectsOf(message['tool_calls']).length > 0
  const isEmpty = value === '' || value === null || value === undefined
  if (isEmpty && !hasCalls && name.startsWith('deepseek') && role === 'assistant')
    return refuse('D04', 'Invalid assistant message: content or tool_calls must be set')
  if ((value === null || value === undefined) && !hasCalls)
    return refuse('C08', `Invalid value for 'content': expected a string, got null.`, {
      param: `messages.[${at}].content`,
    })
  if (!Array.isArray(value)) return null
  const hasImage = objectsOf(value).some(({ type }) => type !== 'text')
  if (hasImage && role === 'tool')
    return refuse(
      'C17',
      `Invalid 'messages[${at}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.`,
    )
  return hasImage && !images ? refuse('C17', `messages[${at}]: unknown variant \`image_url\`, expected \`text\``) : null
}

function oneCall(call: JsonObject, at: number, { isExact }: Endpoint): Refusal | null {
  const where = `messages[${at}].tool_calls`
  const id = stringOf(call['id'])
  if (isExact && id.length > 40)
    return refuse(
      'C10',
      `Invalid '${where}.id': string too long. Expected a string with maximum length 40, but got a string with length ${id.length} instead.`,
      { code: 'string_above_max_length' },
    )
  const extra = isExact ? Object.keys(call).find((key) => !['id', 'type', 'function'].includes(key)) : undefined
  if (extra !== undefined)
    return refuse('C16', `Unknown parameter: '${where}.${extra}'.`, { code: 'unknown_parameter' })
  const named = isPlainObject(call['function']) ? call['function'] : {}
  if (!NAME.test(stringOf(named['name'])))
    return refuse('C12', `Invalid '${where}.function.name': string does not match pattern.`, { code: 'invalid_value' })
  const args = named['arguments']
  if (typeof args !== 'string')
    return refuse('C11', `Invalid type for '${where}.function.arguments': expected a string.`, { code: 'invalid_type' })
  return isObjectText(args) ? null : refuse('C11', `'${where}.function.arguments' must be a JSON object`)
}

/** Templates read old arguments: a text that is no object breaks every later request. */
function isObjectText(text: string): boolean {
  try {
    return isPlainObject(JSON.parse(text))
  } catch {
    return false
  }
}

function size(body: JsonObject, { overflow, window }: Endpoint): Refusal | null {
  const tokens = tokensOf(body)
  return tokens <= window ? null : refuse('C14', overflow(tokens, window), { code: 'context_length_exceeded' })
}

/** Tokens of a request: four characters are one. */
export function tokensOf({ messages, tools: list }: JsonObject): number {
  return Math.ceil(JSON.stringify([listOf(messages), list]).length / 4)
}
