import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inputId, sessionId } from '../kernel/ids.ts'
import type { SessionId } from '../kernel/ids.ts'
import type { Lane, NewInput } from '../kernel/input.ts'
import type { Snapshot } from '../kernel/state.ts'
import type { Store } from '../runtime/ports.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { claim, control, facts, message, QueueReader } from './contract.case.ts'
import type { StoreBench } from './contract.case.ts'
import { memoryStore } from './memory/memory.ts'
import { Oracle } from './oracle.case.ts'
import type { Op } from './oracle.case.ts'
import { sqliteBench } from './sqlite/bench.case.ts'

const LANES: readonly Lane[] = ['control', 'steer', 'note', 'followup']
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e\0', '\ud800')
const lane = fc.constantFrom(...LANES)
const lanes = fc.uniqueArray(lane, { maxLength: 3 })
const messageLane = fc.constantFrom('steer', 'note', 'followup')
/** Mostly right. */
const off = fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) })
const inMs = fc.option(fc.integer({ min: 0, max: 30 }))

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('append'),
      events: fc.nat(3),
      tailOff: off,
      fenceOff: off,
      consume: fc.uniqueArray(fc.record({ id, versionOff: off }), { maxLength: 2, selector: (one) => one.id }),
      unlessPending: fc.oneof(fc.constant([]), lanes),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('put'), id, lane, inMs }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('edit'), id, lane: messageLane }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('withdraw'), id }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('move'), id, before: fc.option(id) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('acquire') }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('renew'), fenceOff: off }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('release'), fenceOff: off, wake: lanes, inMs, since: fc.nat(6) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('advance'), ms: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('follow') }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('snapshot'), seq: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant('page'), after: fc.nat(8), limit: fc.integer({ min: 1, max: 5 }) }),
  },
)

const inputOf = (put: Extract<Op, { op: 'put' }>): NewInput =>
  put.lane === 'control' ? control(put.id) : message(put.id, put.lane)

/** Does one operation to the store, in the terms of the oracle before it. */
async function apply(
  store: Store,
  clock: FakeClock,
  session: SessionId,
  oracle: Oracle,
  one: Op,
): Promise<object | null> {
  const { fence, tail } = oracle
  switch (one.op) {
    case 'append': {
      const [written, from] = [fence + one.fenceOff, tail + one.tailOff]
      const events = facts(
        from,
        written,
        Array.from({ length: one.events }, (_, at) => `v${at}`),
      )
      const consume = one.consume.map(({ id, versionOff }) => claim(id, (oracle.find(id)?.version ?? 1) + versionOff))
      return store.append({ session, fence: written, tail: from, events, consume, unlessPending: one.unlessPending })
    }
    case 'put':
      return store.put(session, inputOf(one), one.inMs === null ? {} : { notBefore: store.now() + one.inMs })
    case 'edit':
      return store.edit(session, inputId(one.id), { lane: one.lane })
    case 'withdraw':
      return store.withdraw(session, inputId(one.id))
    case 'move':
      return store.move(session, inputId(one.id), one.before === null ? null : inputId(one.before))
    case 'acquire':
      return store.acquire(session, { owner: 'o', ttlMs: 1e9 })
    case 'renew':
      return store.renew(session, fence + one.fenceOff)
    case 'release': {
      const until = one.inMs === null ? {} : { until: store.now() + one.inMs }
      return store.release(session, fence + one.fenceOff, { wake: one.wake, since: one.since, ...until })
    }
    case 'snapshot': {
      await store.writeSnapshot(session, fence, one.seq, `{"seq":${one.seq}}` as Snapshot)
      return store.readSnapshot(session)
    }
    case 'page': {
      const { events, ...rest } = await store.read(session, { after: one.after, limit: one.limit })
      return { seqs: events.map((event) => event.seq), ...rest }
    }
    case 'advance':
      await clock.advance(one.ms)
      return null
    case 'follow':
      return null
  }
}

async function agrees(store: Store, session: SessionId, oracle: Oracle): Promise<void> {
  const now = store.now()
  expect((await store.due([session])).length === 1).toBe(oracle.isDue(now))
  for (const all of [false, true]) {
    const queue = await store.pending(session, { all })
    const expected = oracle.pending(all ? Infinity : now)
    const seen = queue.map(({ id, lane, version, tail }) => ({ id, lane, version, tail }))
    expect(seen).toEqual(expected.map(({ id, lane, version, tail }) => ({ id, lane, version, tail })))
    const arrivals = queue.map((input) => input.arrival)
    expect(arrivals).toEqual(arrivals.toSorted((one, other) => one - other))
  }
  for (const { id, state } of oracle.inputs) expect(await store.receipt(session, inputId(id))).toEqual(state)
  const { events, tail, damage } = await store.read(session)
  expect([tail, damage, await store.verify(session)]).toEqual([oracle.tail, null, null])
  expect(events.map((event) => event.seq)).toEqual(Array.from({ length: oracle.tail }, (_, at) => at + 1))
}

const BENCHES: Readonly<Record<string, () => Promise<StoreBench>>> = {
  async memory() {
    const clock = new FakeClock()
    const store = memoryStore({ clock })
    return { store, clock, another: async () => store, kill: async () => {}, close: () => store.close() }
  },
  sqlite: () => sqliteBench(),
}

for (const [name, open] of Object.entries(BENCHES)) {
  describe(`random operations: ${name}`, () => {
    let bench: StoreBench
    let other: Store
    beforeAll(async () => {
      bench = await open()
      other = await bench.another()
    })
    afterAll(() => bench.close())

    it('L1, I1, I2, I5, I6, I7, W1, W3: does what a plain model does, through one connection or two', async () => {
      let sessions = 0
      const step = fc.record({ one: op, elsewhere: fc.boolean() })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const session = sessionId(`s${++sessions}`)
          const oracle = new Oracle()
          // One looks after everything that is done, the other now and then, each through its own connection.
          const [close, casual] = [new QueueReader(), new QueueReader()]
          await bench.store.create(session)
          for (const { one, elsewhere } of steps) {
            // Leases are the holder's; everything else may come from anywhere.
            const store = elsewhere && one.op !== 'acquire' ? other : bench.store
            const done = await apply(store, bench.clock, session, oracle, one)
            const expected = oracle.apply(one, store.now() - (one.op === 'advance' ? one.ms : 0))
            if (expected === null) expect(done).toBeNull()
            else expect(done).toMatchObject(expected)
            await agrees(store, session, oracle)
            const queue = await store.pending(session)
            expect(await close.read(bench.store, session)).toEqual(queue)
            if (one.op === 'follow') expect(await casual.read(other, session)).toEqual(queue)
          }
          expect(await casual.read(other, session)).toEqual(await bench.store.pending(session))
        }),
        { numRuns: 60 },
      )
    }, 60_000)
  })
}
