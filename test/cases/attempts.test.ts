/** Cases about model calls that fail: what failed leaves nothing in the context, costs what it cost, and is not tried for ever. */
import { describe, expect, it } from 'vitest'
import type { Live } from '../../src/runtime/session.ts'
import { agentOf, eventsOf, linesOf, pluginOf, strictModel, toolOf, useBenches } from './bench.ts'

const bench = useBenches()

describe('a request that will never be taken', () => {
  it('case 004: it is sent once, the turn ends with an error that keeps what the provider said, and the next turn works', async () => {
    const one = bench()
    const said = 'messages.3: tool_result without a matching tool_use'
    const model = strictModel([
      { fault: { kind: 'http', status: 400, message: said, code: 'invalid_request' } },
      { emit: [{ text: 'fine' }] },
    ])
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({
      kind: 'error',
      failure: { kind: 'invalid-request', retry: false, status: 400, code: 'invalid_request', message: said },
    })
    await one.clock.advance(3_600_000)
    expect(model.requests).toHaveLength(1)
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[1]!.messages)).toEqual(['user go', 'user next'])
  })

  it('case 004: a failure that may pass is tried a bounded number of times, with growing pauses', async () => {
    const one = bench()
    const model = strictModel(() => ({ fault: { kind: 'http', status: 503 } }))
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({
      kind: 'error',
      failure: { kind: 'overloaded', retry: true },
    })
    expect(model.requests).toHaveLength(4)
    const waits = (await eventsOf(session, 'model.failed')).map((event) =>
      event.retryAt === null ? null : event.retryAt - event.at,
    )
    expect(waits).toEqual([250, 500, 1_000, null])
  })
})

describe('tokens of attempts that failed', () => {
  it("case 071: they are part of the turn's usage, and of each failure", async () => {
    const one = bench()
    const model = strictModel([
      { emit: [{ text: 'Hel' }], fault: { kind: 'midError', failure: 'overloaded' }, usage: { input: 20, output: 10 } },
      { emit: [{ text: 'Hel' }], fault: { kind: 'midError', failure: 'overloaded' }, usage: { input: 20, output: 10 } },
      { emit: [{ text: 'Hello' }], usage: { input: 15, output: 5 } },
    ])
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
    const { input, output, known } = await session.usage()
    expect({ total: input + output, known }).toEqual({ total: 80, known: true })
    expect(await eventsOf(session, 'model.requested')).toHaveLength(3)
    for (const failed of await eventsOf(session, 'model.failed'))
      expect(failed.usage).toMatchObject({ input: 20, output: 10 })
  })

  it('case 071: where the provider said nothing they are estimated, and the sum says so', async () => {
    const one = bench()
    const model = strictModel([
      { emit: [{ text: 'x'.repeat(40) }], fault: { kind: 'cut' } },
      { emit: [{ text: 'Hello' }], usage: { input: 15, output: 5 } },
    ])
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    await one.settle(turn.outcome)
    const usage = await session.usage()
    expect(usage.known).toBe(false)
    expect(usage.output).toBe(15)
  })
})

describe('a stream that ends without a finish', () => {
  it('case 075: it is a retryable failure, what came is kept as incomplete, the turn is not completed', async () => {
    const one = bench()
    const model = strictModel([
      { emit: [{ text: 'one two three' }], stream: { chunk: 4 }, fault: { kind: 'cleanEnd' } },
    ])
    const session = await one.harness().open(agentOf(model, { limits: { attempts: 1 } }))
    expect(await (await session.send('go')).outcome).toMatchObject({
      kind: 'error',
      failure: { kind: 'interrupted', retry: true, partial: true },
    })
    expect(await eventsOf(session, 'model.failed')).toMatchObject([{ text: 'one two three', retryAt: null }])
    expect(linesOf((await session.context()).messages)).toEqual(['user go'])
  })

  it('case 075: half of a call is not executed, not repaired, and not in the context', async () => {
    const one = bench()
    let ran = 0
    const model = strictModel([
      {
        emit: [{ call: { name: 'write', args: { path: 'a/b' } } }],
        stream: { argChunk: 5 },
        fault: { kind: 'cleanEnd', after: 2 },
      },
      { emit: [{ text: 'again' }] },
    ])
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('write', () => String(++ran), { effect: 'write' })] }))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
    expect(ran).toBe(0)
    expect(linesOf(model.requests[1]!.messages)).toEqual(['user go'])
  })

  it('case 075: a finish that nobody knows is never a completion, and its calls do not run', async () => {
    const one = bench()
    let ran = 0
    const model = strictModel([
      { emit: [{ text: 'so' }, { call: { name: 'write' } }], stop: 'raw:weird' },
      { emit: [{ text: 'fine' }] },
    ])
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('write', () => String(++ran), { effect: 'write' })] }))
    expect(await (await session.send('go')).outcome).toMatchObject({
      kind: 'error',
      failure: { kind: 'unknown-stop', message: expect.stringContaining('weird') },
    })
    expect(ran).toBe(0)
    expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
    expect(model.refusals).toEqual([])
  })

  it('case 075: an adapter that ends without a terminal, or throws, is a failure like any other', async () => {
    const one = bench()
    const good = strictModel(() => ({ emit: [{ text: 'ok' }] }))
    let calls = 0
    const model = {
      ...good,
      stream: (...args: Parameters<typeof good.stream>) => {
        calls++
        if (calls === 1) return (async function* () {})()
        if (calls === 2) throw new Error('adapter bug')
        return good.stream(...args)
      },
    }
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
    expect((await eventsOf(session, 'model.failed')).map((event) => event.failure.kind)).toEqual([
      'interrupted',
      'protocol',
    ])
  })
})

describe('a retry after output was shown', () => {
  const script = () => [
    {
      emit: [{ text: 'Hel' }, { call: { name: 'x', raw: '{"a' } }],
      fault: { kind: 'midError', failure: 'overloaded' },
    } as const,
    { emit: [{ text: 'Hello' }, { call: { name: 'y' } }] },
    { emit: [{ text: 'done' }] },
  ]

  it('case 077: nothing of the first attempt is in the message, watchers are told to reset, its call never runs', async () => {
    const one = bench()
    const runs: string[] = []
    const tools = ['x', 'y'].map((name) => toolOf(name, () => (runs.push(name), name)))
    const model = strictModel(script())
    const session = await one.harness().open(agentOf(model, { tools }))
    const seen: Live[] = []
    const stop = new AbortController()
    const watching = (async () => {
      for await (const item of session.watch({ after: 0, signal: stop.signal }))
        if (item.kind === 'live') seen.push(item.live)
    })()
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
    stop.abort()
    await watching
    expect(runs).toEqual(['y'])
    expect(linesOf(model.requests[2]!.messages)).toEqual(['user go', 'assistant Hello y#t1s1c1', 'tool t1s1c1 ok'])
    const firstStep = seen
      .filter((live) => 'step' in live && live.step === 1)
      .map((live) => `${live.type} ${'attempt' in live ? live.attempt : ''}`)
    expect(firstStep).toEqual(['text 1', 'call 1', 'reset 1', 'text 2', 'call 2'])
    expect(model.refusals).toEqual([])
  })

  it('case 077: whether there is a retry after visible output is up to the policy', async () => {
    const one = bench()
    const strict = pluginOf('strict', {
      decideModelError: ({ failure }) => (failure.partial === true ? { retryInMs: null } : undefined),
    })
    const model = strictModel(script())
    const session = await one.harness().open(agentOf(model, { plugins: [strict] }))
    expect(await (await session.send('go')).outcome).toMatchObject({
      kind: 'error',
      failure: { kind: 'overloaded', partial: true },
    })
    expect(model.requests).toHaveLength(1)
    expect(await eventsOf(session, 'model.failed')).toMatchObject([{ text: 'Hel' }])
  })
})
