/** Cases about how a turn ends: nothing incomplete is called completed, nothing goes on for ever. */
import { describe, expect, it } from 'vitest'
import type { Script, ScriptStep } from '../../src/models/scripted/index.ts'
import {
  agentOf,
  eventsOf,
  linesOf,
  outcomesOf,
  pluginOf,
  resultsOf,
  strictModel,
  toolOf,
  useBenches,
} from './bench.ts'

const bench = useBenches()

describe('an empty answer', () => {
  it('case 037: "tool use" without content is asked again, and the turn goes on', async () => {
    const one = bench()
    const model = strictModel([
      { emit: [{ call: { name: 'a' } }] },
      { emit: [], stop: 'tool' },
      { emit: [{ text: 'there' }] },
    ])
    const session = await one.harness().open(agentOf(model, { tools: [toolOf('a', () => 'A')] }))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
    expect(await eventsOf(session, 'model.failed')).toMatchObject([
      { failure: { kind: 'empty-response', retry: true } },
    ])
    expect(linesOf((await session.context()).messages)).toEqual([
      'user go',
      'assistant a#t1s1c1',
      'tool t1s1c1 ok',
      'assistant there',
    ])
    expect(model.refusals).toEqual([])
    model.verify()
  })

  it.each([
    ['tool', []],
    ['end', []],
    ['end', [{ reasoning: 'hm' }]],
    ['end', [{ text: ' \n' }]],
  ] as const)(
    'case 037: with stop "%s" and parts %j for ever it ends with an error after a bounded number of calls',
    async (stop, emit) => {
      const one = bench()
      const model = strictModel(() => ({ emit: [...emit], stop }))
      const session = await one.harness().open(agentOf(model, { limits: { attempts: 3 } }))
      const turn = await session.send('go')
      expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'error', failure: { kind: 'empty-response' } })
      expect(model.requests).toHaveLength(3)
      expect(linesOf((await session.context()).messages)).toEqual(['user go'])
    },
  )

  it('case 037: an empty answer does not reset the budget of retries', async () => {
    const one = bench()
    const overloaded: ScriptStep = { fault: { kind: 'http', status: 503 } }
    const model = strictModel([
      overloaded,
      { emit: [], stop: 'tool' },
      overloaded,
      { emit: [{ text: 'never' }], optional: true },
    ])
    const session = await one.harness().open(agentOf(model, { limits: { attempts: 3 } }))
    const turn = await session.send('go')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'error', failure: { kind: 'overloaded' } })
    expect(model.requests).toHaveLength(3)
  })
})

describe('a model that repeats itself', () => {
  const same = { lookup: () => 'nothing', search: () => 'nothing' }
  const reads = Object.entries(same).map(([name, run]) => toolOf(name, run))
  const call = (name: string, raw: string): ScriptStep => ({ emit: [{ call: { name, raw } }] })
  const a = call('lookup', '{"x":1,"y":[{"b":2,"c":3}]}')
  const aOtherwise = call('lookup', '{ "y": [ {"c":3,"b":2} ], "x": 1 }')
  const b = call('search', '{"q":"z"}')
  const both: ScriptStep = { emit: [...a.emit!, ...b.emit!] }
  const bothOtherwise: ScriptStep = { emit: [...b.emit!, ...aOtherwise.emit!] }
  const text: ScriptStep = { emit: [{ text: 'enough' }] }

  it.each([
    ['A, A, A', [a, aOtherwise, a], 3],
    ['A, B, A, B, A, B', [a, b, aOtherwise, b, a, b], 6],
    ['the same batch three times, in another order and with reordered keys', [both, bothOtherwise, both], 3],
    ['A, B, C, three times', [a, b, both, a, b, both, a, b, both], 9],
  ] as const)('case 039: %s trips at the third repetition', async (_what, steps, at) => {
    const one = bench()
    const model = strictModel([...steps, text])
    const session = await one.harness().open(agentOf(model, { tools: reads }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    const stepsGuided = (await eventsOf(session, 'call.ended'))
      .filter((end) => end.outcome.kind === 'intercepted')
      .map((end) => end.step)
    expect([...new Set(stepsGuided)]).toEqual([at])
    expect(model.refusals).toEqual([])
  })

  it('case 039: a call whose result changes is progress, and does not trip', async () => {
    const one = bench()
    let n = 0
    const model = strictModel([a, a, a, a, a, text])
    const session = await one.harness().open(agentOf(model, { tools: [toolOf('lookup', () => `row ${++n}`)] }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(n).toBe(5)
  })

  it.each([
    ['A', [a]],
    ['A, B', [a, b]],
    ['batches', [both, bothOtherwise]],
  ] as const)('case 039: %s for ever ends the turn, stuck', async (_what, period) => {
    const one = bench()
    const script: Script = (_request, { position }) => period[position % period.length]!
    const model = strictModel(script)
    const session = await one.harness().open(agentOf(model, { tools: reads, limits: { steps: 100 } }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'stuck', times: 5 })
    expect(model.requests.length).toBeLessThanOrEqual(5 * period.length)
    expect(model.refusals).toEqual([])
  })
})

describe('the step limit', () => {
  const working: Script = (request, { position }) => {
    if (request.toolChoice === 'none') return { emit: [{ text: 'so far: 3 calls' }] }
    return { emit: [{ call: { name: 'work', args: { n: position } } }] }
  }
  const limits = { steps: 3, atSteps: 'summary' } as const

  it('case 041: the summary is asked for with the same tools and the choice none, and ends step-limit', async () => {
    const { session, model, runs } = await open(working)
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'step-limit', how: 'summary', steps: 3 })
    expect(model.requests).toHaveLength(4)
    expect(model.requests.map((request) => request.toolChoice)).toEqual(['auto', 'auto', 'auto', 'none'])
    expect(new Set(model.requests.map((request) => JSON.stringify(request.tools))).size).toBe(1)
    expect(runs()).toBe(3)
    expect(linesOf((await session.context()).messages).at(-1)).toBe('assistant so far: 3 calls')
    expect((await session.status()).kind).toBe('held')
    expect(model.refusals).toEqual([])
  })

  it('case 041: a call made anyway is not run, is answered, and the user gets a fallback text', async () => {
    const { session, model, runs } = await open((_request, { position }) => ({
      emit: [{ call: { name: 'work', args: { n: position } } }],
    }))
    const outcome = await (await session.send('go')).outcome
    expect(outcome).toMatchObject({
      kind: 'step-limit',
      how: 'handback',
      steps: 3,
      notice: expect.stringContaining('3 steps'),
    })
    expect(model.requests).toHaveLength(4)
    expect(runs()).toBe(3)
    expect((await outcomesOf(session))['t1s4c1']).toBe('not-started')
    await (
      await session.send('next')
    ).outcome
    expect(model.refusals).toEqual([])
  })

  it.each([400, 503])(
    'case 041: the provider refuses the summary with %i: the turn ends with an error, no fifth call',
    async (status) => {
      const script: Script = (request, turn) =>
        request.toolChoice === 'none' ? { fault: { kind: 'http', status } } : working(request, turn)
      const { one, session, model } = await open(script)
      const turn = await session.send('go')
      expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'step-limit', how: 'error', failure: { status } })
      await one.clock.advance(120_000)
      expect(model.requests).toHaveLength(4)
    },
  )

  async function open(script: Script) {
    const one = bench()
    let runs = 0
    const work = toolOf('work', ({ n }) => (runs++, `did ${n as string}`))
    const model = strictModel(script)
    const session = await one.harness().open(agentOf(model, { tools: [work], limits }))
    return { one, session, model, runs: () => runs }
  }
})

describe('a hook that never lets the turn end', () => {
  it('case 042: its vetoes are capped whatever the model does in between, and it is told how often it vetoed', async () => {
    const one = bench()
    const told: number[] = []
    const stubborn = pluginOf('stubborn', {
      decideStop: ({ vetoes }) => {
        told.push(vetoes)
        return { veto: `not yet (${vetoes})` }
      },
    })
    const model = strictModel((_request, { position }) =>
      position % 2 === 0
        ? { emit: [{ call: { name: 'a', args: { position } } }] }
        : { emit: [{ text: `done ${position}` }] },
    )
    const session = await one.harness().open(
      agentOf(model, {
        tools: [toolOf('a', ({ position }) => `A${position as string}`)],
        plugins: [stubborn],
        limits: { steps: 50 },
      }),
    )
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'veto-capped', vetoes: 3 })
    expect(told).toEqual([0, 1, 2, 3])
    expect(await eventsOf(session, 'stop.vetoed')).toHaveLength(3)
    expect(model.requests).toHaveLength(8)
    expect(model.refusals).toEqual([])
  })

  it('case 042: the step limit holds though the model keeps calling and the hook is never asked', async () => {
    const one = bench()
    let asked = 0
    const stubborn = pluginOf('stubborn', { decideStop: () => (asked++, { veto: 'no' }) })
    const model = strictModel((request, { position }) =>
      request.toolChoice === 'none'
        ? { emit: [{ text: 'so far' }] }
        : { emit: [{ call: { name: 'a', args: { position } } }] },
    )
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('a', ({ position }) => `A${position as string}`)], plugins: [stubborn] }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'step-limit', steps: 15 })
    expect(asked).toBe(0)
    expect(model.requests).toHaveLength(16)
  })
})

describe('a reply that was cut at the output limit', () => {
  const cut: ScriptStep = {
    emit: [{ call: { name: 'write', args: { path: 'a', content: 'long '.repeat(50) }, cut: true } }],
  }

  it('case 044: the tool is not entered, the model is told why, and the turn stays max-tokens though it finishes well', async () => {
    const { session, model, runs } = await open([cut, cut, { emit: [{ text: 'done' }] }])
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'max-tokens', limit: 'output' })
    expect(runs).toEqual([])
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'not-started', t1s2c1: 'not-started' })
    expect(resultsOf(model.requests[1]!.messages)['t1s1c1']).toMatch(/cut at the output limit/)
    expect(model.refusals).toEqual([])
    model.verify()
  })

  it('case 044: the same truncation again and again is bounded', async () => {
    const { session, model, runs } = await open(() => cut)
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'max-tokens' })
    expect(model.requests).toHaveLength(3)
    expect(runs).toEqual([])
  })

  it('case 045: neither the cut call nor its complete sibling runs, both are answered, none counts as a bad call of its tool', async () => {
    const { session, model, runs } = await open([
      { emit: [{ call: { name: 'write', args: { path: 'whole' } } }, ...cut.emit!] },
      { emit: [{ text: 'done' }] },
    ])
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'max-tokens' })
    expect(runs).toEqual([])
    const ends = await eventsOf(session, 'call.ended')
    expect(ends.map((end) => end.outcome)).toEqual([
      { kind: 'not-started', reason: 'output-limit' },
      { kind: 'not-started', reason: 'output-limit' },
    ])
    expect(model.refusals).toEqual([])
    model.verify()
  })

  async function open(script: Script) {
    const one = bench()
    const runs: unknown[] = []
    const write = toolOf('write', (args) => (runs.push(args), 'written'), { effect: 'write' })
    const model = strictModel(script)
    const session = await one.harness().open(agentOf(model, { tools: [write] }))
    return { session, model, runs }
  }
})
