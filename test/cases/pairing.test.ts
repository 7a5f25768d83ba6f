/** Cases about calls and their results: every call is answered once, in order, directly after its message. */
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/kernel/events.ts'
import { inputId, sessionId } from '../../src/kernel/ids.ts'
import type { ScriptStep } from '../../src/models/scripted/index.ts'
import type { Store } from '../../src/runtime/ports.ts'
import type { SyncPoint } from '../../src/runtime/sync-points.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { HeldTool, StrictModel } from './bench.ts'
import {
  agentOf,
  heldTool,
  linesOf,
  outcomesOf,
  resultsOf,
  soon,
  strictModel,
  syncAt,
  toolOf,
  useBenches,
} from './bench.ts'

const bench = useBenches()

describe('an abort while a tool is in flight', () => {
  const script: readonly ScriptStep[] = [
    { emit: [{ call: { name: 'slow', id: 'c1' } }] },
    { emit: [{ text: 'second' }] },
    { emit: [{ text: 'third' }] },
  ]

  it.each([
    ['ignores the signal', false, 'unknown', /unknown/i],
    ['obeys the signal', true, 'error', /stopped/],
  ] as const)(
    'case 001: a tool that %s: the call is answered once, directly after its message, also after a reload',
    async (_what, obeys, kind, text) => {
      const { harness, settle } = open()
      const slow = heldTool('slow', { effect: 'write' })
      const model = strictModel(script)
      const spec = agentOf(model, { tools: [slow.tool] })
      const first = harness()
      const session = await first.open(spec, { session: 's' })
      const turn = await session.send('go')
      const { context, fail } = await slow.started()
      if (obeys) context.signal.addEventListener('abort', () => fail(new Error('stopped')), { once: true })
      await session.abort()
      expect(await settle(turn.outcome)).toMatchObject({ kind: 'aborted' })

      expect(await (await session.send('next')).outcome).toMatchObject({ kind: 'completed' })
      const second = model.requests[1]!.messages
      expect(linesOf(second)).toEqual(['user go', 'assistant slow#t1s1c1', `tool t1s1c1 ${kind}`, 'user next'])
      expect(resultsOf(second)['t1s1c1']).toMatch(text)

      await settle(session.close(), 1_000)
      const again = await harness().open(spec, { session: 's' })
      expect(await (await again.send('more')).outcome).toMatchObject({ kind: 'completed' })
      const third = linesOf(model.requests[2]!.messages)
      expect(third.slice(0, 4)).toEqual(linesOf(second))
      expect(third.slice(4)).toEqual(['assistant second', 'user more'])
      expect(linesOf((await again.context({ turn: 2, step: 1 })).messages)).toEqual(linesOf(second))
      expect(model.refusals).toEqual([])
      model.verify()
      if (!obeys) slow.starts[0]!.end('too late')
    },
  )

  function open() {
    const one = bench()
    return { harness: () => one.harness(), settle: one.settle.bind(one) }
  }
})

describe('a history that was cancelled somewhere', () => {
  const POINTS: readonly (readonly [SyncPoint, number])[] = [
    ['before-append', 1],
    ['before-append', 2],
    ['before-append', 3],
    ['before-append', 4],
    ['after-append', 2],
    ['after-append', 3],
    ['after-append', 4],
    ['after-claim', 1],
    ['after-claim', 2],
    ['before-model', 1],
    ['before-model', 2],
    ['before-body', 1],
    ['after-body', 1],
  ]

  it.each(POINTS)(
    'case 002: cancelled at %s number %i, a fresh runtime takes the exported history',
    async (point, nth) => {
      const one = bench()
      const model = strictModel([
        { emit: [{ text: 'look' }, { call: { name: 't', id: 'c1' } }] },
        { emit: [{ text: 'done' }] },
      ])
      let abort = async (): Promise<void> => {}
      let fired = 0
      const sync = syncAt(point, () => (fired++, abort()), nth)
      const spec = agentOf(model, { tools: [toolOf('t', () => 'ok', { effect: 'write' })] })
      const session = await one.harness({ sync }).open(spec, { session: 's' })
      abort = async () => void (await session.abort())
      const turn = await session.send('go')
      const { kind } = await one.settle(turn.outcome)
      expect(['aborted', 'completed']).toContain(kind)
      expect(fired).toBe(1)
      await proveUsable(await session.history())
    },
  )

  it.each([1, 2, 3, 4])(
    'case 002: cancelled after %i chunks of the arguments, a fresh runtime takes the exported history',
    async (chunks) => {
      const one = bench()
      const call = { name: 't', id: 'c1', args: { path: 'a/b/c' } }
      const model = strictModel([{ emit: [{ call }], stream: { argChunk: 5, delayMs: 10 } }], { clock: one.clock })
      const session = await one.harness().open(agentOf(model, { tools: [toolOf('t', () => 'ok')] }), { session: 's' })
      const turn = await session.send('go')
      await one.clock.advance(10 * chunks)
      await session.abort()
      expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'aborted' })
      await proveUsable(await session.history())
    },
  )

  it('case 002: cancelled in the middle of the tool, a fresh runtime takes the exported history', async () => {
    const one = bench()
    const held = heldTool('t')
    const model = strictModel([{ emit: [{ call: { name: 't', id: 'c1' } }] }])
    const session = await one.harness().open(agentOf(model, { tools: [held.tool] }), { session: 's' })
    const turn = await session.send('go')
    const { end } = await held.started()
    await session.abort()
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'aborted' })
    await proveUsable(await session.history())
    end('too late')
  })

  it('I1, case 002: an input that the imported log holds already does not enter again, and costs the session nothing', async () => {
    const one = bench()
    const model = strictModel([{ emit: [{ text: 'done' }] }])
    const session = await one.harness().open(agentOf(model), { session: 's' })
    await (
      await session.send('go', { id: 'go' })
    ).outcome
    const clock = new FakeClock()
    const fresh = bench(await storeOf(await session.history(), clock), clock)
    const again = await fresh.harness().open(agentOf(strictModel([{ emit: [{ text: 'more' }] }])), { session: 's' })
    const turn = await again.send('go', { id: 'go' })
    await expect(turn.outcome).rejects.toMatchObject({ code: 'input-not-entered' })
    expect(await turn.state()).toEqual({ kind: 'rejected', reason: 'duplicate' })
    await again.abort({ id: 'go' })
    expect(await (await again.send('next')).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf((await again.context()).messages)).toEqual([
      'user go',
      'assistant done',
      'user next',
      'assistant more',
    ])
    expect(fresh.errors).toEqual([])
  })

  async function proveUsable(history: readonly Event[]): Promise<void> {
    const clock = new FakeClock()
    const store = await storeOf(history, clock)
    const fresh = bench(store, clock)
    const model = strictModel([{ emit: [{ text: 'hello again' }] }])
    const session = await fresh.harness().open(agentOf(model, { tools: [toolOf('t', () => 'ok')] }), { session: 's' })
    expect(await (await session.send('prompt')).outcome).toMatchObject({ kind: 'completed' })
    expect(model.refusals).toEqual([])
    expect(linesOf(model.requests[0]!.messages).at(-1)).toBe('user prompt')
  }

  /** A store that holds this log and nothing else. */
  async function storeOf(history: readonly Event[], clock: FakeClock): Promise<Store> {
    const store = memoryStore({ clock })
    const session = sessionId('s')
    await store.create(session)
    for (let tail = 0; tail < history.length;) {
      const lease = await store.acquire(session, { owner: 'import', ttlMs: 1_000 })
      if (lease.kind !== 'acquired') throw new Error(lease.kind)
      const { fence } = lease
      const events = history.filter((event) => event.fence === fence)
      await store.append({ session, fence, tail, events, consume: [] })
      await store.release(session, fence, { wake: ['control', 'steer', 'followup'] })
      tail += events.length
    }
    return store
  }
})

describe('calls in parallel', () => {
  it('case 006: one that throws costs its siblings nothing', async () => {
    const one = bench()
    const runs: string[] = []
    const search = toolOf('search', ({ q }) => (runs.push(`search ${q as string}`), `found ${q as string}`))
    const broken = toolOf('broken', () => {
      runs.push('broken')
      throw new Error('no luck')
    })
    const model = strictModel([
      {
        emit: [
          { call: { name: 'search', id: '1', args: { q: 'A' } } },
          { call: { name: 'search', id: '2', args: { q: 'B' } } },
          { call: { name: 'broken', id: '3' } },
        ],
      },
      { emit: [{ text: 'done' }] },
    ])
    const session = await one.harness().open(agentOf(model, { tools: [search, broken] }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[1]!.messages).slice(2)).toEqual([
      'tool t1s1c1 ok',
      'tool t1s1c2 ok',
      'tool t1s1c3 error',
    ])
    expect(resultsOf(model.requests[1]!.messages)).toMatchObject({
      t1s1c1: 'found A',
      t1s1c2: 'found B',
      t1s1c3: 'Error: no luck',
    })
    expect(runs.toSorted()).toEqual(['broken', 'search A', 'search B'])
    expect(model.refusals).toEqual([])
  })

  const ORDERS = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ] as const

  it.each(ORDERS)(
    'case 007: results are projected in request order, whatever the order %i, %i, %i in which they came',
    async (...order) => {
      const one = bench()
      const names = ['slow', 'fast', 'mid']
      const tools: HeldTool[] = names.map((name) => heldTool(name))
      const model = strictModel([
        { emit: names.map((name, n) => ({ call: { name, id: `${n + 1}` } })) },
        { emit: [{ text: 'done' }] },
      ])
      const session = await one.harness().open(agentOf(model, { tools: tools.map((held) => held.tool) }))
      const turn = await session.send('go')
      for (const held of tools) await held.started()
      for (const [came, at] of order.entries()) {
        tools[at]!.starts[0]!.end(`result of ${names[at]}`)
        await soon(async () => Object.keys(await landed(session)).length === came + 1 || came === 2)
      }
      expect(await turn.outcome).toMatchObject({ kind: 'completed' })
      expect(Object.keys(await landed(session))).toEqual(order.map((at) => `t1s1c${at + 1}`))
      expect(linesOf(model.requests[1]!.messages).slice(2)).toEqual([
        'tool t1s1c1 ok',
        'tool t1s1c2 ok',
        'tool t1s1c3 ok',
      ])
      expect(Object.values(resultsOf(model.requests[1]!.messages))).toEqual(names.map((name) => `result of ${name}`))
      expect(model.refusals).toEqual([])
    },
  )

  const landed = outcomesOf

  it('case 008: of two calls of one reply both are answered before anything else, though one ends the other (handoff tools are not there yet)', async () => {
    const one = bench()
    const added: unknown[] = []
    const add = toolOf('add', ({ a, b }) => (added.push([a, b]), String(Number(a) + Number(b))), { effect: 'write' })
    const model: StrictModel = strictModel([
      {
        emit: [
          { call: { name: 'add', id: '1', args: { a: 3, b: 4 } } },
          { call: { name: 'handoff', id: '2', args: { to: 'Bob' } } },
          { call: { name: 'handoff', id: '3', args: { to: 'Carol' } } },
        ],
      },
      { emit: [{ text: 'done' }] },
    ])
    const session = await one.harness().open(agentOf(model, { tools: [add] }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(added).toEqual([[3, 4]])
    expect(linesOf(model.requests[1]!.messages).slice(2)).toEqual([
      'tool t1s1c1 ok',
      'tool t1s1c2 invalid',
      'tool t1s1c3 invalid',
    ])
    expect(resultsOf(model.requests[1]!.messages)['t1s1c1']).toBe('7')
    expect(model.refusals).toEqual([])
  })
})

describe('a steer while a tool runs', () => {
  it('case 013: it stands after the results of the step, also after a reload', async () => {
    const one = bench()
    const slow = heldTool('slow', { effect: 'write' })
    const model = strictModel([
      { emit: [{ call: { name: 'slow', id: '1' } }] },
      { emit: [{ text: 'two' }] },
      { emit: [{ text: 'three' }] },
    ])
    const spec = agentOf(model, { tools: [slow.tool] })
    const session = await one.harness().open(spec, { session: 's' })
    const turn = await session.send('go')
    const { end } = await slow.started()
    await session.steer('rather left')
    await soon(() => true)
    end('ok')
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    const second = linesOf(model.requests[1]!.messages)
    expect(second.slice(0, 3)).toEqual(['user go', 'assistant slow#t1s1c1', 'tool t1s1c1 ok'])
    expect(second[3]).toMatch(/^user \[Correction .*\] rather left$/)
    await session.close()
    const again = await one.harness().open(spec, { session: 's' })
    expect(await (await again.send('more')).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[2]!.messages)).toEqual([...second, 'assistant two', 'user more'])
    expect(model.refusals).toEqual([])
  })

  it('case 013: a stored log with the bad order cannot come about: the fold refuses an input between a call and its result', async () => {
    const one = bench()
    const slow = heldTool('slow')
    const model = strictModel([{ emit: [{ call: { name: 'slow', id: '1' } }] }, { emit: [{ text: 'done' }] }])
    const session = await one.harness().open(agentOf(model, { tools: [slow.tool] }), { session: 's' })
    const turn = await session.send('go')
    const { end } = await slow.started()
    const { emptyState, fold } = await import('../../src/kernel/fold.ts')
    const state = emptyState()
    for (const event of await session.history()) expect(fold(state, event)).toBeNull()
    const at = { seq: state.seq + 1, at: state.at, fence: state.fence, turn: 1, step: 1 }
    const early: Event = {
      ...at,
      type: 'input.entered',
      input: inputId('x'),
      lane: 'steer',
      origin: { kind: 'steer' },
      content: [{ type: 'text', text: 'early' }],
    }
    expect(fold(state, early)).toMatchObject({ rule: 'I4' })
    end('ok')
    await turn.outcome
  })
})
