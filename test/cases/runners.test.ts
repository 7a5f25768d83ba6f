/** Cases about two runners of one session: one writes, the other is told; a late writer changes nothing and loses nothing. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeIds } from '../../src/host/node.ts'
import type { Script } from '../../src/models/scripted/index.ts'
import { react } from '../../src/plugins/react/react.ts'
import type { AgentSpec } from '../../src/runtime/define/agent.ts'
import { Harness } from '../../src/runtime/session/harness.ts'
import type { Model, Store } from '../../src/runtime/ports.ts'
import type { Session } from '../../src/runtime/session.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { overStore } from '../../src/stores/over-store.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { drainMicrotasks, FakeClock } from '../../src/testing/fake-clock.ts'
import { layerOver } from '../../src/testing/sim/store-layer.ts'
import { deferred } from '../../src/util/deferred.ts'
import {
  agentOf,
  eventsOf,
  heldTool,
  linesOf,
  outcomesOf,
  resultsOf,
  soon,
  strictModel,
  unclosed,
  useBenches,
} from './bench.ts'

const bench = useBenches()
const TTL_MS = 15_000

/** A write call, then text. */
const script: Script = (request, { position }) =>
  position === 0 && request.messages.length === 1
    ? { emit: [{ call: { name: 'write' } }] }
    : { emit: [{ text: `text after ${request.messages.length}` }] }

/** A process whose clock stands still while the world's goes on: it was stopped, and does not know. */
interface Frozen {
  readonly session: Session
  readonly harness: Harness
  readonly clock: FakeClock
  readonly errors: Error[]
}

describe('a runner that was stopped, and comes back', () => {
  const frozen: Frozen[] = []
  afterEach(async () => {
    for (const { harness } of frozen.splice(0)) await harness.close()
  })

  async function freeze(store: Store, spec: AgentSpec): Promise<Frozen> {
    const clock = new FakeClock()
    const errors: Error[] = []
    const ports = {
      store: unclosed(store),
      clock,
      ids: { ...nodeIds },
      random: { next: () => 0 },
      loop: react,
      owner: 'stopped',
      resolveModel: () => expect.fail(),
    }
    const harness = new Harness(ports, { onError: (error) => errors.push(error), leaseTtlMs: TTL_MS })
    const one = { session: await harness.open(spec, { session: 's' }), harness, clock, errors }
    frozen.push(one)
    return one
  }

  it.each([
    ['before the new runner goes on', true],
    ['after the new runner ended the turn', false],
  ] as const)(
    'case 056: what its tool did is recorded once, as the outcome or as late news, when it returns %s',
    async (_what, early) => {
      const one = bench()
      const write = heldTool('write', { effect: 'write' })
      const model = strictModel(script)
      const spec = agentOf(model, { tools: [write.tool] })
      const a = await freeze(one.store, spec)
      await a.session.send('go')
      const body = await write.started()
      await one.clock.advance(TTL_MS)
      if (early) await loseToNobody(one.store, a.session, () => body.end('written by A'))
      const b = await one.harness().open(spec, { session: 's' })
      await b.settled()
      if (!early) body.end('written by A')
      if (!early) await soon(async () => (await eventsOf(b, 'call.ended-late')).length === 1)
      await b.settled()

      expect(write.starts).toHaveLength(1)
      expect(await outcomesOf(b)).toEqual({ t1s1c1: early ? 'ok' : 'unknown' })
      expect((await eventsOf(b, 'turn.ended')).map((end) => end.outcome.kind)).toEqual(['completed'])
      const told = resultsOf((await b.context({ turn: 1, step: 2 })).messages)['t1s1c1']
      expect(told).toMatch(early ? /^written by A$/ : /^Outcome unknown/)
      const history = await b.history()
      expect(history.map((event) => event.seq)).toEqual(history.map((_, at) => at + 1))
      await (
        await b.send('next')
      ).outcome
      const lines = linesOf((await b.context()).messages)
      expect(lines.filter((line) => line.startsWith('tool t1s1c1'))).toHaveLength(1)
      expect(lines.filter((line) => line.includes('Late news') && line.includes('written by A'))).toHaveLength(
        early ? 0 : 1,
      )
      expect(model.refusals).toEqual([])
    },
  )

  /** Another runner takes the lease and dies before it has done anything; meanwhile the first one comes back. */
  async function loseToNobody(store: Store, { id }: Session, comeBack: () => void): Promise<void> {
    const lease = await store.acquire(id, { owner: 'short-lived', ttlMs: TTL_MS })
    if (lease.kind !== 'acquired') throw new Error(lease.kind)
    comeBack()
    await soon(async () => (await store.pending(id)).length === 1)
    await store.release(id, lease.fence, { wake: [] })
  }

  it("case 056: its model's reply, which came after the takeover, is nobody's", async () => {
    const one = bench()
    const quick = strictModel([{ emit: [{ text: 'from B' }] }])
    const released = deferred<void>()
    const slow: Model = {
      ...quick,
      async *stream() {
        await released.promise
        const reply = {
          parts: [{ type: 'text', text: 'from A' }],
          calls: [],
          replay: null,
          usage: null,
          rawFinish: 'stop',
        } as const
        yield { type: 'end', kind: 'done', reply }
      },
    }
    const a = await freeze(one.store, agentOf(slow))
    await a.session.send('go')
    await soon(async () => (await eventsOf(a.session, 'model.requested')).length === 1)
    await one.clock.advance(TTL_MS)
    const b = await one.harness().open(agentOf(quick), { session: 's' })
    await b.settled()
    released.resolve()
    await drainMicrotasks()
    expect((await eventsOf(b, 'reply.completed')).map((reply) => reply.parts)).toEqual([
      [{ type: 'text', text: 'from B' }],
    ])
    expect(await eventsOf(b, 'reply.interrupted')).toMatchObject([{ reason: 'crashed' }])
    expect(linesOf((await b.context()).messages)).toEqual(['user go', 'assistant from B'])
  })

  it.each(['read', 'idempotent', 'write'] as const)(
    'C4, case 056: the new runner has no such tool any more: the %s that was started is unknown, and the session goes on',
    async (effect) => {
      const one = bench()
      const gone = heldTool('write', { effect })
      const a = await freeze(one.store, agentOf(strictModel(script), { tools: [gone.tool] }))
      await a.session.send('go')
      const body = await gone.started()
      await one.clock.advance(TTL_MS)
      const model = strictModel(script)
      const b = await one.harness().open(agentOf(model, { tools: [heldTool('other').tool] }), { session: 's' })
      await b.settled()
      expect(await outcomesOf(b)).toEqual({ t1s1c1: 'unknown' })
      expect((await eventsOf(b, 'turn.ended')).map((end) => end.outcome.kind)).toEqual(['completed'])
      expect(gone.starts).toHaveLength(1)
      body.end('too late')
      await soon(async () => (await eventsOf(b, 'call.ended-late')).length === 1)
      expect(model.refusals).toEqual([])
    },
  )

  it('case 056: an append by the one that was taken over changes nothing', async () => {
    const one = bench()
    const write = heldTool('write', { effect: 'write' })
    const spec = agentOf(strictModel(script), { tools: [write.tool] })
    const a = await freeze(one.store, spec)
    await a.session.send('go')
    const body = await write.started()
    await one.clock.advance(TTL_MS)
    const b = await one.harness().open(spec, { session: 's' })
    await b.settled()
    const before = await b.history()
    body.fail(new Error('A failed'))
    await soon(async () => (await eventsOf(b, 'call.ended-late')).length === 1)
    await b.settled()
    expect((await b.history()).slice(0, before.length)).toEqual(before)
    expect(new Set((await b.history()).slice(before.length).map((event) => event.fence > 1))).toEqual(new Set([true]))
  })
})

describe('two processes with one session open', () => {
  const folders: string[] = []
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })

  const kinds: readonly (readonly [string, (clock: FakeClock) => Promise<[Store, Store]>])[] = [
    [
      'memory',
      async (clock) => {
        const store = memoryStore({ clock })
        return [store, store]
      },
    ],
    [
      'sqlite',
      async (clock) => {
        const folder = mkdtempSync(join(tmpdir(), 'turnstep-case-'))
        folders.push(folder)
        const open = (): Promise<Store> => sqliteStore({ path: join(folder, 'a.db'), clock, ids: nodeIds })
        return [await open(), await open()]
      },
    ],
  ]

  it.each(kinds)(
    'case 090: %s: idle beside each other they take turns, no number is given twice, every load succeeds',
    async (_name, make) => {
      const clock = new FakeClock()
      const [first, second] = await make(clock)
      const [one, two] = [bench(first, clock, 'a'), bench(second, clock, 'b')]
      const model = strictModel((request) => ({ emit: [{ text: `text after ${request.messages.length}` }] }))
      const a = await one.harness().open(agentOf(model), { session: 's' })
      await a.settled()
      const b = await two.harness().open(agentOf(model), { session: 's' })
      await b.settled()
      for (let n = 0; n < 3; n++) {
        for (const session of [a, b]) await one.settle((await session.send(`input ${n}`)).outcome)
      }
      const history = await b.history()
      expect(history.map((event) => event.seq)).toEqual(history.map((_, at) => at + 1))
      expect((await eventsOf(a, 'turn.ended')).map((end) => end.outcome.kind)).toEqual(
        Array.from({ length: 6 }, () => 'completed'),
      )
      expect(await first.verify(a.id)).toBeNull()
      expect(linesOf((await a.context()).messages)).toEqual(linesOf((await b.context()).messages))
      expect(model.refusals).toEqual([])
    },
  )

  it.each(kinds)(
    'case 090: %s: the second driver is told busy, by whom and since when; it may still post and steer',
    async (_name, make) => {
      const clock = new FakeClock()
      const [first, second] = await make(clock)
      const [one, two] = [bench(first, clock, 'a'), bench(second, clock, 'b')]
      const write = heldTool('write', { effect: 'write' })
      const model = strictModel(script)
      const spec = agentOf(model, { tools: [write.tool] })
      const a = await one.harness({ owner: 'A' }).open(spec, { session: 's' })
      const turn = await a.send('go')
      const body = await write.started()
      const b = two.harness({ owner: 'B' })
      const since = clock.now()
      await expect(b.open(spec, { session: 's' })).rejects.toMatchObject({
        code: 'session-busy',
        data: { owner: 'A', since },
      })
      const outside = await b.attach('s')
      const steer = await outside.steer('rather left')
      body.end('ok')
      expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
      expect(await steer.state()).toEqual({ kind: 'entered', turn: 1, step: 2 })
      expect(linesOf(model.requests[1]!.messages).at(-1)).toMatch(/rather left$/)
      await a.settled()
      expect((await b.open(spec, { session: 's' })).id).toBe('s')
    },
  )

  it.each(kinds)('case 090: %s: opening alone writes nothing', async (_name, make) => {
    const clock = new FakeClock()
    const [first] = await make(clock)
    const one = bench(first, clock)
    const spec = agentOf(strictModel(script))
    const a = await one.harness().open(spec, { session: 's' })
    await a.settled()
    await a.close()
    const before = await first.read(a.id)
    for (let n = 0; n < 5; n++) {
      const again = await one.harness().open(spec, { session: 's' })
      await again.settled()
      await again.close()
    }
    expect(await first.read(a.id)).toEqual(before)
  })
})

describe('a lease that cannot be renewed', () => {
  /** A connection that is cut at the end of the test. */
  let hanging = deferred<never>()
  afterEach(() => {
    hanging.promise.catch(() => {})
    hanging.reject(new Error('the connection is gone'))
    hanging = deferred()
  })

  /** A store of which nothing is heard any more, once `isDown`. */
  function failing(inner: Store, isDown: () => boolean, answer: () => Promise<never>): Store {
    return layerOver(inner, (_verb, _args, run) => (isDown() ? answer() : run()))
  }

  it.each([
    ['fails', (): Promise<never> => Promise.reject(new Error('the database is down'))],
    ['hangs', (): Promise<never> => hanging.promise],
  ])(
    'case 093: when the store %s, the runner stops itself before its lease can expire, aborts its tools, and writes nothing later',
    async (what, answer) => {
      const clock = new FakeClock()
      const inner = memoryStore({ clock })
      let down = false
      const [one, two] = [
        bench(inner, clock, 'b'),
        bench(
          failing(inner, () => down, answer),
          clock,
          'a',
        ),
      ]
      const write = heldTool('write', { effect: 'write', timeoutMs: 600_000 })
      const spec = agentOf(strictModel(script), { tools: [write.tool] })
      const a = await two.harness({ owner: 'A', leaseTtlMs: TTL_MS }).open(spec, { session: 's' })
      await a.send('go')
      const body = await write.started()
      const [start, tail] = [clock.now(), (await a.history()).length]
      let abortedAt = 0
      body.context.signal.addEventListener('abort', () => (abortedAt = clock.now()), { once: true })
      await clock.advance(1)
      down = true
      await clock.advance(TTL_MS - 2)
      expect(abortedAt).toBeGreaterThan(start)
      expect(abortedAt).toBeLessThanOrEqual(start + (TTL_MS * 4) / 5)
      if (what === 'fails') await expect(a.settled()).rejects.toThrow(/lease is gone|database is down/)
      await clock.advance(1)
      expect((await inner.read(a.id)).tail).toBe(tail)

      const b = await one.harness({ owner: 'B' }).open(spec, { session: 's' })
      await b.settled()
      expect(await outcomesOf(b)).toEqual({ t1s1c1: 'unknown' })
      expect(write.starts).toHaveLength(1)
      down = false
      body.end('it worked')
      await soon(async () => (await eventsOf(b, 'call.ended-late')).length === 1)
      const fences = (await b.history()).slice(tail).map((event) => event.fence)
      expect(Math.min(...fences)).toBe(2)
    },
  )

  it('case 093: a store that is back in time costs nothing', async () => {
    let down = true
    const clock = new FakeClock()
    const inner = memoryStore({ clock })
    const two = bench(
      overStore(inner, { renew: (...args) => (down ? Promise.reject(new Error('down')) : inner.renew(...args)) }),
      clock,
    )
    const write = heldTool('write', { effect: 'write' })
    const model = strictModel(script)
    const a = await two.harness({ leaseTtlMs: TTL_MS }).open(agentOf(model, { tools: [write.tool] }), { session: 's' })
    const turn = await a.send('go')
    const body = await write.started()
    await clock.advance(6_000)
    down = false
    await clock.advance(60_000)
    expect(body.context.signal.aborted).toBe(false)
    body.end('ok')
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
  })
})
