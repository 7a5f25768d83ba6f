/** Cases over a real wire: a chat endpoint on this machine that refuses whatever strict ones refuse. */
import { afterEach, describe, expect, it } from 'vitest'
import type { DialectName } from '../../src/models/chat/dialects.ts'
import { chatModel } from '../../src/models/chat/index.ts'
import type { ChatServer, WireStep } from '../../src/models/chat/server.case.ts'
import { chatServer } from '../../src/models/chat/server.case.ts'
import type { StrictRules, Wire } from '../../src/models/chat/strict.case.ts'
import type { Model } from '../../src/runtime/ports.ts'
import type { SqliteBench } from '../../src/stores/sqlite/bench.case.ts'
import { sqliteBench } from '../../src/stores/sqlite/bench.case.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { eventually } from '../kit/eventually.ts'
import { agentOf, eventsOf, heldTool, linesOf, toolOf, unclosed, useBenches } from './bench.ts'

const bench = useBenches()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Endpoint {
  readonly server: ChatServer
  readonly model: Model
  /** The model's clock: it stands still, so that no limit ends before the test moves it, however slow the machine is. */
  readonly clock: FakeClock
}

const IDLE_MS = 300

async function endpoint(
  script: readonly WireStep[],
  dialect: DialectName = 'generic',
  rules: StrictRules = {},
): Promise<Endpoint> {
  const server = await chatServer(script, rules)
  closing.push(() => server.close())
  const clock = new FakeClock()
  const model = chatModel({
    provider: 'local',
    model: dialect,
    baseUrl: server.url,
    apiKey: 'k',
    dialect,
    clock,
    idleTimeoutMs: IDLE_MS,
  })
  return { server, model, clock }
}

async function file(): Promise<SqliteBench> {
  const opened = await sqliteBench()
  closing.push(() => opened.close())
  return opened
}

const messagesOf = (server: ChatServer, at: number): Wire[] => server.seen.at(at)!.body['messages'] as Wire[]
const once = { limits: { attempts: 1 } } as const

describe('pairing on the wire', () => {
  it('case 001: after an abort in the middle of a tool every later request is taken, also after a reload', async () => {
    const { server, model } = await endpoint([
      { emit: [{ call: { name: 'slow' } }] },
      { emit: [{ text: 'two' }] },
      { emit: [{ text: 'three' }] },
    ])
    const one = bench()
    const slow = heldTool('slow', { effect: 'write' })
    const spec = agentOf(model, { tools: [slow.tool] })
    const session = await one.harness().open(spec, { session: 's' })
    const turn = await session.send('go')
    await eventually(() => slow.starts.length === 1)
    await session.abort()
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'aborted' })
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
    await session.close()
    const again = await one.harness().open(spec, { session: 's' })
    expect(await (await again.send('more')).outcome).toMatchObject({ kind: 'completed' })
    expect(server.complaints).toEqual([])
    expect(messagesOf(server, 2).map((message) => message['role'])).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'user',
    ])
    slow.starts[0]!.end('too late')
  })

  it("case 004: a request that was refused for good is sent once, and the provider's own words are kept", async () => {
    const said = 'messages[3]: role tool without a call'
    const { server, model } = await endpoint([
      { fault: { kind: 'http', status: 400, message: said } },
      { emit: [{ text: 'fine' }] },
    ])
    const session = await bench().harness().open(agentOf(model))
    const outcome = await (await session.send('go')).outcome
    expect(outcome).toMatchObject({
      kind: 'error',
      failure: { kind: 'invalid-request', retry: false, status: 400, message: expect.stringContaining(said) },
    })
    expect(server.seen).toHaveLength(1)
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
  })
})

describe('reasoning on the wire', () => {
  it.each([
    ['generic', {}, 'details'],
    ['deepseek', { reasoning: 'spans' }, 'reasoning_content'],
    ['kimi', { reasoning: 'calls' }, 'reasoning_content'],
  ] as const)(
    'case 024: %s: reasoning and signature go back byte for byte, in the same turn, after a reload, in a later turn',
    async (dialect, rules, reasoning) => {
      const back = { expect: { replayExact: true }, reasoning } as const
      const script: WireStep[] = [
        { reasoning, emit: [{ reasoning: 'think é 😀 "t1"' }, { call: { name: 'a' } }, { call: { name: 'b' } }] },
        { ...back, emit: [{ reasoning: 'and then' }, { text: 'done' }] },
        { ...back, emit: [{ reasoning: 'more' }, { text: 'more' }] },
      ]
      const { server, model } = await endpoint(script, dialect, rules)
      const opened = await file()
      const one = bench(unclosed(opened.store), opened.clock)
      const spec = agentOf(model, { tools: ['a', 'b'].map((name) => toolOf(name, () => name)) })
      const session = await one.harness().open(spec, { session: 's' })
      expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
      await session.close()
      const again = await one.harness().open(spec, { session: 's' })
      expect(await (await again.send('more')).outcome).toMatchObject({ kind: 'completed' })
      expect(server.complaints).toEqual([])
      expect(server.seen).toHaveLength(3)
    },
  )
})

describe('usage on the wire', () => {
  const sse = (...chunks: unknown[]): string =>
    `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
  const delta = (content: string, usage: unknown, finish: string | null = null) => ({
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    usage,
  })
  const tokens = (prompt: number, cached: number, output: number) => ({
    prompt_tokens: prompt,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: output,
  })

  it('case 068: within one response the last value of each field counts, over responses they add up', async () => {
    const body = sse(
      delta('a', tokens(100, 80, 1)),
      delta('b', tokens(100, 80, 20)),
      delta('c', tokens(100, 80, 50), 'stop'),
    )
    const { model } = await endpoint([{ raw: { body } }, { raw: { body } }])
    const session = await bench().harness().open(agentOf(model))
    await (
      await session.send('go')
    ).outcome
    expect(await session.usage()).toMatchObject({ known: true, input: 100, cacheRead: 80, output: 50 })
    await (
      await session.send('again')
    ).outcome
    expect(await session.usage()).toMatchObject({ known: true, input: 200, cacheRead: 160, output: 100 })
  })

  it.each([
    ['inside the input', { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 800 }, completion_tokens: 5 }],
    ['beside the input', { prompt_tokens: 200, cached_tokens: 800, completion_tokens: 5 }],
    [
      'as hits and misses',
      { prompt_tokens: 1000, prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200, completion_tokens: 5 },
    ],
  ])(
    'case 069: cached tokens that are counted %s: 200 uncached, 800 cached, 1000 in all, per step and then summed',
    async (_what, rawUsage) => {
      const uncached = { prompt_tokens: 300, completion_tokens: 7 }
      const { model } = await endpoint([
        { emit: [{ call: { name: 'a' } }], rawUsage },
        { emit: [{ text: 'done' }], rawUsage: uncached },
      ])
      const session = await bench()
        .harness()
        .open(agentOf(model, { tools: [toolOf('a', () => 'A')] }))
      await (
        await session.send('go')
      ).outcome
      const steps = (await eventsOf(session, 'reply.completed')).map(({ usage }) => [
        usage.input - usage.cacheRead,
        usage.cacheRead,
        usage.input,
      ])
      expect(steps).toEqual([
        [200, 800, 1000],
        [300, 0, 300],
      ])
      expect(await session.usage()).toMatchObject({ input: 1300, cacheRead: 800, output: 12 })
    },
  )
})

describe('streams that break on the wire', () => {
  it.each(['cleanEnd', 'cut'] as const)(
    'case 075: the connection closes (%s) without a finish: a retryable failure, the text kept as incomplete',
    async (kind) => {
      const { model } = await endpoint([{ emit: [{ text: 'one two three' }], stream: { chunk: 4 }, fault: { kind } }])
      const session = await bench().harness().open(agentOf(model, once))
      expect(await (await session.send('go')).outcome).toMatchObject({
        kind: 'error',
        failure: { retry: true, partial: true },
      })
      expect(await eventsOf(session, 'model.failed')).toMatchObject([{ text: 'one two three' }])
      expect(linesOf((await session.context()).messages)).toEqual(['user go'])
    },
  )

  it("case 075: half of a call's arguments and then the end: nothing is run", async () => {
    let ran = 0
    const call = { name: 'write', args: { path: 'a/b/c', content: 'x'.repeat(50) } }
    const { model, server } = await endpoint([
      { emit: [{ call }], stream: { argChunk: 8 }, fault: { kind: 'cleanEnd', after: 3 } },
      { emit: [{ text: 'fine' }] },
    ])
    const session = await bench()
      .harness()
      .open(agentOf(model, { ...once, tools: [toolOf('write', () => String(++ran), { effect: 'write' })] }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'error', failure: { kind: 'interrupted' } })
    expect(ran).toBe(0)
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
    expect(server.complaints).toEqual([])
  })

  it('case 019: a stream that says nothing is cut off by the idle limit', async () => {
    const { model, clock } = await endpoint([
      { emit: [{ text: 'Hel' }], fault: { kind: 'stall' } },
      { emit: [{ text: 'back' }] },
    ])
    const session = await bench().harness().open(agentOf(model, once))
    const turn = await session.send('go')
    let said = ''
    for await (const piece of turn.text) {
      said += piece
      await eventually(() => clock.armed === 1)
      await clock.advance(IDLE_MS)
    }
    expect(said).toBe('Hel')
    expect(await turn.outcome).toMatchObject({
      kind: 'error',
      failure: { kind: 'idle-timeout', retry: true },
    })
    expect(await (await session.send('again')).outcome).toMatchObject({ kind: 'completed' })
  })

  it('case 019: an abort of such a stream settles at once and hangs up', async () => {
    const { model, server } = await endpoint([{ emit: [{ text: 'Hel' }], fault: { kind: 'stall' } }])
    const one = bench()
    const session = await one.harness().open(agentOf(model, once))
    const turn = await session.send('go')
    await eventually(() => server.seen.length === 1)
    const before = one.clock.now()
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(one.clock.now()).toBe(before)
    await eventually(() => server.hungUp() === 1)
  })
})

describe('text and ids on the wire', () => {
  it('case 098: half a surrogate pair anywhere in a session is well-formed in every request, and the log keeps what there was', async () => {
    const half = '😀'.slice(0, 1)
    const { model, server } = await endpoint([
      {
        emit: [
          { text: `so` },
          { call: { name: 'run', args: { q: 'x' } } },
          { call: { name: 'fail', raw: `{"q": "\\ud83d"}` } },
        ],
      },
      { emit: [{ text: 'done' }] },
      { emit: [{ text: 'done' }] },
    ])
    const tools = [
      toolOf('run', () => `got ${half} and ${'😀'.repeat(30_000)}`),
      toolOf('fail', () => Promise.reject(new Error(`no ${half}`))),
    ]
    const session = await bench()
      .harness()
      .open(agentOf(model, { tools, instructions: `Be brief ${half}` }))
    expect(await (await session.send(`say ${half}`)).outcome).toMatchObject({ kind: 'completed' })
    expect(await (await session.steer(`and ${half}`)).outcome).toMatchObject({ kind: 'completed' })
    expect(server.complaints).toEqual([])
    expect((await eventsOf(session, 'input.entered'))[0]!.content).toEqual([{ type: 'text', text: `say ${half}` }])
  })

  it('case 101: ids that the next provider refuses are replaced, the same in every request, unique, and the log keeps the originals', async () => {
    const ids = ['Write:6', 'Write_6', '', `${'9'.repeat(89)}|`, 'write 6', 'Write:6']
    const calls = ids.map((id, n) => ({ call: { name: 'write', id, args: { n } } }))
    const loose = await endpoint([{ emit: calls }, { emit: [{ text: 'A1' }] }, { emit: [{ text: 'A3' }] }], 'kimi')
    const strict = await endpoint(
      [
        { emit: [{ call: { name: 'write', id: 'call_0', args: { n: 9 } } }] },
        { emit: [{ text: 'B2' }] },
        { emit: [{ text: 'B4' }] },
      ],
      'openai',
      { knownKeysOnly: true },
    )
    const one = bench()
    const tools = [toolOf('write', ({ n }) => `wrote ${n as string}`, { effect: 'write' })]
    for (const [at, { model }] of [loose, strict, loose, strict].entries()) {
      const session = await one.harness().open(agentOf(model, { tools }), { session: 's' })
      expect(await (await session.send(`turn ${at}`)).outcome).toMatchObject({ kind: 'completed' })
      await session.settled()
      await session.close()
    }
    expect([...loose.server.complaints, ...strict.server.complaints]).toEqual([])
    for (const [{ server }, legal] of [
      [loose, /^[\w.:-]{1,64}$/],
      [strict, /^[\w-]{1,40}$/],
    ] as const) {
      let earlier: string[] = []
      for (const at of server.seen.keys()) {
        const messages = messagesOf(server, at)
        const called = messages.flatMap((message) =>
          ((message['tool_calls'] ?? []) as Wire[]).map((call) => String(call['id'])),
        )
        const answered = messages.flatMap((message) =>
          message['role'] === 'tool' ? [String(message['tool_call_id'])] : [],
        )
        expect(answered).toEqual(called)
        expect(new Set(called).size).toBe(called.length)
        expect(called.filter((id) => !legal.test(id))).toEqual([])
        expect(called.slice(0, earlier.length)).toEqual(earlier)
        earlier = called
      }
      expect(earlier.length).toBeGreaterThanOrEqual(ids.length)
    }
    const reader = await one.harness().attach('s')
    const logged = (await eventsOf(reader, 'reply.completed')).flatMap((reply) =>
      reply.calls.map((call) => call.providerId),
    )
    expect(logged.filter((id) => id !== 'call_0')).toEqual(ids)
  })
})
