import { describe, expect, it } from 'vitest'
import type { Failure } from '../../kernel/failure.ts'
import { callId, sessionId } from '../../kernel/ids.ts'
import { type AssistantMessage, type Message, Messages, type UserMessage, textPart } from '../../kernel/message.ts'
import type { Model, ModelChunk, ModelEnd, ModelRequest } from '../../runtime/ports.ts'
import { FakeClock, drainMicrotasks } from '../../testing/fake-clock.ts'
import { scriptedModel } from './index.ts'

describe('steps in order', () => {
  it('plays each step once per session, and fails a call that no step expects', async () => {
    const model = scriptedModel([{ emit: [{ text: 'one' }] }, { emit: [{ text: 'two' }] }])
    expect(await answer(model, ask('a'))).toBe('one')
    expect(await answer(model, ask('a'), 'other')).toBe('one')
    expect(await answer(model, ask('b'))).toBe('two')
    expect((await failure(model, ask('c'))).kind).toBe('script')
    expect(model.failures[0]?.message).toContain('no step expects this call')
    expect(() => model.verify()).toThrow(/no step expects/)
  })

  it('does not move on when the call was aborted, so that the retry sees the same step', async () => {
    const clock = new FakeClock()
    const model = scriptedModel([{ emit: [{ text: 'slow' }], stream: { delayMs: 50 } }], { clock })
    const stop = new AbortController()
    const ends = end(model, ask('a'), stop.signal)
    await drainMicrotasks()
    stop.abort()
    expect((await ends).kind).toBe('aborted')
    expect(clock.armed).toBe(0)
    const again = answer(model, ask('a'))
    await clock.advance(100)
    expect(await again).toBe('slow')
    model.verify()
  })

  it('names the steps that nobody consumed', async () => {
    const model = scriptedModel([
      { emit: [{ text: 'one' }] },
      { name: 'goodbye', emit: [{ text: 'bye' }] },
      { optional: true },
    ])
    await answer(model, ask('a'))
    expect(() => model.verify()).toThrow(
      expect.objectContaining({ code: 'script-failed', message: expect.stringContaining('goodbye was never played') }),
    )
  })

  it('finds its place from the context, so that another process goes on', async () => {
    const script = [
      { fault: { kind: 'http', status: 529 } },
      { emit: [{ call: { name: 'look' } }] },
      { fault: { kind: 'cut' } },
      { emit: [{ text: 'done' }] },
    ] as const
    const one = scriptedModel(script, { cursor: 'context' })
    expect((await failure(one, ask('a'))).kind).toBe('overloaded')
    expect((await end(one, ask('a'))).kind).toBe('calls')
    const other = scriptedModel(script, { cursor: 'context' })
    const later = [...ask('a'), ...called('look', 'seen')]
    expect((await failure(other, later)).kind).toBe('interrupted')
    expect(await answer(other, later)).toBe('done')
  })
})

describe('steps by content', () => {
  it('answers with the first step that matches, and retires one that says once', async () => {
    const model = scriptedModel([
      { when: { lastUser: 'weather', results: 0 }, emit: [{ call: { name: 'weather', args: { city: 'Paris' } } }] },
      { when: { lastResult: /\d+ °C/ }, once: true, emit: [{ text: 'warm' }] },
      { when: { lastUser: (text) => text.length > 3 }, emit: [{ text: 'long' }] },
      { emit: [{ text: 'by the cursor' }] },
    ])
    const asked = ask('the weather?')
    expect((await end(model, asked)).kind).toBe('calls')
    const answered = [...asked, ...called('weather', '25 °C')]
    expect(await answer(model, answered)).toBe('warm')
    expect(await answer(model, answered)).toBe('long')
    expect(await answer(model, ask('hm'))).toBe('by the cursor')
    model.verify()
  })

  it('tells attempts of one request apart, and a request without tools', async () => {
    const model = scriptedModel([
      { when: { attempt: 1, noTools: false }, fault: { kind: 'http', status: 429, retryAfterSeconds: 2 } },
      { when: { attempt: 2, tool: 'look' }, emit: [{ text: 'second' }] },
      { when: { noTools: true }, emit: [{ text: 'summary' }] },
    ])
    const messages = ask('a')
    expect(await failure(model, messages)).toMatchObject({ kind: 'rate-limited', retry: true, retryAfterMs: 2000 })
    expect(await answer(model, messages)).toBe('second')
    expect((await collect(model, { ...request(messages), toolChoice: 'none' })).text).toBe('summary')
  })
})

describe('expectations', () => {
  it('fail the script when a steer was forgotten', async () => {
    const model = scriptedModel([
      { expect: { contains: ['only Shanghai'], absent: ['SECRET'] }, emit: [{ text: 'ok' }] },
    ])
    const { message, kind, retry } = await failure(model, ask('Beijing or Shanghai?'))
    expect({ kind, retry }).toEqual({ kind: 'script', retry: false })
    expect(message).toContain('lacks "only Shanghai"')
    expect(() => model.verify()).toThrow(/only Shanghai/)
  })

  it('fail the script when an unknown outcome was forgotten', async () => {
    const wanted = { lastOutcome: 'unknown', outcomes: ['unknown'], resultOf: { pay: 'may have happened' } } as const
    const model = scriptedModel([{ expect: wanted, emit: [{ text: 'checked' }] }])
    const { message } = await failure(model, [...ask('pay'), ...called('pay', 'paid')])
    expect(message).toContain('the outcome of the last tool result must be "unknown" and is "ok"')
    expect(message).toContain('the last result of "pay" lacks "may have happened"; it is "paid"')
    const told = called('pay', 'it may have happened', 'unknown')
    expect(await answer(model, [...ask('pay'), ...told])).toBe('checked')
  })

  it('see tools, choice, number of messages, and whatever a function checks', async () => {
    const model = scriptedModel([
      {
        expect: { tools: ['look'], toolChoice: 'auto', messages: 1, system: 'brief', lastUser: 'hi' },
        emit: [{ text: 'ok' }],
      },
      { expect: { tools: [], toolChoice: 'none', messages: 2, check: () => 'the function complains' } },
    ])
    expect(await answer(model, ask('hi'))).toBe('ok')
    const { message } = await failure(model, ask('hi'))
    for (const part of ['the list of tools', 'the tool choice', 'number of messages', 'the function complains']) {
      expect(message).toContain(part)
    }
  })

  it('X1: see that a request continues the one before it', async () => {
    const model = scriptedModel([
      { emit: [{ text: 'one' }] },
      { expect: { prefixSame: true }, emit: [{ text: 'two' }] },
      { expect: { prefixSame: true }, emit: [{ text: 'three' }] },
    ])
    const first = ask('a')
    await answer(model, first)
    expect(await answer(model, JSON.parse(JSON.stringify([...first, ...ask('b')])) as Message[])).toBe('two')
    expect((await failure(model, ask('c'))).message).toContain('message 0 differs')
  })

  it('X7: see that replay state comes back whole, in any process', async () => {
    const script = [
      { emit: [{ reasoning: 'hm' }, { text: 'let me see' }, { call: { name: 'look' } }] },
      { when: { results: 1 }, expect: { replayExact: true, replayCount: 1 }, emit: [{ text: 'fine' }] },
    ] as const
    const first = await end(scriptedModel(script), ask('a'))
    if (!('reply' in first)) throw new Error('no reply')
    const [reply, result] = called('look', 'seen') as [AssistantMessage, Message]
    const state = first.reply.replay!
    const parts = [{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'let me see' }, ...reply.parts] as const
    const replay = (text: string) =>
      ({ state: text, route: scriptedModel([]).route, binding: 'none', epoch: 1 }) as const
    const calls = [{ ...reply.calls[0]!, providerId: first.reply.calls[0]!.providerId }]
    const whole = { ...reply, calls, parts, replay: replay(JSON.parse(JSON.stringify(state)) as string) }
    expect(await answer(scriptedModel(script), [...ask('a'), whole, result])).toBe('fine')
    for (const spoiled of [replay(state.replace('状', '?')), replay(state.trim().slice(0, -1)), undefined]) {
      const { replay: _whole, ...bare } = whole
      const message = spoiled === undefined ? bare : { ...bare, replay: spoiled }
      expect((await failure(scriptedModel(script), [...ask('a'), message, result])).kind).toBe('script')
    }
  })
})

describe('what a step may answer', () => {
  it('C8: gives raw and cut arguments as they are, with the reason of the end', async () => {
    const model = scriptedModel([
      {
        emit: [
          { call: { name: 'a', raw: '{"n":12345678901234567890,"f":1.0}' } },
          { call: { name: 'b', args: {}, id: '' } },
        ],
      },
      { emit: [{ call: { name: 'a', args: { path: 'abcdef' }, cut: true } }] },
      { stop: 'raw:novel', emit: [{ text: 'hm' }], usage: { input: 3, output: 2 } },
    ])
    const both = reply(await end(model, ask('a')))
    expect(both.calls.map(({ args }) => args)).toEqual(['{"n":12345678901234567890,"f":1.0}', '{}'])
    expect(both.calls[1]!.providerId).toBe('')
    const cut = await end(model, ask('a'))
    expect(cut.kind).toBe('max-tokens')
    expect(reply(cut).calls[0]!.args).toBe('{"path":"')
    const novel = await end(model, ask('a'))
    expect(novel.kind).toBe('unknown-stop')
    expect(reply(novel)).toMatchObject({
      rawFinish: 'novel',
      usage: { known: true, input: 3, output: 2, reasoning: 0 },
    })
  })

  it.each([
    ['cut', 'interrupted', true],
    ['cleanEnd', 'interrupted', true],
    ['garbage', 'protocol', true],
    ['midError', 'server', true],
  ] as const)('shows part of a reply before a %s fault: %s', async (kind, failureKind, retry) => {
    const model = scriptedModel([{ emit: [{ text: 'abcdef' }], stream: { chunk: 2 }, fault: { kind, after: 2 } }])
    const { text, end: last } = await collect(model, request(ask('a')))
    expect(text).toBe('abcd')
    expect(last).toMatchObject({ kind: 'error', failure: { kind: failureKind, retry, partial: true } })
    model.verify()
  })

  it('case 019: a stall ends with the idle timeout, or at once with the abort', async () => {
    const clock = new FakeClock()
    const model = scriptedModel([{ fault: { kind: 'stall' } }, { fault: { kind: 'stall' } }], {
      clock,
      idleTimeoutMs: 200,
    })
    const idle = failure(model, ask('a'))
    await clock.advance(200)
    expect(await idle).toMatchObject({ kind: 'idle-timeout', retry: true })
    const stop = new AbortController()
    const aborted = end(model, ask('a'), stop.signal)
    await drainMicrotasks()
    stop.abort()
    expect((await aborted).kind).toBe('aborted')
    expect(clock.armed).toBe(0)
  })

  it('case 098: never cuts a chunk inside a surrogate pair', async () => {
    const model = scriptedModel([{ emit: [{ text: '好😀😀x' }], stream: { chunk: 1 } }])
    const { chunks } = await collect(model, request(ask('a')))
    expect(chunks.filter((chunk) => chunk.type === 'text').map(({ text }) => text)).toEqual(['好', '😀', '😀', 'x'])
  })
})

describe('a script that is a function', () => {
  it('makes each step from the request', async () => {
    const model = scriptedModel((seen, { position }) =>
      position < 2 ? { emit: [{ text: `${position}:${seen.messages.length}` }] } : null,
    )
    expect(await answer(model, ask('a'))).toBe('0:1')
    expect(await answer(model, ask('a'))).toBe('1:1')
    expect((await failure(model, ask('a'))).kind).toBe('script')
  })

  it('ends the call where it throws', async () => {
    const model = scriptedModel(() => {
      throw new Error('typo')
    })
    expect((await failure(model, ask('a'))).message).toContain('typo')
  })

  it('is refused a delay without a clock', async () => {
    const model = scriptedModel(() => ({ stream: { delayMs: 5 } }))
    expect((await failure(model, ask('a'))).message).toContain('pass { clock }')
  })
})

function ask(text: string): UserMessage[] {
  return [{ role: 'user', content: [textPart(text)], origin: { kind: 'user' } }]
}

function called(name: string, result: string, outcome: 'ok' | 'unknown' = 'ok'): Message[] {
  const id = callId('t1s1c1')
  return [
    {
      role: 'assistant',
      parts: [{ type: 'call', call: id }],
      calls: [{ id, name, args: '{}', providerId: 'call_1_0' }],
    },
    { role: 'tool', call: id, name, outcome, content: [textPart(result)] },
  ]
}

function request(messages: readonly Message[], session = 'main'): ModelRequest {
  const tools = [{ name: 'look', description: '', parameters: { type: 'object' } }]
  return {
    session: sessionId(session),
    epoch: 1,
    system: 'be brief',
    tools,
    messages: new Messages(messages),
    toolChoice: 'auto',
  }
}

async function collect(model: Model, wanted: ModelRequest, signal = new AbortController().signal) {
  const chunks: ModelChunk[] = []
  for await (const chunk of model.stream(wanted, signal)) chunks.push(chunk)
  const last = chunks.at(-1)
  if (last?.type !== 'end') throw new Error('no terminal')
  const text = chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('')
  return { chunks, text, end: last }
}

async function end(model: Model, messages: readonly Message[], signal?: AbortSignal): Promise<ModelEnd> {
  return (await collect(model, request(messages), signal)).end
}

async function answer(model: Model, messages: readonly Message[], session?: string): Promise<string> {
  return (await collect(model, request(messages, session))).text
}

async function failure(model: Model, messages: readonly Message[]): Promise<Failure> {
  const last = await end(model, messages)
  if (!('failure' in last)) throw new Error(`no failure but ${last.kind}`)
  return last.failure
}

function reply(last: ModelEnd) {
  if (!('reply' in last)) throw new Error(`no reply: ${last.failure.message}`)
  return last.reply
}
