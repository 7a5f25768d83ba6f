/** Every rule of the chat endpoints: a request that breaks it, and its neighbour that does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listOf, type JsonObject } from '../../json-body.ts'
import { modelServer, type ModelServer } from '../../server.ts'

let server: ModelServer
beforeAll(async () => void (server = await modelServer({ script: () => ({ emit: [{ text: 'fine' }] }) })))
afterAll(() => server.close())

interface Asked {
  readonly status: number
  readonly rule: string | null
  readonly message: string
}

async function ask(endpoint: string, body: JsonObject, authorization = 'Bearer k'): Promise<Asked> {
  const response = await fetch(`${server.url}/${endpoint}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ model: 'm', ...body }),
  })
  const answer = (await response.json()) as { error?: { message: string } }
  return { status: response.status, rule: server.requests.at(-1)!.refused, message: answer.error?.message ?? '' }
}

const user: JsonObject = { role: 'user', content: 'go' }
const call = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...more,
})
const calls = (...all: readonly (string | JsonObject)[]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: all.map((one) => (typeof one === 'string' ? call(one) : one)),
})
const result = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'seen' })
const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
const messages = (...all: readonly JsonObject[]): JsonObject => ({ messages: all })
const thought = (message: JsonObject, text = 'hm'): JsonObject => ({ ...message, reasoning_content: text })

const REFUSED: readonly (readonly [rule: string, endpoint: string, what: string, body: JsonObject, message: RegExp])[] =
  [
    [
      'C03',
      'openai',
      'a call without a result',
      messages(user, calls('a'), user),
      /did not have response messages: a$/,
    ],
    [
      'C03',
      'openai',
      'one of two results',
      messages(user, calls('a', 'b'), result('a')),
      /did not have response messages: b$/,
    ],
    [
      'C04',
      'openai',
      'a result without calls',
      messages(user, result('a')),
      /must be a response to a preceeding message/,
    ],
    [
      'C04',
      'minimax',
      'a result without calls',
      messages(user, result('a')),
      /tool result's tool id\(a\) not found \(2013\)/,
    ],
    [
      'C06',
      'openai',
      'a result of another call',
      messages(user, calls('a'), result('b')),
      /'tool_call_id' of 'b' not found/,
    ],
    [
      'C07',
      'openai',
      'two results of one call',
      messages(user, calls('a', 'b'), result('a'), result('a')),
      /was answered already/,
    ],
    ['C07', 'openai', 'one id twice', messages(user, calls('a', 'a'), result('a')), /Duplicate or empty id 'a'/],
    [
      'C08',
      'openai',
      'a reply of nothing',
      messages(user, { role: 'assistant', content: null }, user),
      /expected a string, got null/,
    ],
    ['C09', 'openai', 'no message', messages(), /'messages': empty array/],
    [
      'C09',
      'openai',
      'an empty list of calls',
      messages(user, { role: 'assistant', content: 'x', tool_calls: [] }, user),
      /tool_calls': empty array/,
    ],
    ['C09', 'openai', 'an empty list of tools', { ...messages(user), tools: [] }, /'tools': empty array/],
    [
      'C09',
      'openai',
      'a choice without tools',
      { ...messages(user), tool_choice: 'none' },
      /only allowed when 'tools' are specified/,
    ],
    [
      'C10',
      'openai',
      'an id of 41 characters',
      messages(user, calls('x'.repeat(41)), result('x'.repeat(41))),
      /maximum length 40, but got a string with length 41/,
    ],
    [
      'C11',
      'openai',
      'arguments that are an object',
      messages(user, calls(call('a', { function: { name: 'look', arguments: {} } })), result('a')),
      /expected a string/,
    ],
    [
      'C11',
      'vllm',
      'arguments that are no object',
      messages(user, calls(call('a', { function: { name: 'look', arguments: '{"q":' } })), result('a')),
      /must be a JSON object/,
    ],
    [
      'C12',
      'openai',
      'a name that is none',
      { ...messages(user), tools: [{ type: 'function', function: { name: 'look at' } }] },
      /does not match pattern/,
    ],
    [
      'C12',
      'openai',
      '129 tools',
      { ...messages(user), tools: Array.from({ length: 129 }, () => tool) },
      /maximum length 128, but got an array with length 129/,
    ],
    ['C13', 'openai', 'max_tokens', { ...messages(user), max_tokens: 10 }, /'max_tokens' is not supported/],
    [
      'C14',
      'openai',
      'more than the window',
      messages({ ...user, content: 'x'.repeat(520_000) }),
      /maximum context length is 128000/,
    ],
    [
      'C14',
      'qwen',
      'more than the window',
      messages({ ...user, content: 'x'.repeat(520_000) }),
      /Range of input length should be \[1, 128000\]/,
    ],
    ['C16', 'openai', 'an unknown field', { ...messages(user), thinking: {} }, /Unknown parameter: 'thinking'/],
    [
      'C16',
      'openai',
      'thinking in a message',
      messages(user, thought({ role: 'assistant', content: 'x' }), user),
      /Unknown parameter: 'messages\[1\]\.reasoning_content'/,
    ],
    [
      'C16',
      'openai',
      'the index of a call',
      messages(user, calls(call('a', { index: 0 })), result('a')),
      /tool_calls\.index'/,
    ],
    [
      'C17',
      'openai',
      'an image in a result',
      messages(user, calls('a'), { ...result('a'), content: [image] }),
      /only allowed for messages with role 'user'/,
    ],
    ['C17', 'deepseek', 'an image', messages({ ...user, content: [image] }), /unknown variant `image_url`/],
    [
      'D01',
      'deepseek',
      'thinking in the input',
      { ...messages(user, thought({ role: 'assistant', content: 'x' }), user), model: 'deepseek-reasoner' },
      /not allowed in the input/,
    ],
    [
      'D02',
      'deepseek',
      'a running turn without it',
      { ...messages(user, calls('a'), result('a')), model: 'deepseek-v3.2' },
      /Missing `reasoning_content` field in the assistant message at message index 1/,
    ],
    [
      'D03',
      'deepseek',
      'an old turn without it',
      {
        ...messages(user, thought(calls('a')), result('a'), { role: 'assistant', content: 'x' }, user),
        model: 'deepseek-v4',
      },
      /must be passed back to the API/,
    ],
    [
      'D04',
      'deepseek',
      'a reply of nothing',
      messages(user, { role: 'assistant', content: '' }, user),
      /content or tool_calls must be set/,
    ],
    [
      'K01',
      'kimi',
      'calls without thinking',
      messages(user, calls('a'), result('a')),
      /reasoning_content is missing in assistant tool call message at index 1/,
    ],
  ]

const TAKEN: readonly (readonly [what: string, endpoint: string, body: JsonObject])[] = [
  ['C08: no content beside calls', 'openai', messages(user, calls('a'), result('a'))],
  ['C03: a user message behind all results', 'openai', messages(user, calls('a', 'b'), result('b'), result('a'), user)],
  ['C10: an id of 40 characters', 'openai', messages(user, calls('x'.repeat(40)), result('x'.repeat(40)))],
  [
    'C16: a key that only OpenAI refuses',
    'vllm',
    messages(user, { role: 'assistant', content: 'x', reasoning: 'hm' }, user),
  ],
  ['C17: an image of the user', 'openai', messages({ ...user, content: [image] })],
  [
    'D02: an old turn without thinking',
    'deepseek',
    { ...messages(user, calls('a'), result('a'), { role: 'assistant', content: 'x' }, user), model: 'deepseek-v3.2' },
  ],
  [
    "D03': thinking that is empty",
    'deepseek',
    {
      ...messages(user, thought(calls('a'), ''), result('a'), thought({ role: 'assistant', content: 'x' }, ''), user),
      model: 'deepseek-v4',
    },
  ],
  [
    'D03: a turn without calls, and without thinking',
    'deepseek',
    { ...messages(user, { role: 'assistant', content: 'x' }, user), model: 'deepseek-v4' },
  ],
  ['K01: an answer without thinking', 'kimi', messages(user, { role: 'assistant', content: 'x' }, user)],
]

describe('chat completions', () => {
  it.each(REFUSED)('%s, at %s: refuses %s', async (rule, endpoint, _what, body, message) => {
    expect(await ask(endpoint, body)).toEqual({ status: 400, rule, message: expect.stringMatching(message) })
  })

  it.each(TAKEN)('takes what is legal — %s, at %s', async (_what, endpoint, body) => {
    expect(await ask(endpoint, body)).toEqual({ status: 200, rule: null, message: '' })
  })

  it('refuses who has no key', async () => {
    expect(await ask('openai', messages(user), '')).toMatchObject({ status: 401, rule: 'C-auth' })
  })

  it('is at every path that clients put together', async () => {
    for (const path of ['/v1/chat/completions', '/deepseek/chat/completions', '/s/one/kimi/v1/chat/completions']) {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { authorization: 'Bearer k' },
        body: JSON.stringify({ model: 'm', ...messages(user) }),
      })
      expect([path, response.status]).toEqual([path, 200])
      await response.text()
    }
    const response = await fetch(`${server.url}/nowhere/v1/chat/completions`, { method: 'POST', body: '{}' })
    expect([response.status, listOf([await response.json()])]).toEqual([
      404,
      [{ error: { message: 'no wire at POST /nowhere/v1/chat/completions' } }],
    ])
  })
})
