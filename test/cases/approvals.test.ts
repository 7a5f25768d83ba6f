/** Cases about questions that wait for a person: each is answered for itself, once, and what ran before is not run again. */
import { describe, expect, it } from 'vitest'
import type { Script } from '../../src/models/scripted/index.ts'
import { defer } from '../../src/runtime/define/tool.ts'
import type { Session } from '../../src/runtime/session.ts'
import { canonicalJson } from '../../src/util/json.ts'
import type { Bench } from './bench.ts'
import {
  STALE,
  agentOf,
  eventsOf,
  linesOf,
  outcomesOf,
  pluginOf,
  resultsOf,
  soon,
  strictModel,
  toolOf,
  useBenches,
} from './bench.ts'

const bench = useBenches()

async function asks(session: Session): Promise<string[]> {
  const status = await session.status()
  return status.kind === 'waiting' ? status.asks.map((ask) => ask.call) : []
}

describe('two questions in one reply', () => {
  const script: Script = [
    {
      emit: [
        { call: { name: 'book', args: { seat: 7 } } },
        { call: { name: 'ask', args: { q: 'A' } } },
        { call: { name: 'ask', args: { q: 'B' } } },
      ],
    },
    { emit: [{ text: 'done' }] },
  ]

  it.each([
    ['B then A', ['t1s1c3', 't1s1c2']],
    ['A then B', ['t1s1c2', 't1s1c3']],
  ] as const)(
    'case 058: after a reload, answered %s: what ran is not run again, and each answer reaches its own call',
    async (_what, order) => {
      const one = bench()
      let booked = 0
      const book = toolOf('book', () => `booked ${++booked}`, { effect: 'write' })
      const ask = toolOf('ask', ({ q }) => defer(`question ${q as string}`), { effect: 'read' })
      const model = strictModel(script, { cursor: 'context' })
      const spec = agentOf(model, { tools: [book, ask] })
      const first = await one.harness().open(spec, { session: 's' })
      await first.send('go')
      await soon(async () => (await asks(first)).length === 2)
      await first.settled()
      expect(await asks(first)).toEqual(['t1s1c2', 't1s1c3'])
      await first.close()

      const session = await one.harness().open(spec, { session: 's' })
      await session.settled()
      expect(await one.store.list()).toMatchObject([{ lease: null }])
      const names: Record<string, string> = { t1s1c2: 'A', t1s1c3: 'B' }
      await session.answer(order[0], `answer to ${names[order[0]]}`)
      await soon(async () => (await asks(session)).length === 1)
      expect(await asks(session)).toEqual([order[1]])
      expect(model.requests).toHaveLength(1)
      await session.answer(order[1], `answer to ${names[order[1]]}`)
      await session.settled()
      expect(booked).toBe(1)
      expect(resultsOf(model.requests[1]!.messages)).toEqual({
        t1s1c1: 'booked 1',
        t1s1c2: 'answer to A',
        t1s1c3: 'answer to B',
      })
      expect(await outcomesOf(session)).toEqual({ t1s1c1: 'ok', t1s1c2: 'ok', t1s1c3: 'ok' })
      expect((await eventsOf(session, 'turn.ended')).map((end) => end.outcome.kind)).toEqual(['completed'])
      expect(model.refusals).toEqual([])
    },
  )

  it('case 058: a second answer to the same question is stale, and visibly so', async () => {
    const one = bench()
    const model = strictModel(script)
    const tools = [
      toolOf('book', () => 'booked', { effect: 'write' }),
      toolOf('ask', ({ q }) => defer(`question ${q as string}`)),
    ]
    const session = await one.harness().open(agentOf(model, { tools }))
    await session.send('go')
    await soon(async () => (await asks(session)).length === 2)
    await session.answer('t1s1c2', 'first')
    const again = await session.answer('t1s1c2', 'second')
    expect(await again.settled).toEqual(STALE)
    await session.answer('t1s1c3', 'third')
    await session.settled()
    expect(resultsOf(model.requests[1]!.messages)).toMatchObject({ t1s1c2: 'first', t1s1c3: 'third' })
  })
})

describe('approvals', () => {
  const script: Script = [
    { emit: [{ call: { name: 'rm', args: { path: 'a' } } }, { call: { name: 'rm', args: { path: 'b' } } }] },
    { emit: [{ text: 'done' }] },
  ]
  const rmOf = (runs: unknown[]) =>
    toolOf('rm', ({ path }) => (runs.push(path), `removed ${path as string}`), { effect: 'write', approval: true })

  for (const reload of [false, true]) {
    it(`case 087: each of two calls waits for its own answer${reload ? ', also after a reload' : ''}`, async () => {
      const one = bench()
      const runs: unknown[] = []
      const model = strictModel(script, { cursor: 'context' })
      const spec = agentOf(model, { tools: [rmOf(runs)] })
      let session = await one.harness().open(spec, { session: 's' })
      await session.send('go')
      await session.settled()
      expect(await asks(session)).toEqual(['t1s1c1', 't1s1c2'])
      session = await reopened(one, session, spec, reload)
      await session.approve('t1s1c1')
      await session.settled()
      expect(runs).toEqual(['a'])
      expect(await asks(session)).toEqual(['t1s1c2'])
      expect(model.requests).toHaveLength(1)
      session = await reopened(one, session, spec, reload)
      await session.deny('t1s1c2', { reason: 'keep that' })
      await session.settled()
      expect(runs).toEqual(['a'])
      expect(await outcomesOf(session)).toEqual({ t1s1c1: 'ok', t1s1c2: 'denied' })
      expect(resultsOf(model.requests[1]!.messages)['t1s1c2']).toContain('keep that')
      const asked = await eventsOf(session, 'call.approval-asked')
      expect(new Set(asked.map((event) => event.argsHash)).size).toBe(2)
      expect(model.refusals).toEqual([])
    })
  }

  it('case 087: an answer that was given for other arguments is stale, and what is asked stays asked', async () => {
    const one = bench()
    const runs: unknown[] = []
    const session = await one.harness().open(agentOf(strictModel(script), { tools: [rmOf(runs)] }))
    await session.send('go')
    await session.settled()
    const wrong = (await eventsOf(session, 'call.approval-asked'))[1]!.argsHash
    expect(await (await session.approve('t1s1c1', { argsHash: wrong })).settled).toEqual(STALE)
    expect(await asks(session)).toEqual(['t1s1c1', 't1s1c2'])
    expect(runs).toEqual([])
  })

  it('case 087: a call that waits behind a question runs after it was answered, however long that took', async () => {
    const one = bench()
    const runs: unknown[] = []
    const after = toolOf('after', () => (runs.push('after'), 'ran'), { effect: 'write' })
    const model = strictModel([
      { emit: [{ call: { name: 'rm', args: { path: 'a' } } }, { call: { name: 'after' } }] },
      { emit: [{ text: 'done' }] },
    ])
    const session = await one.harness().open(agentOf(model, { tools: [rmOf(runs), after] }))
    await session.send('go')
    await session.settled()
    expect(await session.status()).toMatchObject({ kind: 'waiting', asks: [{ call: 't1s1c1' }] })
    await one.clock.advance(20 * 60_000)
    await session.approve('t1s1c1')
    await session.settled()
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'ok', t1s1c2: 'ok' })
    expect(runs).toEqual(['a', 'after'])
  })

  it('case 061: each call and each result is in the log once, whatever the number of resumes', async () => {
    const one = bench()
    const runs: unknown[] = []
    const model = strictModel(script, { cursor: 'context' })
    const spec = agentOf(model, { tools: [rmOf(runs)] })
    let session = await one.harness().open(spec, { session: 's' })
    await session.send('go')
    await session.settled()
    for (let n = 0; n < 3; n++) session = await reopened(one, session, spec, true)
    await session.approve('t1s1c1', { id: 'yes-1' })
    await session.settled()
    await session.approve('t1s1c1', { id: 'yes-1' })
    for (let n = 0; n < 3; n++) session = await reopened(one, session, spec, true)
    await session.approve('t1s1c2')
    await session.settled()
    for (let n = 0; n < 3; n++) session = await reopened(one, session, spec, true)
    expect(runs).toEqual(['a', 'b'])
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'ok', t1s1c2: 'ok' })
    expect((await eventsOf(session, 'reply.completed')).flatMap((reply) => reply.calls.map((call) => call.id))).toEqual(
      ['t1s1c1', 't1s1c2'],
    )
    expect(await eventsOf(session, 'call.started')).toHaveLength(2)
    expect(linesOf((await session.context()).messages)).toEqual([
      'user go',
      'assistant rm#t1s1c1 rm#t1s1c2',
      'tool t1s1c1 ok',
      'tool t1s1c2 ok',
      'assistant done',
    ])
    expect(model.refusals).toEqual([])
  })

  async function reopened(
    one: Bench,
    session: Session,
    spec: ReturnType<typeof agentOf>,
    reload: boolean,
  ): Promise<Session> {
    if (!reload) return session
    await session.close()
    const again = await one.harness().open(spec, { session: 's' })
    await again.settled()
    return again
  }
})

describe('what a question and its answer are bound to', () => {
  const asking = { effect: 'write', approval: () => 'may it?', guard: 'off' } as const
  /** Saves once in every turn. */
  const savingModel = () =>
    strictModel(({ messages }) => ({
      emit: messages.at(-1)!.role === 'user' ? [{ call: { name: 'save' } }] : [{ text: 'done' }],
    }))

  it('A2, case 086: an "always" of one session answers nothing in another', async () => {
    const one = bench()
    const model = savingModel()
    const harness = one.harness()
    const spec = agentOf(model, { tools: [toolOf('save', () => 'saved', asking)] })
    const first = await harness.open(spec, { session: 'first' })
    await first.send('go')
    await first.settled()
    await first.approve('t1s1c1', { always: true })
    await first.settled()
    await first.send('again')
    await first.settled()
    expect(await asks(first)).toEqual([])
    const second = await harness.open(spec, { session: 'second' })
    await second.send('go')
    await second.settled()
    expect(await asks(second)).toEqual(['t1s1c1'])
  })

  it('A2: the hash of a question is that of the arguments it shows, a plugin having replaced those of the model', async () => {
    const one = bench()
    const model = strictModel([{ emit: [{ call: { name: 'save', args: { path: 'a' } } }] }])
    const plugin = pluginOf('safe', { decideCall: () => ({ kind: 'allow', args: { path: 'safe/a' } }) })
    const tools = [toolOf('save', () => 'saved', asking)]
    const session = await one.harness().open(agentOf(model, { tools, plugins: [plugin] }))
    await session.send('go')
    await session.settled()
    const status = await session.status()
    expect(status).toMatchObject({ kind: 'waiting', asks: [{ args: { path: 'safe/a' } }] })
    const [asked] = await eventsOf(session, 'call.approval-asked')
    expect(asked!.argsHash).toBe(one.ids.sha256(canonicalJson({ path: 'safe/a' })))
  })

  /** A payment, which needs a yes above 100, by a model that wants `asked`; a plugin makes `made` of it. */
  async function paying(asked: number, made: number) {
    const one = bench()
    const paid: unknown[] = []
    const model = strictModel([
      { emit: [{ call: { name: 'pay', args: { amount: asked } } }] },
      { emit: [{ text: 'ok' }] },
    ])
    const plugin = pluginOf('rounding', { decideCall: () => ({ kind: 'allow', args: { amount: made } }) })
    const pay = toolOf('pay', ({ amount }) => (paid.push(amount), 'paid'), {
      effect: 'write',
      approval: ({ amount }) => Number(amount) > 100 && `Pay ${Number(amount)}?`,
    })
    const session = await one.harness().open(agentOf(model, { tools: [pay], plugins: [plugin] }))
    await session.send('go')
    await session.settled()
    return { one, session, paid, questions: await eventsOf(session, 'call.approval-asked') }
  }

  it('A1 A2: a tool is asked about what a plugin made of its call: a person about big payments, and nobody about small ones', async () => {
    const { one, session, paid, questions } = await paying(10, 1_000)
    const shown = { type: 'call.approval-asked', reason: 'Pay 1000?', args: { amount: 1_000 } }
    expect(questions).toMatchObject([{ ...shown, argsHash: one.ids.sha256(canonicalJson({ amount: 1_000 })) }])
    expect(paid).toEqual([])
    await session.approve('t1s1c1', { argsHash: questions[0]!.argsHash })
    await session.settled()
    expect(paid).toEqual([1_000])

    const small = await paying(1_000, 10)
    expect([small.questions, small.paid]).toEqual([[], [10]])
  })

  it('A1 A2: an "always" for the question of a tool leaves the one that a plugin asks', async () => {
    const one = bench()
    const model = savingModel()
    const plugin = pluginOf('policy', { decideCall: () => ({ kind: 'ask', reason: 'at this hour?' }) })
    const tools = [toolOf('save', () => 'saved', asking)]
    const session = await one.harness().open(agentOf(model, { tools, plugins: [plugin] }))
    for (const [turn, reason] of ['may it?', 'at this hour?'].entries()) {
      await session.send('go')
      await session.settled()
      expect(await session.status()).toMatchObject({ kind: 'waiting', asks: [{ reason }] })
      await session.approve(`t${turn + 1}s1c1`, { always: true })
      await session.settled()
    }
    await session.send('go')
    await session.settled()
    expect(await session.status()).toEqual({ kind: 'idle' })
  })

  it('T7 I13: once an abort has come no further call is judged: what was not asked yet is not started', async () => {
    const one = bench()
    const model = strictModel([{ emit: [{ call: { name: 'slow' } }, { call: { name: 'save' } }] }])
    const judged: string[] = []
    const plugin = pluginOf('policy', {
      decideCall: ({ record }) => {
        judged.push(record.name)
        return record.name === 'slow' ? new Promise(() => {}) : { kind: 'deny', reason: 'no' }
      },
    })
    const tools = [toolOf('slow', () => 'ok'), toolOf('save', () => 'saved', { effect: 'write' })]
    const session = await one.harness().open(agentOf(model, { tools, plugins: [plugin] }))
    const turn = await session.send('go')
    await soon(() => judged.length > 0)
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(judged).toEqual(['slow'])
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'not-started', t1s1c2: 'not-started' })
  })
})
