/** Every rule of the Messages API: a request that breaks it, and its neighbour that does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json-body.ts'
import { ADAPTIVE, assistant, BOUND, clientOf, LOOK, result, THINKING, use, user, type Client } from './client.case.ts'

let client: Client
beforeAll(async () => void (client = await clientOf(() => ({ emit: [{ text: 'fine' }] }))))
afterAll(() => client.server.close())

const messages = (...all: readonly JsonObject[]): JsonObject => ({ messages: all })
const asking = user('go')
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const cached = (text: string): JsonObject => ({ type: 'text', text, cache_control: { type: 'ephemeral' } })

const REFUSED: readonly (readonly [rule: string, what: string, body: JsonObject, message: RegExp])[] = [
  ['A01', 'no max_tokens', { ...messages(asking), max_tokens: undefined }, /^max_tokens: Field required$/],
  [
    'A01',
    'more output than there can be',
    { ...messages(asking), max_tokens: 1e6 },
    /1000000 > 64000, which is the maximum/,
  ],
  ['A03', 'no message', messages(), /at least one message is required/],
  ['A04', 'a reply first', messages(assistant('hi'), asking), /first message must use the "user" role/],
  [
    'A05',
    'the system role on an older model',
    messages(asking, { role: 'system', content: 'x' }, asking),
    /role 'system' is not supported/,
  ],
  [
    'A06',
    'an unknown field',
    { ...messages(asking), reasoning_effort: 'high' },
    /^reasoning_effort: Extra inputs are not permitted$/,
  ],
  [
    'A06',
    'an unknown field of a block',
    messages(user({ type: 'text', text: 'x', id: 1 })),
    /^messages\.0\.content\.0\.text\.id: Extra inputs/,
  ],
  ['A07', 'an empty message', messages({ role: 'user', content: '' }), /must have non-empty content/],
  ['A08', 'an empty text', messages(user('x', '')), /must be non-empty/],
  ['A08', 'a blank text', messages(user('x', ' \n')), /must contain non-whitespace text/],
  [
    'A08',
    'an empty text in a result',
    messages(asking, assistant(use('a')), user(result('a', { content: [{ type: 'text', text: '' }] }))),
    /must be non-empty/,
  ],
  ['A09', 'a last reply that ends in a blank', messages(asking, assistant('well ')), /trailing whitespace/],
  [
    'A10',
    'a begun reply on a model that takes none',
    { ...messages(asking, assistant('well')), model: ADAPTIVE },
    /does not support assistant message prefill/,
  ],
  [
    'A10',
    'a begun reply of a model that thinks',
    { ...messages(asking, assistant('well')), ...THINKING },
    /does not support assistant message prefill/,
  ],
  [
    'A11',
    'a call without a result',
    messages(asking, assistant(use('a')), user('and?')),
    /without `tool_result` blocks immediately after: a\./,
  ],
  [
    'A11',
    'a text before the result',
    messages(asking, assistant(use('a')), user('stop', result('a'))),
    /immediately after: a\./,
  ],
  ['A11', 'a call at the end', messages(asking, assistant(use('a'))), /immediately after: a\./],
  [
    'A12',
    'a result without a call',
    messages(asking, assistant('hi'), user(result('a'))),
    /unexpected `tool_use_id` found in `tool_result` blocks: a\./,
  ],
  [
    'A13',
    'two results of one call',
    messages(asking, assistant(use('a')), user(result('a'), result('a'))),
    /multiple `tool_result` blocks with id: a$/,
  ],
  ['A14', 'one id twice', messages(asking, assistant(use('a'), use('a')), user(result('a'))), /ids must be unique/],
  [
    'A16',
    'an id of another provider',
    messages(asking, assistant(use('functions.look:0')), user(result('functions.look:0'))),
    /String should match pattern/,
  ],
  [
    'A17',
    'arguments as text',
    messages(asking, assistant(use('a', '{"q":')), user(result('a'))),
    /input: Input should be a valid dictionary/,
  ],
  [
    'A18',
    'a tool whose name is no name',
    { ...messages(asking), tools: [{ ...LOOK, name: 'look at' }] },
    /tools\.0\.custom\.name: String should match/,
  ],
  ['A18', 'two tools of one name', { ...messages(asking), tools: [LOOK, LOOK] }, /Tool names must be unique/],
  [
    'A18',
    'a tool without a schema',
    { ...messages(asking), tools: [{ name: 'look' }] },
    /input_schema: Field required/,
  ],
  [
    'A20',
    'too small a budget',
    { ...messages(asking), thinking: { type: 'enabled', budget_tokens: 1_000 }, max_tokens: 4_000 },
    /greater than or equal to 1024/,
  ],
  [
    'A20',
    'a budget as large as the output',
    { ...messages(asking), thinking: { type: 'enabled', budget_tokens: 4_000 }, max_tokens: 4_000 },
    /must be greater than `thinking.budget_tokens`/,
  ],
  [
    'A20',
    'a budget for a model without',
    { ...messages(asking), ...THINKING, model: 'claude-opus-4-7' },
    /"enabled" is not supported/,
  ],
  [
    'A20',
    'no thinking, where it is always on',
    { ...messages(asking), thinking: { type: 'disabled' }, model: BOUND },
    /thinking is always on/,
  ],
  [
    'A20',
    'a forced call of a model that thinks',
    { ...messages(asking), tools: [LOOK], tool_choice: { type: 'any' }, model: BOUND },
    /may not be enabled when tool_choice forces/,
  ],
  ['A20', 'a temperature with thinking', { ...messages(asking), ...THINKING, temperature: 0 }, /only be set to 1/],
  [
    'A21',
    'an open loop whose reply does not begin with thinking',
    { ...messages(asking, assistant(use('a')), user(result('a'))), ...THINKING },
    /must start with a thinking block/,
  ],
  [
    'A23',
    'a signature of nobody',
    messages(asking, assistant({ type: 'thinking', thinking: 'hm', signature: 'EqRk' }, 'hi'), asking),
    /Invalid `signature` in `thinking` block$/,
  ],
  [
    'A24',
    'thinking without a signature',
    messages(asking, assistant({ type: 'thinking', thinking: 'hm' }, 'hi'), asking),
    /thinking\.signature: Field required/,
  ],
  [
    'A25',
    'redacted thinking of nobody',
    messages(asking, assistant({ type: 'redacted_thinking', data: 'EqRk' }, 'hi'), asking),
    /Invalid `data` in `redacted_thinking` block/,
  ],
  [
    'A28',
    'five marks for the cache',
    messages(user(...['a', 'b', 'c', 'd', 'e'].map(cached))),
    /A maximum of 4 blocks with cache_control may be provided\. Found 5\./,
  ],
  [
    'A28',
    'a mark on thinking',
    messages(asking, assistant({ type: 'thinking', thinking: 'hm', signature: 'x', cache_control: {} }, 'hi'), asking),
    /cache_control: Extra inputs/,
  ],
  [
    'A29',
    'more than the window',
    messages(user('x'.repeat(810_000))),
    /prompt is too long: \d+ tokens > 200000 maximum/,
  ],
  [
    'A29',
    'more than the window with its output, on an older model',
    { ...messages(user('x'.repeat(600_000))), max_tokens: 64_000 },
    /exceed context limit: \d+ \+ 64000 > 200000/,
  ],
  ['A30', 'a body that is too big', messages(user('x'.repeat(33 * 2 ** 20))), /exceeds the maximum size/],
  [
    'A31',
    'an image in a result that is an error',
    messages(asking, assistant(use('a')), user(result('a', { is_error: true, content: [image] }))),
    /must be type `text` if `is_error` is true/,
  ],
  [
    'A32',
    'a reply that ends in thinking',
    messages(asking, assistant({ type: 'thinking', thinking: 'hm', signature: 'x' }), asking),
    /^messages\.1: The final block in an assistant message cannot be `thinking`\.$/,
  ],
]

const TAKEN: readonly (readonly [what: string, body: JsonObject])[] = [
  ['A01: no output at all', { ...messages(asking), max_tokens: 0 }],
  [
    'A05: the system role on a model from 4.8 on',
    { ...messages(asking, { role: 'system', content: 'x' }), model: 'claude-opus-4-8' },
  ],
  ['A07: an empty last reply', messages(asking, { role: 'assistant', content: [] })],
  ['A10: a begun reply on an older model', messages(asking, assistant('well'))],
  [
    'A12: results over two messages of one turn',
    messages(asking, assistant(use('a'), use('b')), user(result('a')), user(result('b'))),
  ],
  [
    'A11: a correction behind the results',
    messages(asking, assistant(use('a')), user(result('a'), 'only the last two')),
  ],
  ['A15: messages of one role in a row', messages(asking, asking, assistant('hi'), assistant('there'), asking)],
  ['A20: adaptive thinking', { ...messages(asking), thinking: { type: 'adaptive' }, model: ADAPTIVE }],
  ['A21: an open loop without thinking', messages(asking, assistant(use('a')), user(result('a')))],
  ['A28: four marks for the cache', messages(user(...['a', 'b', 'c', 'd'].map(cached)))],
  ['A31: an image in a result', messages(asking, assistant(use('a')), user(result('a', { content: [image] })))],
]

describe('the Messages API', () => {
  it.each(REFUSED)('%s: refuses %s', async (rule, _what, body, message) => {
    const asked = await client.ask(body)
    const { error } = asked.body as { error?: { message: string } }
    expect([asked.rule, error?.message]).toEqual([rule, expect.stringMatching(message)])
    expect(asked.status).toBe(rule === 'A30' ? 413 : 400)
    expect(asked.body).toMatchObject({
      type: 'error',
      error: { type: expect.stringMatching(/invalid_request|too_large/) },
    })
    expect(asked.headers.get('request-id')).toMatch(/^req_/)
  })

  it.each(TAKEN)('takes what is legal — %s', async (_what, body) => {
    const { rule, status } = await client.ask(body)
    expect([rule, status]).toEqual([null, 200])
  })

  it('refuses who has no key, and who names no version', async () => {
    expect(await client.ask(messages(asking), { 'x-api-key': '' })).toMatchObject({ status: 401, rule: 'A-auth' })
    expect(await client.ask(messages(asking), { 'anthropic-version': '' })).toMatchObject({
      status: 400,
      rule: 'A-version',
    })
  })
})
