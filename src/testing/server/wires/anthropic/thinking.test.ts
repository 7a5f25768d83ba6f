/** Opaque state over the wire: what comes back exact is taken, by a server that was started again as well; anything else is told apart. */
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json-body.ts'
import type { ScriptStep } from '../../../../models/scripted/index.ts'
import {
  ADAPTIVE,
  assistant,
  BOUND,
  CLASSIC,
  clientOf,
  LOOK,
  result,
  THINKING,
  user,
  type Client,
} from './client.case.ts'

const SCRIPT: readonly ScriptStep[] = [
  {
    when: { results: 0 },
    emit: [
      { reasoning: 'which one? 哪个' },
      { redacted: true },
      { text: 'Let me look.' },
      { reasoning: 'there' },
      { call: { name: 'look' } },
    ],
  },
  { when: { results: 1 }, expect: { replayExact: true }, emit: [{ reasoning: 'so' }, { text: 'It is there.' }] },
]

const open: Client[] = []
afterEach(async () => {
  for (const { server } of open.splice(0)) await server.close()
})

async function start(): Promise<Client> {
  const client = await clientOf(SCRIPT)
  open.push(client)
  return client
}

const options = (model: string): JsonObject =>
  model === CLASSIC ? { ...THINKING, tools: [LOOK] } : { model, thinking: { type: 'adaptive' }, tools: [LOOK] }

/** A question, the reply to it, and the result of its call. */
async function firstStep(
  client: Client,
  model: string,
): Promise<{ question: JsonObject; reply: readonly JsonObject[]; results: JsonObject }> {
  const question = user('where is it?')
  const { content } = await client.ask({ ...options(model), messages: [question] })
  return { question, reply: content, results: user(result(String(content.at(-1)!['id']))) }
}

describe.each([CLASSIC, ADAPTIVE, BOUND])('X7: the thinking of %s', (model) => {
  it('is taken back exact, also by a server that knows nothing of it', async () => {
    const { question, reply, results } = await firstStep(await start(), model)
    expect(reply.map(({ type }) => type)).toEqual(['thinking', 'redacted_thinking', 'text', 'thinking', 'tool_use'])
    const other = await start()
    const messages = [question, assistant(...reply), results]
    const second = await other.ask({ ...options(model), messages })
    expect([second.status, other.server.requests[0]!.complaints]).toEqual([200, []])
    const third = await other.ask({
      ...options(model),
      messages: [...messages, assistant(...second.content), user('thanks')],
    })
    expect(third.status).toBe(200)
  })

  it.each<[what: string, rule: string, change: (reply: readonly JsonObject[]) => readonly JsonObject[]]>([
    ['its text is altered', 'A22', ([first, ...rest]) => [{ ...first, thinking: 'which one?' }, ...rest]],
    ['one block is gone', 'A22', (reply) => reply.filter((_, at) => at !== 1)],
    ['blocks are in another order', 'A22', ([a, b, text, c, call]) => [c!, b!, text!, a!, call!]],
    [
      'the signature is altered',
      'A23',
      ([first, ...rest]) => [{ ...first, signature: `${String(first!['signature']).slice(0, -9)}AAAAAAA==` }, ...rest],
    ],
    ['the blob is altered', 'A25', ([first, second, ...rest]) => [first!, { ...second, data: 'AAAA' }, ...rest]],
  ])('is refused where %s', async (_what, rule, change) => {
    const client = await start()
    const { question, reply, results } = await firstStep(client, model)
    const asked = await client.ask({ ...options(model), messages: [question, assistant(...change(reply)), results] })
    expect([asked.status, asked.rule]).toEqual([400, rule])
  })

  it('is missed where all of it is gone', async () => {
    const client = await start()
    const { question, reply, results } = await firstStep(client, model)
    const bare = reply.filter(({ type }) => !String(type).endsWith('thinking'))
    const asked = await client.ask({ ...options(model), messages: [question, assistant(...bare), results] })
    // Only classic models refuse; the others think worse, and nobody is told.
    if (model === CLASSIC) expect(asked.rule).toBe('A21')
    else expect(client.server.requests.at(-1)!.complaints).toEqual(['the thinking of a reply is gone'])
  })
})

describe('thinking that is bound to what stands before it', () => {
  async function changed(model: string, more: JsonObject = {}, headers: { readonly [name: string]: string } = {}) {
    const client = await start()
    const { reply, results } = await firstStep(client, model)
    const messages = [user('where is it? In short.'), assistant(...reply), results]
    return { client, asked: await client.ask({ ...options(model), messages, ...more }, headers) }
  }

  it('is refused behind anything else', async () => {
    const { asked } = await changed(BOUND)
    expect(asked.rule).toBe('A26')
  })

  it('is no reason to refuse for models that do not bind, and is told to whoever runs the test', async () => {
    const { asked, client } = await changed(ADAPTIVE)
    expect(asked.status).toBe(200)
    expect(client.server.requests.at(-1)!.complaints[0]).toMatch(
      /what stands before messages\.1\.content\.0 is not what stood there/,
    )
  })

  it('is dropped for who asks for that', async () => {
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    const beta = { 'anthropic-beta': 'a-thing, thinking-binding-controls-2026-08-01' }
    const { asked } = await changed(BOUND, { thinking }, beta)
    expect(asked.status).toBe(200)
    expect(asked.body['input_transformations']).toEqual(
      [0, 1, 3].map((at) => ({
        type: 'thinking_dropped',
        path: `messages.1.content.${at}`,
        reason: 'prefix_binding_mismatch',
      })),
    )
    expect((await changed(BOUND, { thinking })).asked.rule).toBe('A26')
  })

  it('is dropped where another model thought it', async () => {
    const client = await start()
    const { question, reply, results } = await firstStep(client, ADAPTIVE)
    const asked = await client.ask({ ...options(BOUND), messages: [question, assistant(...reply), results] })
    expect(asked.body).toMatchObject({ input_transformations: [{ reason: 'model_binding_mismatch' }, {}, {}] })
  })

  it('binds to the tools and the system text as well, and not to where a cache is cut', async () => {
    const client = await start()
    const { question, reply, results } = await firstStep(client, BOUND)
    const messages = [question, assistant(...reply), results]
    expect((await client.ask({ ...options(BOUND), system: 'Be brief.', messages })).rule).toBe('A26')
    expect((await client.ask({ ...options(BOUND), tools: [], messages })).rule).toBe('A26')
    const marked = { ...LOOK, cache_control: { type: 'ephemeral' } }
    expect((await client.ask({ ...options(BOUND), tools: [marked], messages })).rule).toBeNull()
  })
})

describe('a loop of tools on a model of the classic family', () => {
  const STEPS: readonly ScriptStep[] = [
    { emit: [{ reasoning: 'first this' }, { call: { name: 'look' } }] },
    { emit: [{ call: { name: 'look' } }] },
    { expect: { replayExact: true }, emit: [{ text: 'done' }] },
  ]

  async function loop() {
    const client = await clientOf(STEPS)
    open.push(client)
    const messages: JsonObject[] = [user('where is it?')]
    for (const _ of STEPS.slice(1)) {
      const { content } = await client.ask({ ...options(CLASSIC), messages })
      messages.push(assistant(...content), user(result(String(content.at(-1)!['id']))))
    }
    return { client, messages }
  }

  it('may go on without thinking where it began with it', async () => {
    const { client, messages } = await loop()
    expect(await client.ask({ ...options(CLASSIC), messages })).toMatchObject({ status: 200, rule: null })
    expect(client.server.requests.at(-1)!.complaints).toEqual([])
  })

  it('is refused without the thinking with which it began, however many steps ago', async () => {
    const { client, messages } = await loop()
    const [first, ...rest] = messages[1]!['content'] as JsonObject[]
    expect(first!['type']).toBe('thinking')
    const asked = await client.ask({ ...options(CLASSIC), messages: messages.with(1, assistant(...rest)) })
    expect([asked.rule, (asked.body['error'] as JsonObject)['message']]).toEqual([
      'A21',
      expect.stringMatching(/^messages\.1\.content\.0\.type: Expected/),
    ])
  })

  it('is refused with thinking once that is switched off; a loop that is over is not', async () => {
    const { client, messages } = await loop()
    const asked = await client.ask({ tools: [LOOK], messages })
    expect([asked.rule, (asked.body['error'] as JsonObject)['message']]).toEqual([
      'A33',
      expect.stringMatching(/^messages\.1\.content\.0: When thinking is disabled/),
    ])
    const over = [...messages, assistant('It is there.'), user('thanks')]
    expect(await client.ask({ tools: [LOOK], messages: over })).toMatchObject({ rule: null })
  })
})
