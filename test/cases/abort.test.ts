/** Cases about stopping: an abort reaches every wait, and leaves nothing half-said in the context. */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Model, ModelChunk } from '../../src/runtime/ports.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { overStore } from '../../src/stores/over-store.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { deferred } from '../../src/util/deferred.ts'
import { agentOf, eventsOf, heldTool, linesOf, soon, strictModel, toolOf, useBenches } from './bench.ts'

const bench = useBenches()

describe('an abort while the model is not there', () => {
  const throttled = { fault: { kind: 'http', status: 429, retryAfterSeconds: 5 } } as const

  it('case 018: the sleep before a retry hears it: it settles at once, no further call is made, the timer is gone', async () => {
    const one = bench()
    const model = strictModel([throttled, { emit: [{ text: 'never' }], optional: true }])
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    await one.clock.advance(500)
    expect(await eventsOf(session, 'model.failed')).toMatchObject([{ retryAt: one.clock.now() + 4_500 }])
    const before = one.clock.now()
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    await session.settled()
    expect(one.clock.now()).toBe(before)
    expect(model.requests).toHaveLength(1)
    await one.clock.advance(10_000)
    expect(model.requests).toHaveLength(1)
  })

  it('case 018: an abort that is there before the sleep begins is heard as well', async () => {
    const clock = new FakeClock()
    const inner = memoryStore({ clock })
    let abort = async (): Promise<void> => {}
    const store = overStore(inner, {
      async append(append) {
        const answer = await inner.append(append)
        if (append.events.some((event) => event.type === 'model.failed')) await abort()
        return answer
      },
    })
    const one = bench(store, clock)
    const model = strictModel([throttled])
    const session = await one.harness().open(agentOf(model))
    abort = async () => void (await session.abort())
    const turn = await session.send('go')
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(model.requests).toHaveLength(1)
    await session.settled()
  })

  it('case 018: the delay that the provider named is kept when nobody aborts', async () => {
    const one = bench()
    const model = strictModel([throttled, { emit: [{ text: 'now' }] }])
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    await one.clock.advance(4_999)
    expect(model.requests).toHaveLength(1)
    await one.clock.advance(1)
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    expect(model.requests).toHaveLength(2)
  })
})

describe('a stream that opens and then says nothing', () => {
  it('case 019: the idle limit ends it with a structured, retryable failure, and the next turn works', async () => {
    const one = bench()
    const model = strictModel([{ fault: { kind: 'stall' } }, { emit: [{ text: 'back' }] }], {
      clock: one.clock,
      idleTimeoutMs: 200,
    })
    const session = await one.harness().open(agentOf(model, { limits: { attempts: 1 } }))
    const turn = await session.send('go')
    await one.clock.advance(200)
    expect(await turn.outcome).toMatchObject({ kind: 'error', failure: { kind: 'idle-timeout', retry: true } })
    expect(await (await session.send('again')).outcome).toMatchObject({ kind: 'completed' })
  })

  it('case 019: an abort ends it at once though the stream ignores the signal; it is returned, the lease is free, the next turn works', async () => {
    const one = bench()
    const { model, seen } = deafModel()
    const session = await one.harness().open(agentOf(model), { session: 's' })
    const turn = await session.send('go')
    await soon(() => seen.streams === 1)
    const before = one.clock.now()
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    await session.settled()
    expect(one.clock.now()).toBe(before)
    expect(seen.returned).toBe(1)
    expect(await one.store.list()).toMatchObject([{ lease: null, resting: true }])
    seen.deaf = false
    expect(await (await session.send('again')).outcome).toMatchObject({ kind: 'completed' })
  })

  /** Never settles, whatever the signal says; then, once `deaf` is off, answers. */
  function deafModel() {
    const seen = { deaf: true, streams: 0, returned: 0 }
    const answer = strictModel(() => ({ emit: [{ text: 'here' }] }))
    const model: Model = {
      ...answer,
      stream(request, signal): AsyncIterable<ModelChunk> {
        seen.streams++
        if (!seen.deaf) return answer.stream(request, signal)
        return {
          [Symbol.asyncIterator]: () => ({
            next: () => deferred<IteratorResult<ModelChunk>>().promise,
            return: async () => {
              seen.returned++
              return { done: true, value: undefined }
            },
          }),
        }
      },
    }
    return { model, seen }
  }
})

describe('a reply that was stopped in the middle', () => {
  it("case 020: what the user saw is in the log, flagged, byte for byte, and not taken for the assistant's words", async () => {
    const one = bench()
    const model = strictModel(
      [
        { when: { lastUser: 'go' }, emit: [{ text: 'abcdefghi' }], stream: { chunk: 3, delayMs: 10 } },
        { when: { lastUser: 'next' }, emit: [{ text: 'second' }] },
      ],
      { clock: one.clock },
    )
    const session = await one.harness().open(agentOf(model), { session: 's' })
    const turn = await session.send('go')
    let shown = ''
    const reading = (async () => {
      for await (const text of turn.text) shown += text
    })()
    await one.clock.advance(25)
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    await reading
    expect(shown).toBe('abcdef')
    const [broken] = await eventsOf(session, 'reply.interrupted')
    expect(broken).toMatchObject({ reason: 'aborted', text: 'abcdef', turn: 1, step: 1 })
    expect(await eventsOf(session, 'turn.ended')).toMatchObject([{ turn: 1, step: 1, outcome: { kind: 'aborted' } }])
    expect(await eventsOf(session, 'reply.completed')).toEqual([])

    await (
      await session.send('next')
    ).outcome
    const lines = linesOf(model.requests[1]!.messages)
    expect(lines.filter((line) => line.startsWith('assistant'))).toEqual([])
    expect(lines.filter((line) => line.includes('abcdef'))).toEqual([
      expect.stringMatching(/^user \[The user stopped your last reply/),
    ])
    expect(lines.at(-1)).toBe('user next')
    expect(model.refusals).toEqual([])
  })

  it('T7 T8, case 019: a model that finishes its reply all the same is not heard: the turn has what was shown, as interrupted', async () => {
    const one = bench()
    const rest = deferred<void>()
    let speaks = false
    const model: Model = {
      ...strictModel([]),
      async *stream(): AsyncIterable<ModelChunk> {
        yield { type: 'text', text: 'one ' }
        speaks = true
        await rest.promise
        const reply = { calls: [], replay: null, usage: null, rawFinish: 'stop' }
        yield { type: 'end', kind: 'done', reply: { ...reply, parts: [{ type: 'text', text: 'one two' }] } }
      },
    }
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    await soon(() => speaks)
    await session.abort()
    await soon(async () => (await eventsOf(session, 'turn.abort-asked')).length > 0)
    rest.resolve()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(await eventsOf(session, 'reply.interrupted')).toMatchObject([{ reason: 'aborted', text: 'one ' }])
    expect(await eventsOf(session, 'reply.completed')).toEqual([])
  })

  it('case 046: half of the arguments never reach a context, and nothing is run', async () => {
    const one = bench()
    let ran = 0
    const write = toolOf('write', () => String(++ran), { effect: 'write' })
    const call = { name: 'write', id: 'c1', args: { path: 'a/b/c', content: 'x' } }
    const model = strictModel(
      [
        { when: { lastUser: 'go' }, emit: [{ text: 'I write' }, { call }], stream: { argChunk: 9, delayMs: 10 } },
        { when: { lastUser: 'next' }, emit: [{ text: 'second' }] },
      ],
      { clock: one.clock },
    )
    const session = await one.harness().open(agentOf(model, { tools: [write] }), { session: 's' })
    const turn = await session.send('go')
    await one.clock.advance(25)
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
    expect(ran).toBe(0)
    expect(model.refusals).toEqual([])
    for (const message of model.requests[1]!.messages) {
      if (message.role === 'assistant')
        for (const { args } of message.calls) expect(JSON.parse(args)).toBeTypeOf('object')
    }
    expect(JSON.stringify([...model.requests[1]!.messages])).not.toContain('"path')
  })

  it('case 046: a finished reply whose arguments are no JSON is projected with `{}`, the raw bytes are in the log only', async () => {
    const one = bench()
    const raw = '{"path":"a'
    const model = strictModel([{ emit: [{ call: { name: 'write', raw } }], stop: 'tool' }, { emit: [{ text: 'ok' }] }])
    const session = await one.harness().open(agentOf(model, { tools: [toolOf('write', () => 'x')] }))
    await (
      await session.send('go')
    ).outcome
    expect((await eventsOf(session, 'reply.completed'))[0]!.calls).toMatchObject([{ rawArgs: raw }])
    const said = model.requests[1]!.messages.at(1)!
    expect(said.role === 'assistant' && said.calls).toMatchObject([{ args: '{}' }])
    expect(model.refusals).toEqual([])
  })
})

describe('the signal of a turn', () => {
  it('case 018: a call and a model call that were aborted leave no listener on the signals they were given', async () => {
    const one = bench()
    const signals: AbortSignal[] = []
    const held = toolOf('held', (_args, { signal }) => {
      signals.push(signal)
      return new Promise<string>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
      )
    })
    const model = strictModel([{ emit: [{ call: { name: 'held' } }] }])
    const session = await one.harness().open(agentOf(model, { tools: [held] }))
    const turn = await session.send('go')
    await soon(() => signals.length === 1)
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(signals).toHaveLength(1)
    expect(getEventListeners(signals[0]!, 'abort')).toEqual([])
  })
})

describe('the grace of an abort', () => {
  it('T7: is not stretched by a clock that is set back, whatever comes in meanwhile', async () => {
    const clock = new FakeClock()
    let behindMs = 0
    const wall = { now: () => clock.now() - behindMs, after: clock.after.bind(clock) }
    const one = bench(memoryStore({ clock: wall }), clock)
    const deaf = heldTool('deaf', { effect: 'write' })
    const model = strictModel([{ emit: [{ call: { name: 'deaf' } }] }, { emit: [{ text: 'next' }] }])
    const session = await one.harness().open(agentOf(model, { tools: [deaf.tool] }))
    const turn = await session.send('go')
    await deaf.started()
    const ended = async (): Promise<boolean> => (await eventsOf(session, 'turn.ended')).length > 0
    await session.abort({ graceMs: 5_000 })
    await soon(async () => (await eventsOf(session, 'turn.abort-asked')).length > 0)

    behindMs = 3_600_000
    for (let second = 1; second < 5; second++) {
      await one.clock.advance(1_000)
      await session.note(`${second} s`)
      await clock.settle()
      expect(await ended()).toBe(false)
    }
    await one.clock.advance(1_000)
    await clock.settle()
    expect(await ended(), 'five seconds have passed').toBe(true)
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(await eventsOf(session, 'call.ended')).toMatchObject([{ outcome: { kind: 'unknown', reason: 'aborted' } }])
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
    deaf.starts[0]!.end('late')
  })
})
