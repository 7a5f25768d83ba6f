/** What strict endpoints refuse in a request (wire rules C03–C17, D01–D04, K01), and nothing else. Null: accepted. */

export interface StrictRules {
  /** Refuses keys that it does not know (wire C16), and ids over 40 characters (wire C10). */
  readonly knownKeysOnly?: boolean
  /** Reasoning must come back: on replies with calls, on all replies of a span with calls, or must not come at all (D01). */
  readonly reasoning?: 'calls' | 'spans' | 'never'
  readonly textOnly?: boolean
}

export interface Refusal {
  readonly status: number
  readonly message: string
  readonly code: string
}

export type Wire = Record<string, unknown>

const refuse = (message: string, code = 'invalid_request_error'): Refusal => ({ status: 400, message, code })

/** The first thing that the endpoint would not take. */
export function refusalOf(body: Wire, rules: StrictRules): Refusal | null {
  const messages = body['messages'] as Wire[]
  return (
    brokenText(body) ??
    topLevel(body, rules) ??
    pairing(messages) ??
    messages.map((message, at) => oneMessage(message, at, rules)).find((refusal) => refusal !== null) ??
    reasoning(messages, rules)
  )
}

function topLevel(body: Wire, rules: StrictRules): Refusal | null {
  const known = [
    'model',
    'messages',
    'tools',
    'tool_choice',
    'stream',
    'stream_options',
    'max_tokens',
    'max_completion_tokens',
    'temperature',
  ]
  for (const key of Object.keys(body))
    if (!known.includes(key)) return refuse(`Unknown parameter: '${key}'.`, 'unknown_parameter')
  if (rules.knownKeysOnly === true && 'max_tokens' in body)
    return refuse(`Unsupported parameter: 'max_tokens'`, 'unsupported_parameter')
  const tools = body['tools'] as Wire[] | undefined
  if (tools?.length === 0) return refuse(`Invalid 'tools': empty array.`, 'empty_array')
  if (body['tool_choice'] !== undefined && tools === undefined)
    return refuse(`'tool_choice' is only allowed when 'tools' are specified.`)
  for (const tool of tools ?? []) {
    const name = (tool['function'] as Wire)['name'] as string
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return refuse(`Invalid 'tools': name '${name}'`, 'invalid_value')
  }
  return (body['messages'] as Wire[]).length === 0 ? refuse(`Invalid 'messages': empty array.`, 'empty_array') : null
}

function pairing(messages: readonly Wire[]): Refusal | null {
  let open: string[] = []
  const seen = new Set<string>()
  for (const [at, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = message['tool_call_id'] as string
      if (!open.includes(id))
        return refuse(
          `Invalid parameter: messages[${at}] with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
        )
      open = open.filter((other) => other !== id)
      continue
    }
    if (open.length > 0) return unanswered(open)
    const ids = ((message['tool_calls'] as Wire[] | undefined) ?? []).map((call) => call['id'] as string)
    for (const id of ids) {
      if (typeof id !== 'string' || id === '' || seen.has(id))
        return refuse(`Invalid 'messages[${at}].tool_calls': id '${id}' is empty or repeated`)
      seen.add(id)
    }
    open = ids
  }
  return open.length > 0 ? unanswered(open) : null
}

function unanswered(ids: readonly string[]): Refusal {
  return refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following did not have response messages: ${ids.join(', ')}`,
  )
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'refusal', 'tool_calls'],
  tool: ['role', 'content', 'tool_call_id'],
}

function oneMessage(message: Wire, at: number, rules: StrictRules): Refusal | null {
  const { role, content } = message as { role: string; content: unknown }
  const calls = message['tool_calls'] as Wire[] | undefined
  const known = KEYS[role]
  if (known === undefined) return refuse(`Invalid value: '${role}' at messages[${at}].role`)
  for (const key of rules.knownKeysOnly === true ? Object.keys(message) : []) {
    if (!known.includes(key)) return refuse(`Unknown parameter: 'messages[${at}].${key}'.`, 'unknown_parameter')
  }
  if (calls?.length === 0) return refuse(`Invalid 'messages[${at}].tool_calls': empty array.`, 'empty_array')
  if (content === '' || (content === null && calls === undefined))
    return refuse(`Invalid assistant message: content or tool_calls must be set (messages[${at}])`)
  if (Array.isArray(content)) {
    const types = (content as Wire[]).map((part) => part['type'])
    if (rules.textOnly === true || role !== 'user')
      return refuse(`messages[${at}]: unknown variant 'image_url', expected 'text'`)
    if (types.some((type) => type !== 'text' && type !== 'image_url')) return refuse(`messages[${at}]: unknown part`)
  }
  return calls?.map((call) => oneCall(call, at, rules)).find((refusal) => refusal !== null) ?? null
}

function oneCall(call: Wire, at: number, rules: StrictRules): Refusal | null {
  const where = `messages[${at}].tool_calls`
  const id = call['id'] as string
  if (rules.knownKeysOnly === true) {
    if (id.length > 40)
      return refuse(
        `Invalid '${where}.id': string too long. Expected a string with maximum length 40.`,
        'string_above_max_length',
      )
    const extra = Object.keys(call).find((key) => !['id', 'type', 'function'].includes(key))
    if (extra !== undefined) return refuse(`Unknown parameter: '${where}.${extra}'.`, 'unknown_parameter')
  }
  const { name, arguments: args } = call['function'] as { name: string; arguments: unknown }
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return refuse(`Invalid '${where}.function.name': '${name}'`, 'invalid_value')
  if (typeof args !== 'string') return refuse(`Invalid type for '${where}.function.arguments'`, 'invalid_type')
  // Backends that render a chat template parse old arguments (case 046).
  const parsed = parse(args)
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? null
    : refuse(`'${where}.function.arguments' is no JSON object`)
}

function reasoning(messages: readonly Wire[], rules: StrictRules): Refusal | null {
  if (rules.reasoning === undefined) return null
  let spanUsesTools = false
  for (let at = messages.length - 1; at >= 0; at--) {
    // A span reaches from one user message to the next: whether it used tools is known from its messages.
    const message = messages[at]!
    if (message['role'] === 'user') spanUsesTools = false
    if (message['role'] === 'tool') spanUsesTools = true
    if (message['role'] !== 'assistant') continue
    const has = typeof message['reasoning_content'] === 'string'
    if (rules.reasoning === 'never' && has)
      return refuse(`reasoning_content is not allowed in the input (messages[${at}])`)
    const needed =
      rules.reasoning === 'spans'
        ? spanUsesTools || message['tool_calls'] !== undefined
        : rules.reasoning === 'calls' && message['tool_calls'] !== undefined
    if (needed && !has) return refuse('The `reasoning_content` in the thinking mode must be passed back to the API.')
  }
  return null
}

/** X8: strict parsers refuse half a surrogate pair anywhere. */
function brokenText(value: unknown): Refusal | null {
  const broken = /\p{Surrogate}/u
  const find = (at: unknown): boolean => {
    if (typeof at === 'string') return broken.test(at)
    if (typeof at !== 'object' || at === null) return false
    return Object.entries(at).some(([key, inner]) => broken.test(key) || find(inner))
  }
  return find(value) ? refuse('The request body is not valid JSON: no low surrogate in string.') : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
