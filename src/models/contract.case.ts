/** What every model adapter has to do, whatever its wire. A subject plays a script; this suite calls it and judges. */
import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import type { Failure } from '../kernel/failure.ts'
import { callId, sessionId } from '../kernel/ids.ts'
import type { AssistantMessage, Message, ReplyPart, ToolMessage, UserMessage } from '../kernel/message.ts'
import { Messages, textPart } from '../kernel/message.ts'
import type { Model, ModelChunk, ModelEnd, ModelReply, ModelRequest } from '../runtime/ports.ts'
import { FakeClock, drainMicrotasks } from '../testing/fake-clock.ts'
import type { ScriptStep } from './scripted/index.ts'

/** A model that is played a script, with the idle limit `IDLE_MS` on the clock. */
export interface OpenModel {
  readonly model: Model
  /** What the other side of the wire had to complain about. */
  complaints(): readonly string[]
  close(): Promise<void>
}

export interface ModelSubject {
  open(script: readonly ScriptStep[], clock: FakeClock): Promise<OpenModel>
}

export const IDLE_MS = 30_000

/** Runs the suite on an adapter. */
export function modelContract(name: string, subject: ModelSubject): void {
  let opened: OpenModel[] = []
  const play = async (
    ...script: ScriptStep[]
  ): Promise<{ model: Model; clock: FakeClock; complaints(): readonly string[] }> => {
    const clock = new FakeClock()
    const open = await subject.open(script, clock)
    opened.push(open)
    return { model: open.model, clock, complaints: () => open.complaints() }
  }
  afterEach(async () => {
    const closing = opened
    opened = []
    for (const open of closing) await open.close()
    expect(closing.flatMap((open) => [...open.complaints()])).toEqual([])
  })

  describe(`${name}: one terminal`, () => {
    terminals(play)
  })
  describe(`${name}: replies`, () => {
    replies(play)
  })
  describe(`${name}: failures`, () => {
    failures(play)
  })
  describe(`${name}: abort and silence`, () => {
    aborts(play)
  })
  describe(`${name}: replay`, () => {
    replays(play)
  })
}

type Play = (...script: ScriptStep[]) => Promise<{ model: Model; clock: FakeClock; complaints(): readonly string[] }>

const twoCalls: ScriptStep = {
  emit: [
    { reasoning: 'which city? 哪个' },
    { text: 'Let me look.' },
    { call: { name: 'weather', args: { city: '北京' }, id: 'call_a' } },
    { call: { name: 'weather', args: { city: 'Paris 😀' }, id: 'call_b' } },
  ],
  usage: { input: 100, cacheRead: 80, output: 50, reasoning: 20 },
}

function terminals(play: Play): void {
  const steps: readonly (readonly [string, ScriptStep, ModelEnd['kind']])[] = [
    ['an answer', { emit: [{ text: 'hi' }] }, 'done'],
    ['calls', twoCalls, 'calls'],
    ['nothing at all', {}, 'done'],
    ['the output limit', { emit: [{ text: 'hi' }], stop: 'length' }, 'max-tokens'],
    ['a refusal', { emit: [{ text: 'no' }], stop: 'filter' }, 'refused'],
    ['an unknown word', { emit: [{ text: 'hi' }], stop: 'raw:novel_reason' }, 'unknown-stop'],
    ['case 037: an announced call that never came', { emit: [], stop: 'tool' }, 'calls'],
    ['a refused request', { fault: { kind: 'http', status: 400 } }, 'error'],
    ['a broken connection', { emit: [{ text: 'hi' }], fault: { kind: 'cut' } }, 'error'],
    ['an error in the stream', { emit: [{ text: 'hi' }], fault: { kind: 'midError' } }, 'error'],
  ]
  it.each(steps)('ends once, and nothing comes after it: %s', async (_what, step, kind) => {
    const { model } = await play(step)
    const { chunks, end } = await collect(model, ask('go'))
    expect(end.kind).toBe(kind)
    expect(chunks.filter((chunk) => chunk.type === 'end')).toHaveLength(1)
    expect(chunks.at(-1)).toBe(end)
  })
}

function replies(play: Play): void {
  it('gives parts in order, each call with its own bytes', async () => {
    const { model } = await play(twoCalls)
    const { chunks, end } = await collect(model, ask('go'))
    const { parts, calls } = replyOf(end)
    expect(parts.map((part) => (part.type === 'call' ? `call ${part.index}` : `${part.type} ${part.text}`))).toEqual([
      'reasoning which city? 哪个',
      'text Let me look.',
      'call 0',
      'call 1',
    ])
    expect(calls).toEqual([
      { providerId: 'call_a', name: 'weather', args: '{"city":"北京"}' },
      { providerId: 'call_b', name: 'weather', args: '{"city":"Paris 😀"}' },
    ])
    expect(shown(chunks, 'text')).toBe('Let me look.')
    expect(shown(chunks, 'reasoning')).toBe('which city? 哪个')
  })

  it('case 098: shows chunks that add up to the reply', async () => {
    const text = '好😀 a😀b\u2028\n\n end'
    const { model } = await play({
      emit: [{ text }, { call: { name: 'write', args: { text } } }],
      stream: { chunk: 1, argChunk: 1 },
    })
    const { chunks, end } = await collect(model, ask('go'))
    expect(shown(chunks, 'text')).toBe(text)
    const args = chunks.map((chunk) => (chunk.type === 'call' ? (chunk.args ?? '') : '')).join('')
    expect(args).toBe(replyOf(end).calls[0]!.args)
    expect(JSON.parse(args)).toEqual({ text })
  })

  it.each([
    ['case 079: blank', ''],
    ['case 079: white space', ' \n'],
    ['case 080: no JSON', '{"path": "a'],
    ['case 080: a raw newline in a string', '{"path": "a\nb"}'],
    ['numbers that no double holds', '{"n":12345678901234567890,"f":1.0,"e":1e3,"2":1,"1":2}'],
  ])('C8: gives the very bytes of the arguments: %s', async (_what, raw) => {
    const { model } = await play({ emit: [{ call: { name: 'write', raw } }] })
    const { end } = await collect(model, ask('go'))
    expect(end.kind).toBe('calls')
    expect(replyOf(end).calls[0]!.args).toBe(raw)
  })

  it('C8: says max-tokens where a call was cut at the limit', async () => {
    const { model } = await play({ emit: [{ call: { name: 'write', args: { path: 'abcdef' }, cut: true } }] })
    const { end } = await collect(model, ask('go'))
    expect(end.kind).toBe('max-tokens')
    expect(replyOf(end).calls.map(({ args }) => args)).toEqual(['{"path":"'])
  })

  it('C8: keeps the word of an end that it does not know', async () => {
    const { model } = await play({ emit: [{ text: 'hm' }], stop: 'raw:novel_reason' })
    const { end } = await collect(model, ask('go'))
    expect(replyOf(end).rawFinish).toBe('novel_reason')
  })

  it('B1: counts cached tokens as part of the input, and says nothing where the provider did not', async () => {
    const { model } = await play(twoCalls, { emit: [{ text: 'hi' }] })
    expect(replyOf((await collect(model, ask('go'))).end).usage).toEqual({
      known: true,
      input: 100,
      cacheRead: 80,
      cacheWrite: 0,
      output: 50,
      reasoning: 20,
    })
    expect(replyOf((await collect(model, ask('go'))).end).usage).toBeNull()
  })
}

function failures(play: Play): void {
  it.each([
    [401, 'auth', false],
    [402, 'quota', false],
    [400, 'invalid-request', false],
    [429, 'rate-limited', true],
    [500, 'server', true],
    [503, 'overloaded', true],
  ] as const)('reads a refusal with status %i: %s', async (status, kind, retry) => {
    const { model } = await play({ fault: { kind: 'http', status, message: 'not now' } }, { emit: [{ text: 'ok' }] })
    const failure = failureOf((await collect(model, ask('go'))).end)
    expect(failure).toMatchObject({ kind, retry, status })
    expect(failure.message).toContain('not now')
    expect(failure.partial ?? false).toBe(false)
    expect((await collect(model, ask('go'))).text).toBe('ok')
  })

  it('T10: tells how long to wait', async () => {
    const { model } = await play({ fault: { kind: 'http', status: 429, retryAfterSeconds: 3 } })
    expect(failureOf((await collect(model, ask('go'))).end).retryAfterMs).toBe(3000)
  })

  it.each([
    ['cut', 'interrupted'],
    ['cleanEnd', 'interrupted'],
    ['garbage', 'protocol'],
    ['midError', 'server'],
  ] as const)('case 075: never takes half an answer for a whole one: %s', async (kind, failureKind) => {
    const { model } = await play({
      emit: [{ text: 'one ' }, { text: 'two ' }, { text: 'three' }],
      fault: { kind, after: 2 },
    })
    const { text, end } = await collect(model, ask('go'))
    expect(text).toBe('one two ')
    expect(failureOf(end)).toMatchObject({ kind: failureKind, retry: true, partial: true })
  })

  it('case 075: never hands out half a call', async () => {
    const { model } = await play({
      emit: [{ call: { name: 'write', args: { path: 'abcdef' } } }],
      stream: { argChunk: 4 },
      fault: { kind: 'cleanEnd', after: 3 },
    })
    const { end } = await collect(model, ask('go'))
    expect(failureOf(end).kind).toBe('interrupted')
    expect('reply' in end).toBe(false)
  })

  it('case 077: keeps nothing of a failed attempt', async () => {
    const { model } = await play(
      {
        emit: [{ text: 'Hel' }, { call: { name: 'x', args: { a: 1 } } }],
        stream: { argChunk: 3 },
        fault: { kind: 'midError', after: 2, status: 529 },
      },
      { emit: [{ text: 'Hello' }, { call: { name: 'y', args: {} } }] },
    )
    expect(failureOf((await collect(model, ask('go'))).end)).toMatchObject({
      kind: 'overloaded',
      retry: true,
      partial: true,
    })
    const { text, end } = await collect(model, ask('go'))
    expect(text).toBe('Hello')
    expect(replyOf(end).calls.map(({ name, args }) => [name, args])).toEqual([['y', '{}']])
  })
}

function aborts(play: Play): void {
  it('T7: sends nothing when the signal has aborted before', async () => {
    const { model, clock } = await play({ emit: [{ text: 'still here' }] })
    const { chunks, end } = await collect(model, ask('go'), AbortSignal.abort())
    expect(end.kind).toBe('aborted')
    expect(chunks).toHaveLength(1)
    expect(clock.armed).toBe(0)
    expect((await collect(model, ask('go'))).text).toBe('still here')
  })

  it('case 019: ends with the abort while nothing comes, and leaves no timer and no listener', async () => {
    const { model, clock } = await play(
      { emit: [{ text: 'one' }], fault: { kind: 'stall', after: 1 } },
      { emit: [{ text: 'next' }] },
    )
    const stop = new AbortController()
    const stream = model.stream(ask('go'), stop.signal)[Symbol.asyncIterator]()
    expect((await stream.next()).value).toEqual({ type: 'text', text: 'one' })
    const last = stream.next()
    await until(() => clock.armed > 0)
    stop.abort(new Error('a reason of the user'))
    expect((await last).value).toMatchObject({
      type: 'end',
      kind: 'aborted',
      failure: { kind: 'aborted', retry: false, partial: true },
    })
    expect((await stream.next()).done).toBe(true)
    expect(clock.armed).toBe(0)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })

  it('ends with the abort between two chunks', async () => {
    const { model } = await play({ emit: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] })
    const stop = new AbortController()
    const seen: ModelChunk[] = []
    for await (const chunk of model.stream(ask('go'), stop.signal)) {
      seen.push(chunk)
      stop.abort()
    }
    expect(seen).toMatchObject([{ text: 'one' }, { type: 'end', kind: 'aborted' }])
  })

  it('does not mind an abort after the end', async () => {
    const { model } = await play({ emit: [{ text: 'hi' }] })
    const stop = new AbortController()
    const { end } = await collect(model, ask('go'), stop.signal)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    stop.abort()
    expect(end.kind).toBe('done')
  })

  it.each([0, 1])('case 019: ends with a failure when nothing comes any more after %i chunks', async (after) => {
    const { model, clock } = await play(
      { emit: [{ text: 'one' }], fault: { kind: 'stall', after } },
      { emit: [{ text: 'next' }] },
    )
    const stream = model.stream(ask('go'), new AbortController().signal)[Symbol.asyncIterator]()
    for (let seen = 0; seen < after; seen++) expect((await stream.next()).value).toMatchObject({ type: 'text' })
    const last = stream.next()
    await until(() => clock.armed > 0)
    await clock.advance(IDLE_MS)
    const end = (await last).value as ModelEnd
    expect(failureOf(end)).toMatchObject({ kind: 'idle-timeout', retry: true })
    expect(failureOf(end).partial ?? false).toBe(after > 0)
    expect(clock.armed).toBe(0)
    expect((await collect(model, ask('go'))).text).toBe('next')
  })

  it('leaves nothing behind when its reader walks away', async () => {
    const { model, clock } = await play({ emit: [{ text: 'one' }, { text: 'two' }] })
    const stop = new AbortController()
    for await (const chunk of model.stream(ask('go'), stop.signal)) {
      expect(chunk.type).toBe('text')
      break
    }
    expect(clock.armed).toBe(0)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })

  it('answers several calls at a time', async () => {
    const texts = ['one', 'two', 'three']
    const { model } = await play(...texts.map((text) => ({ when: { lastUser: text }, emit: [{ text: `to ${text}` }] })))
    const all = await Promise.all(texts.map((text) => collect(model, ask(text))))
    expect(all.map(({ text }) => text)).toEqual(['to one', 'to two', 'to three'])
  })
}

function replays(play: Play): void {
  it('X7, case 024: takes its state back byte for byte after it was saved and loaded', async () => {
    const { model } = await play(twoCalls, {
      expect: { replayExact: true, replayCount: 1 },
      emit: [{ text: 'Paris is hotter.' }],
    })
    const first = replyOf((await collect(model, ask('go'))).end)
    expect(first.replay).not.toBeNull()
    const history = reload([...ask('go').messages, ...answered(model, first, 1)])
    expect((await collect(model, request(history))).text).toBe('Paris is hotter.')
  })

  it('case 026: keeps the calls of one reply in one message', async () => {
    const many: ScriptStep = {
      emit: [0, 1, 2].map((n) => ({ call: { name: `tool${n}`, args: { n }, id: `call_${n}` } })),
    }
    const { model } = await play(many, { expect: { replayExact: true, messages: 5 }, emit: [{ text: 'done' }] })
    const first = replyOf((await collect(model, ask('go'))).end)
    const history = reload([...ask('go').messages, ...answered(model, first, 1)])
    expect((await collect(model, request(history))).text).toBe('done')
  })

  it('X1: continues the request before it', async () => {
    const { model } = await play(
      twoCalls,
      { expect: { prefixSame: true }, emit: [{ text: 'hotter' }] },
      { expect: { prefixSame: true, replayExact: true, contains: ['and in 上海?'] }, emit: [{ text: 'hottest' }] },
    )
    const messages: Message[] = [...ask('go').messages]
    messages.push(...answered(model, replyOf((await collect(model, request(messages))).end), 1))
    messages.push(...answered(model, replyOf((await collect(model, request(messages))).end), 2))
    messages.push(user('and in 上海?'))
    expect((await collect(model, request(messages))).text).toBe('hottest')
  })

  it('case 102: makes do with empty and repeated ids', async () => {
    const ids = ['', '', 'x', 'x']
    const same: ScriptStep = {
      emit: ids.map((id, n) => ({ call: { name: n % 2 === 0 ? 'a' : 'b', args: { n }, id } })),
    }
    const { model } = await play(same, same, { emit: [{ text: 'done' }] })
    const messages: Message[] = [...ask('go').messages]
    for (const step of [1, 2]) {
      const reply = replyOf((await collect(model, request(messages))).end)
      expect(reply.calls.map(({ args }) => args)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}'])
      messages.push(...answered(model, reply, step))
    }
    expect((await collect(model, request(reload(messages)))).text).toBe('done')
  })
}

export function user(text: string): UserMessage {
  return { role: 'user', content: [textPart(text)], origin: { kind: 'user' } }
}

export function request(messages: Iterable<Message>, change: Partial<ModelRequest> = {}): ModelRequest {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const tools = [{ name: 'weather', description: 'Weather of a city', parameters }]
  return {
    session: sessionId('main'),
    epoch: 1,
    system: 'Be brief.',
    tools,
    messages: new Messages([...messages]),
    toolChoice: 'auto',
    ...change,
  }
}

export function ask(text: string): ModelRequest {
  return request([user(text)])
}

/** The reply as the runtime puts it into the context, and a result for each of its calls. */
export function answered(model: Model, reply: ModelReply, step: number): Message[] {
  const id = (index: number) => callId(`t1s${step}c${index + 1}`)
  const parts = reply.parts.map((part): ReplyPart =>
    part.type === 'call' ? { type: 'call', call: id(part.index) } : part,
  )
  const calls = reply.calls.map(({ name, args, providerId }, index) => ({
    id: id(index),
    name,
    args: objectText(args),
    providerId,
  }))
  const replay =
    reply.replay === null
      ? {}
      : { replay: { state: reply.replay, route: model.route, binding: model.binding, epoch: 1 } }
  const message: AssistantMessage = { role: 'assistant', parts, calls, ...replay }
  const results = calls.map((call): ToolMessage => ({
    role: 'tool',
    call: call.id,
    name: call.name,
    outcome: 'ok',
    content: [textPart(`result of ${call.id}`)],
  }))
  return [message, ...results]
}

function objectText(args: string): string {
  try {
    return typeof JSON.parse(args) === 'object' ? args : '{}'
  } catch {
    return '{}'
  }
}

export async function collect(model: Model, wanted: ModelRequest, signal = new AbortController().signal) {
  const chunks: ModelChunk[] = []
  for await (const chunk of model.stream(wanted, signal)) chunks.push(chunk)
  const end = chunks.at(-1)
  if (end?.type !== 'end') throw new Error('the stream has no terminal')
  return { chunks, end, text: shown(chunks, 'text') }
}

export function shown(chunks: readonly ModelChunk[], type: 'text' | 'reasoning'): string {
  return chunks.map((chunk) => (chunk.type === type ? chunk.text : '')).join('')
}

export function replyOf(end: ModelEnd): ModelReply {
  if (!('reply' in end)) throw new Error(`no reply, but ${end.failure.kind}: ${end.failure.message}`)
  return end.reply
}

export function failureOf(end: ModelEnd): Failure {
  if (!('failure' in end)) throw new Error(`no failure, but ${end.kind}`)
  return end.failure
}

/** The messages as they come back from a disk. */
export function reload(messages: readonly Message[]): Message[] {
  return JSON.parse(JSON.stringify(messages)) as Message[]
}

/** Lets the world run until something is so; gives up after a while. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 20_000) throw new Error('waited too long for something to be so')
    await drainMicrotasks()
  }
}
