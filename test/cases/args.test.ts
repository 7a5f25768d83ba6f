/** Cases about arguments and ids: parsed once, never guessed; a call is known by our id, whatever the provider called it. */
import { describe, expect, it } from 'vitest'
import type { ScriptStep } from '../../src/models/scripted/index.ts'
import type { Args } from '../../src/runtime/define/tool.ts'
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
const needsPath = { input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } } as const

describe('arguments', () => {
  it('case 079: blank arguments mean none: the tool runs with {}, and {} is what is projected', async () => {
    const one = bench()
    const runs: unknown[] = []
    const blanks = ['', ' \n', 'null', '{}']
    const model = strictModel([
      { emit: blanks.map((raw) => ({ call: { name: 'ping', raw } })) },
      { emit: [{ text: 'done' }] },
    ])
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('ping', (args) => (runs.push(args), 'pong'))] }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(runs).toEqual([{}, {}, {}, {}])
    const said = model.requests[1]!.messages.at(1)!
    expect(said.role === 'assistant' && said.calls.map((call) => call.args)).toEqual(['{}', '{}', '{}', '{}'])
    expect(model.refusals).toEqual([])
  })

  it('case 079: blank arguments for a tool that needs some are answered with its schema, and not run', async () => {
    const one = bench()
    let ran = 0
    const model = strictModel([{ emit: [{ call: { name: 'write', raw: '' } }] }, { emit: [{ text: 'done' }] }])
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('write', () => String(++ran), needsPath)] }))
    await (
      await session.send('go')
    ).outcome
    expect(ran).toBe(0)
    expect(await eventsOf(session, 'call.ended')).toMatchObject([{ outcome: { kind: 'invalid', problem: 'schema' } }])
    const told = resultsOf(model.requests[1]!.messages)['t1s1c1']
    expect(told).toContain('path')
    expect(told).toContain('"required"')
    const said = model.requests[1]!.messages.at(1)!
    expect(said.role === 'assistant' && said.calls[0]!.args).toBe('{}')
  })

  it.each([
    '{"path": "a',
    '{"path": "a\nb"}',
    '{"path": "a"} and more',
    '["a"]',
    '"a"',
    '7',
    '{path: "a"}',
    '{"path": "a",}',
  ])(
    'case 080: %j is not executed, nobody is asked to approve it, and the model is told why and what is expected',
    async (raw) => {
      const one = bench()
      let ran = 0
      let asked = 0
      const policy = pluginOf('policy', { decideCall: () => void asked++ })
      const write = toolOf('write', () => String(++ran), { ...needsPath, effect: 'write', approval: true })
      const model = strictModel([
        { emit: [{ call: { name: 'write', raw } }], stop: 'end' },
        { emit: [{ text: 'done' }] },
      ])
      const session = await one.harness().open(agentOf(model, { tools: [write], plugins: [policy] }))
      expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
      expect([ran, asked]).toEqual([0, 0])
      expect(await eventsOf(session, 'call.approval-asked')).toEqual([])
      expect(await eventsOf(session, 'call.ended')).toMatchObject([{ outcome: { kind: 'invalid', problem: 'json' } }])
      const told = resultsOf(model.requests[1]!.messages)['t1s1c1']
      expect(told).toMatch(/JSON object/)
      expect(told).toContain('"required"')
      expect(model.refusals).toEqual([])
    },
  )

  it('case 080: they are parsed once: policy sees the very object that runs', async () => {
    const one = bench()
    const seen: Args[] = []
    const policy = pluginOf('policy', { decideCall: ({ args }) => void seen.push(args) })
    const model = strictModel([
      { emit: [{ call: { name: 'write', raw: '{"path":"a","path":"b"}' } }] },
      { emit: [{ text: 'done' }] },
    ])
    const session = await one
      .harness()
      .open(
        agentOf(model, { tools: [toolOf('write', (args) => (seen.push(args), 'ok'), needsPath)], plugins: [policy] }),
      )
    await (
      await session.send('go')
    ).outcome
    expect(seen).toEqual([{ path: 'b' }, { path: 'b' }])
    expect(seen[0]).toBe(seen[1])
  })

  it('case 080: a tool that is not offered is answered with those that are', async () => {
    const one = bench()
    const model = strictModel([
      { emit: [{ call: { name: 'wriet', args: { path: 'a' } } }] },
      { emit: [{ text: 'done' }] },
    ])
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('write', () => 'ok'), toolOf('read', () => 'ok')] }))
    await (
      await session.send('go')
    ).outcome
    expect(await eventsOf(session, 'call.ended')).toMatchObject([{ outcome: { kind: 'invalid', problem: 'tool' } }])
    expect(resultsOf(model.requests[1]!.messages)['t1s1c1']).toMatch(/wriet.*write, read/)
  })
})

describe('ids that the provider made', () => {
  const call = (
    name: string,
    id: string,
    n: number,
  ): { call: NonNullable<Extract<NonNullable<ScriptStep['emit']>[number], { call: unknown }>['call']> } => ({
    call: { name, id, args: { n } },
  })

  it.each([
    ['empty', [call('echo', '', 1), call('echo', '', 2)]],
    ['the same for two calls of one reply', [call('echo', 'x', 1), call('other', 'x', 2)]],
    ['ours, of another call', [call('echo', 't1s1c2', 1), call('other', 't1s1c1', 2)]],
    ['__proto__', [call('echo', '__proto__', 1), call('other', '__proto__', 2)]],
  ])('case 102: %s: each call is executed once, in order, with one result', async (_what, emit) => {
    const one = bench()
    const runs: unknown[] = []
    const tools = ['echo', 'other'].map((name) =>
      toolOf(name, ({ n }) => (runs.push([name, n]), `${name} ${n as string}`), { effect: 'write' }),
    )
    const model = strictModel([{ emit }, { emit: [{ text: 'done' }] }])
    const session = await one.harness().open(agentOf(model, { tools }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(runs).toEqual(emit.map(({ call: { name, args } }) => [name, args!['n']]))
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'ok', t1s1c2: 'ok' })
    expect(Object.values(resultsOf(model.requests[1]!.messages))).toEqual(
      runs.map((run) => (run as unknown[]).join(' ')),
    )
    expect(model.refusals).toEqual([])
  })

  it('case 102: counters that restart in each turn: a new call is never taken for an old one', async () => {
    const one = bench()
    const runs: unknown[] = []
    const tools = ['a', 'b'].map((name) => toolOf(name, ({ n }) => (runs.push([name, n]), name), { effect: 'write' }))
    const text: ScriptStep = { emit: [{ text: 'done' }] }
    const model = strictModel([
      { emit: [call('a', 'call_0', 1)] },
      text,
      { emit: [call('b', 'call_0', 1)] },
      text,
      { emit: [call('b', 'call_0', 1)] },
      text,
    ])
    const session = await one.harness().open(agentOf(model, { tools }))
    for (const input of ['one', 'two', 'three'])
      expect(await (await session.send(input)).outcome).toMatchObject({ kind: 'completed' })
    expect(runs).toEqual([
      ['a', 1],
      ['b', 1],
      ['b', 1],
    ])
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'ok', t2s1c1: 'ok', t3s1c1: 'ok' })
    expect(linesOf(model.requests.at(-1)!.messages)).toHaveLength(11)
    expect(model.refusals).toEqual([])
    model.verify()
  })
})
