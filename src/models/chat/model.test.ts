import { afterEach, describe, expect, it } from 'vitest'
import type { Message } from '../../kernel/message.ts'
import type { Model } from '../../runtime/ports.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { answered, ask, collect, failureOf, reload, replyOf, request, shown, until, user } from '../contract.case.ts'
import type { DialectName } from './dialects.ts'
import { type ChatOptions, chatModel } from './index.ts'
import { type ChatServer, type WireStep, chatServer } from './server.case.ts'
import type { StrictRules } from './strict.case.ts'

const servers: ChatServer[] = []

afterEach(async () => {
  const closing = servers.splice(0)
  for (const server of closing) await server.close()
  expect(closing.flatMap((server) => server.complaints)).toEqual([])
})

async function serve(script: readonly WireStep[], rules: StrictRules = {}): Promise<ChatServer> {
  const server = await chatServer(script, rules)
  servers.push(server)
  return server
}

function connect(server: ChatServer, dialect: DialectName = 'generic', change: Partial<ChatOptions> = {}): Model {
  const options = {
    provider: dialect,
    model: 'm1',
    baseUrl: server.url,
    apiKey: 'sk-secret',
    dialect,
    clock: new FakeClock(),
  }
  return chatModel({ ...options, ...change })
}

async function open(script: readonly WireStep[], dialect?: DialectName, rules?: StrictRules) {
  const server = await serve(script, rules)
  return { server, model: connect(server, dialect) }
}

const look = { call: { name: 'look', args: { n: 1 }, id: 'call_look' } } as const

/** Asks, takes what comes into the context, and so on, as long as there are questions. */
async function talk(model: Model, messages: Message[], ...questions: readonly (string | null)[]): Promise<Message[]> {
  for (const question of questions) {
    if (question !== null) messages.push(user(question))
    const step = messages.filter((message) => message.role === 'assistant').length + 1
    messages.push(...answered(model, replyOf((await collect(model, request(reload(messages)))).end), step))
  }
  return messages
}

describe('reasoning goes back under the key under which it came', () => {
  it.each([
    ['deepseek', 'reasoning_content'],
    ['qwen', 'reasoning_content'],
    ['vllm', 'reasoning'],
    ['openrouter', 'details'],
    ['minimax', 'inline'],
    ['minimax', 'details'],
    ['glm', 'reasoning_content'],
    ['ollama', 'reasoning'],
  ] as const)('%s: %s', async (dialect, reasoning) => {
    const rules: StrictRules = dialect === 'deepseek' ? { reasoning: 'spans' } : {}
    const stream = { chunk: 3, argChunk: 2 }
    const first: WireStep = {
      reasoning,
      stream,
      emit: [{ reasoning: '想一想\u2028 <b>' }, { text: '好' }, look],
    }
    const { server, model } = await open(
      [first, { expect: { replayExact: true }, emit: [{ text: 'done' }] }],
      dialect,
      rules,
    )
    const { chunks, end } = await collect(model, ask('go'))
    expect(shown(chunks, 'reasoning')).toBe('想一想\u2028 <b>')
    expect(shown(chunks, 'text')).toBe('好')
    await talk(model, [...ask('go').messages, ...answered(model, replyOf(end), 1)], null)
    expect(server.seen).toHaveLength(2)
  })

  it('OpenAI gets no key that it does not know', async () => {
    const first: WireStep = { emit: [{ reasoning: 'hm' }, look] }
    const { server, model } = await open([first, { emit: [{ text: 'done' }] }], 'openai', { knownKeysOnly: true })
    await talk(model, [], 'go', null)
    expect(server.seen[1]!.raw).not.toContain('reasoning')
  })

  it('D01: the first generation of DeepSeek gets none', async () => {
    const { server, model } = await open(
      [{ emit: [{ reasoning: 'hm' }, look] }, { emit: [{ text: 'done' }] }],
      'deepseek-r1',
      { reasoning: 'never' },
    )
    await talk(model, [], 'go', null)
    expect(server.seen).toHaveLength(2)
  })

  it('D03: DeepSeek gets it in all later requests, over steers and turns, also where it was empty', async () => {
    const call = (id: string) => ({ call: { name: 'look', args: {}, id } })
    const steps: WireStep[] = [
      { emit: [{ reasoning: 'one' }, call('a')] },
      { emit: [call('b')] },
      { emit: [{ text: 'half' }, call('c')] },
      { emit: [{ reasoning: 'four' }, { text: 'done' }] },
      { expect: { replayCount: 4, replayExact: true }, emit: [{ text: 'still' }] },
    ]
    const { server, model } = await open(steps, 'deepseek', { reasoning: 'spans', textOnly: true })
    await talk(model, [], 'go', null, 'a steer', null, 'and now?')
    expect(server.seen).toHaveLength(5)
  })

  it('K01: Kimi gets it on replies with calls, and its own ids', async () => {
    const call = { call: { name: 'read', args: {}, id: 'functions.read:0' } }
    const { server, model } = await open([{ emit: [call] }, { emit: [{ text: 'done' }] }], 'kimi', {
      reasoning: 'calls',
    })
    await talk(model, [], 'go', null)
    expect(JSON.stringify(server.seen[1]!.body)).toContain('functions.read:0')
  })
})

describe('a change of model', () => {
  it('cases 027 and 101: drops reasoning and maps ids on the way, and restores both on the way back', async () => {
    const ids = ['Write:6', `${'x'.repeat(90)}|`, '', 'call_b']
    const a = await open(
      [
        { emit: [{ reasoning: 'of A' }, ...ids.map((id, n) => ({ call: { name: 'write', args: { n }, id } }))] },
        { expect: { contains: ['of A'], absent: ['of B'], prefixSame: true }, emit: [{ text: 'back at A' }] },
      ],
      'deepseek',
      { reasoning: 'spans' },
    )
    const b = await open(
      [
        { expect: { absent: ['of A'] }, emit: [{ reasoning: 'of B' }, look] },
        { expect: { absent: ['of A'], contains: ['of B'] }, emit: [{ text: 'B is done' }] },
      ],
      'vllm',
      { knownKeysOnly: false },
    )
    const messages = await talk(a.model, [], 'go')
    await talk(b.model, messages, null, 'go on')
    await talk(a.model, messages, 'once more')
    const sent = (server: ChatServer, at: number) =>
      (server.seen[at]!.body['messages'] as { tool_calls?: { id: string }[] }[])[2]!.tool_calls!.map(({ id }) => id)
    expect(sent(b.server, 0)).toEqual(sent(b.server, 1))
    expect(sent(b.server, 0)[0]).toBe('Write:6')
    for (const id of sent(a.server, 1)) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
    expect(sent(a.server, 1)[3]).toBe('call_b')
  })

  it('case 082: arguments do not change when they are rebuilt five times over', async () => {
    const raw = '{"q":"say \\"hi\\" \\\\ \\u00e9 \\n","n":1.0}'
    let args = raw
    for (let time = 1; time <= 5; time++) {
      const a = await open([{ emit: [{ call: { name: 'echo', raw: args } }] }], 'qwen')
      const b = await open([{ emit: [{ text: 'ok' }] }], 'openai', { knownKeysOnly: true })
      await talk(b.model, await talk(a.model, [], 'go'), null)
      const messages = b.server.seen[0]!.body['messages'] as { tool_calls?: { function: { arguments: string } }[] }[]
      args = messages.find((message) => message.tool_calls !== undefined)!.tool_calls![0]!.function.arguments
    }
    expect(args).toBe(raw)
  })
})

describe('streams', () => {
  it('case 073: byte by byte over a real connection', async () => {
    const { model } = await open([{ splitBytes: 1, emit: [{ reasoning: '想' }, { text: '好😀' }, look] }])
    const { end } = await collect(model, ask('go'))
    expect(replyOf(end).parts).toEqual([
      { type: 'reasoning', text: '想' },
      { type: 'text', text: '好😀' },
      { type: 'call', index: 0 },
    ])
  })

  it('are complete with a finish reason, also without the end mark', async () => {
    const { model } = await open([{ tail: 'no-done', emit: [{ text: 'hi' }] }])
    expect((await collect(model, ask('go'))).end.kind).toBe('done')
  })

  it('end soon after the end mark, although the connection stays open', async () => {
    const clock = new FakeClock()
    const server = await serve([{ tail: 'open', emit: [{ text: 'hi' }] }])
    const all = collect(connect(server, 'generic', { clock }), ask('go'))
    await until(() => clock.nextAt !== null && clock.nextAt <= clock.now() + 100)
    await clock.advance(100)
    expect((await all).end.kind).toBe('done')
    await until(() => server.hungUp() === 1)
  })

  it('that were read to their end leave a connection for the next call', async () => {
    const steps = Array.from({ length: 8 }, (): WireStep => ({ emit: [{ text: 'hi' }] }))
    const { server, model } = await open([{ fault: { kind: 'http', status: 500 } }, ...steps])
    for (let call = 0; call <= steps.length; call++) await collect(model, ask('go'))
    // The transport may open a second one while it puts the first back.
    expect(server.connections()).toBeLessThanOrEqual(2)
  })

  it('are complete with a finish reason when nothing comes behind it', async () => {
    const clock = new FakeClock()
    const server = await serve([{ tail: 'open', emit: [{ text: 'hi' }] }])
    const stalled: typeof fetch = () =>
      Promise.resolve(
        new Response(
          new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(FINISHED)) }),
        ),
      )
    const model = connect(server, 'generic', { clock, fetch: stalled })
    const all = collect(model, ask('go'))
    await until(() => clock.armed > 0)
    await clock.advance(240_000)
    expect((await all).end).toMatchObject({ kind: 'done', reply: { usage: null } })
  })

  it('are not idle while the provider says that it is still there', async () => {
    const clock = new FakeClock()
    const bytes = new TransformStream<Uint8Array, Uint8Array>()
    const writer = bytes.writable.getWriter()
    const write = (text: string): Promise<void> => writer.write(new TextEncoder().encode(text))
    const kept: typeof fetch = () => Promise.resolve(new Response(bytes.readable))
    const all = collect(connect(await serve([]), 'deepseek', { clock, fetch: kept, idleTimeoutMs: 1000 }), ask('go'))
    for (let n = 0; n < 5; n++) {
      await write(': keep-alive\n\n')
      await clock.advance(900)
    }
    await write(FINISHED)
    await writer.close()
    expect((await all).text).toBe('hi')
    expect(clock.armed).toBe(0)
  })

  it('T7: hang up at the abort', async () => {
    const { server, model } = await open([{ emit: [{ text: 'hi' }], fault: { kind: 'stall' } }])
    const stop = new AbortController()
    for await (const chunk of model.stream(ask('go'), stop.signal)) if (chunk.type === 'text') stop.abort()
    await until(() => server.hungUp() === 1)
    expect(server.seen).toHaveLength(1)
  })

  it('T7: hang up when the reader walks away', async () => {
    const { server, model } = await open([{ emit: [{ text: 'hi' }], fault: { kind: 'stall' } }])
    for await (const _chunk of model.stream(ask('go'), new AbortController().signal)) break
    await until(() => server.hungUp() === 1)
    expect(server.seen).toHaveLength(1)
  })

  it.each([
    ['stop', 'calls'],
    ['tool_calls', 'calls'],
    ['length', 'max-tokens'],
    ['content_filter', 'refused'],
    ['sensitive', 'refused'],
    ['model_context_window_exceeded', 'context-limit'],
    ['', 'calls'],
    ['end_of_days', 'unknown-stop'],
  ])('read the finish reason %j of a reply with calls as %s', async (word, kind) => {
    const { model } = await open([{ emit: [look], ...(word === '' ? {} : { stop: `raw:${word}` as const }) }])
    expect((await collect(model, ask('go'))).end.kind).toBe(kind)
  })

  it('D05: are retried when the provider ran out of resources', async () => {
    const { model } = await open([{ emit: [{ text: 'hi' }], stop: 'raw:insufficient_system_resource' }])
    expect(failureOf((await collect(model, ask('go'))).end)).toMatchObject({
      kind: 'overloaded',
      retry: true,
      partial: true,
    })
  })

  it('T3: are a refusal where the model says so beside its content', async () => {
    const body = 'data: {"choices":[{"delta":{"refusal":"I will not."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    const { model } = await open([{ raw: { body } }])
    const { end, text } = await collect(model, ask('go'))
    expect([end.kind, text]).toEqual(['refused', 'I will not.'])
  })

  it('B1: have their usage wherever it stands', async () => {
    const choice =
      'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":4}}]}\n\ndata: [DONE]\n\n'
    const { model } = await open([{ raw: { body: choice } }], 'kimi')
    expect(replyOf((await collect(model, ask('go'))).end).usage).toMatchObject({ input: 10, cacheRead: 4, output: 2 })
  })
})

const FINISHED = 'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'

describe('answers that are no stream', () => {
  it('one JSON answer is understood', async () => {
    const { model } = await open([
      { whole: true, emit: [{ reasoning: 'hm' }, { text: 'hi' }, look], usage: { input: 5, output: 2 } },
    ])
    const reply = replyOf((await collect(model, ask('go'))).end)
    expect(reply).toMatchObject({
      calls: [{ providerId: 'call_look', name: 'look', args: '{"n":1}' }],
      usage: { input: 5, output: 2 },
    })
    expect(reply.parts.map((part) => part.type)).toEqual(['reasoning', 'text', 'call'])
  })

  it.each([
    ['a page', '<html>Welcome</html>', 'text/html', 'protocol', 'Welcome'],
    ['JSON of something else', '{"hello":1}', 'application/json', 'protocol', 'hello'],
    ['a broken JSON answer', '{"choices":[{"mess', 'application/json', 'protocol', 'choices'],
    [
      'an error under 200',
      '{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}',
      'application/json',
      'quota',
      'insufficient balance',
    ],
    ['nothing', '', 'text/event-stream', 'interrupted', 'finish reason'],
    ['an end mark alone', 'data: [DONE]\n\n', 'text/event-stream', 'interrupted', 'finish reason'],
    ['an event that is no JSON', 'data: {"choi\n\n', 'text/event-stream', 'protocol', 'choi'],
    ['an event that is no object', 'data: 7\n\n', 'text/event-stream', 'protocol', '7'],
    [
      'content that is no text',
      'data: {"choices":[{"delta":{"content":{"a":1}}}]}\n\n',
      'text/event-stream',
      'protocol',
      'neither text',
    ],
    [
      'a call without a name',
      'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a"}]},"finish_reason":"tool_calls"}]}\n\n',
      'text/event-stream',
      'protocol',
      'without a name',
    ],
    [
      'calls that cannot be told apart',
      'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}\n\n',
      'text/event-stream',
      'protocol',
      'never began',
    ],
    [
      'an error beside a choice',
      'data: {"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}\n\n',
      'text/event-stream',
      'server',
      'upstream',
    ],
  ])('%s is a clear failure', async (_what, body, type, kind, said) => {
    const { model } = await open([{ raw: { body, type } }])
    const failure = failureOf((await collect(model, ask('go'))).end)
    expect(failure.kind).toBe(kind)
    expect(failure.message).toContain(said)
  })

  it('a refusal may be a page', async () => {
    const { model } = await open([{ raw: { body: '<html>\n Bad gateway\n</html>', type: 'text/html', status: 502 } }])
    expect(failureOf((await collect(model, ask('go'))).end)).toMatchObject({ kind: 'server', status: 502, retry: true })
  })
})

describe('the connection', () => {
  it('carries key and headers, and shows the key in no failure', async () => {
    const server = await serve([{ fault: { kind: 'http', status: 401, message: 'bad key sk-secret' } }])
    const model = connect(server, 'generic', { headers: { 'x-title': 'mine' } })
    expect(failureOf((await collect(model, ask('go'))).end).message).not.toContain('sk-secret')
    expect(server.seen[0]!.headers).toMatchObject({
      authorization: 'Bearer sk-secret',
      'x-title': 'mine',
      accept: 'text/event-stream',
    })
  })

  it('is a network failure where nobody listens', async () => {
    const server = await chatServer([])
    await server.close()
    const failure = failureOf((await collect(connect(server), ask('go'))).end)
    expect(failure).toMatchObject({ kind: 'network', retry: true })
    expect(failure.message).toContain('ECONNREFUSED')
  })

  it('ends at the total limit', async () => {
    const clock = new FakeClock()
    const server = await serve([{ fault: { kind: 'stall', after: 0 } }])
    const all = collect(connect(server, 'generic', { clock, totalTimeoutMs: 50 }), ask('go'))
    await until(() => clock.armed > 0)
    await clock.advance(50)
    expect(failureOf((await all).end)).toMatchObject({ kind: 'interrupted', retry: false })
  })

  it('refuses a base URL that is none, when it is made', () => {
    const make = (baseUrl: string) =>
      chatModel({ provider: 'p', model: 'm', baseUrl, apiKey: null, clock: new FakeClock() })
    expect(() => make('api.example.com')).toThrow(/"api.example.com" is no URL/)
  })

  it('reports a fault of its own as a failure, and never throws', async () => {
    const server = await serve([])
    const model = connect(server)
    const { end } = await collect(model, { ...ask('go'), messages: null as never })
    expect(failureOf(end).kind).toBe('unknown')
  })
})
