/** Cases about a log that was damaged on disk, and a disk that is full: what is left is used, what is lost is said, aloud and once. */
import { afterEach, describe, expect, it } from 'vitest'
import { TurnstepError } from '../../src/kernel/errors.ts'
import type { Event } from '../../src/kernel/events.ts'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import { inputId, sessionId } from '../../src/kernel/ids.ts'
import type { Script } from '../../src/models/scripted/index.ts'
import type { Append, Store } from '../../src/runtime/ports.ts'
import type { Session, SessionHandle } from '../../src/runtime/session.ts'
import { Follower } from '../../src/runtime/session/follow.ts'
import { LiveBus } from '../../src/runtime/session/live.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { overStore } from '../../src/stores/over-store.ts'
import type { SqliteBench } from '../../src/stores/sqlite/bench.case.ts'
import { sqliteBench } from '../../src/stores/sqlite/bench.case.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { AbortScope } from '../../src/util/signal.ts'
import { agentOf, eventsOf, linesOf, outcomesOf, strictModel, toolOf, unclosed, useBenches } from './bench.ts'

const bench = useBenches()
const answers: Script = (request) => ({ emit: [{ text: `answer after ${request.messages.length}` }] })

describe('a log that was damaged', () => {
  const files: SqliteBench[] = []
  afterEach(async () => {
    for (const file of files.splice(0)) await file.close()
  })

  /** A session of three turns in a file, damaged by `sql` while nobody drives it. `commit` is the last turn's first one. */
  async function damaged(sql: (commit: number) => string) {
    const file = await sqliteBench()
    files.push(file)
    const one = bench(unclosed(file.store), file.clock)
    const model = strictModel(answers)
    const spec = agentOf(model)
    const first = await one.harness().open(spec, { session: 's' })
    for (const input of ['one', 'two', 'three']) await (await first.send(input)).outcome
    await first.settled()
    await first.close()
    const before = await first.history()
    const raw = file.raw()
    const opening = before.findLast((event) => event.type === 'turn.started')!.seq
    const row = raw.prepare(`select max(first_seq) as at from commits where first_seq <= ${opening}`).get([])!
    const commit = Number(row['at'])
    raw.exec(sql(commit))
    return { file, one, model, spec, before, commit, raw }
  }

  const DAMAGES: readonly (readonly [string, (commit: number) => string])[] = [
    [
      'case 055: a run of NUL over a record in the middle',
      (at) => `update commits set body = cast(zeroblob(length(body)) as text) where first_seq = ${at}`,
    ],
    ['case 055: a record in the middle is gone', (at) => `delete from commits where first_seq = ${at}`],
    [
      'case 054: the last records are torn',
      (at) =>
        `delete from commits where first_seq > ${at}; update commits set body = substr(body, 1, 40) where first_seq = ${at}`,
    ],
    [
      'case 054: the last records are cut in the middle of a character',
      (at) =>
        `delete from commits where first_seq > ${at}; update commits set body = cast(substr(cast(replace(body, 'three', '😀') as blob), 1, 3) as text) where first_seq = ${at}`,
    ],
  ]

  it.each(DAMAGES)(
    '%s: what came before is there, the loss is a visible fact, once, for people and for the model, and the lost input comes again',
    async (_what, sql) => {
      const { file, one, model, spec, before, commit } = await damaged(sql)
      expect(await file.store.verify(sessionId('s'))).toMatchObject({ from: commit })
      const asked = model.requests.length
      const session = await one.harness().open(spec, { session: 's' })
      await session.settled()
      const history = await session.history()
      expect(history.slice(0, commit - 1)).toEqual(before.slice(0, commit - 1))
      const [fact, ...more] = await eventsOf(session, 'log.damaged')
      expect(more).toEqual([])
      expect(fact).toMatchObject({ seq: commit, from: commit })
      expect(fact!.quarantined).toBeGreaterThan(0)

      const lines = linesOf(model.requests.at(-1)!.messages)
      expect(model.requests).toHaveLength(asked + 1)
      expect(lines.slice(0, 4)).toEqual([
        'user one',
        'assistant answer after 1',
        'user two',
        'assistant answer after 3',
      ])
      expect(lines.slice(4)).toEqual([expect.stringContaining(`events from ${commit} on were lost`), 'user three'])
      await proveOneView(session)
      expect(await (await session.send('X')).outcome).toMatchObject({ kind: 'completed' })
      expect(await file.store.verify(session.id)).toBeNull()
      await session.close()

      const again = await one.harness().open(spec, { session: 's' })
      await again.settled()
      expect(await eventsOf(again, 'log.damaged')).toHaveLength(1)
      expect(linesOf((await again.context()).messages).slice(-2)).toEqual([
        'user X',
        expect.stringMatching(/^assistant/),
      ])
      await proveOneView(again)
      expect(model.refusals).toEqual([])
    },
  )

  it.each(DAMAGES)(
    'L5: %s: whoever only reads is told from where on and why, and never shown a part as if it were all',
    async (_what, sql) => {
      const { one, spec, before, commit } = await damaged(sql)
      const damage = { code: 'log-damaged', data: { session: 's', from: commit, reason: expect.stringMatching(/./) } }
      const readers = [
        await one.harness().attach('s'),
        await one.harness().open(spec, { session: 's', readonly: true }),
      ]
      for (const reader of readers) {
        for (const read of [reader.history(), reader.status(), reader.usage(), reader.context()]) {
          const error = await read.then(
            () => null,
            (thrown: unknown) => thrown as TurnstepError,
          )
          expect(error).toMatchObject(damage)
          const { reason } = error!.data as { readonly reason: string }
          expect(error!.message).toContain(`from event ${commit} on: ${reason}`)
        }
        expect(await reader.history({ limit: commit - 1 })).toEqual(before.slice(0, commit - 1))
        await expect(reader.history({ limit: commit })).rejects.toMatchObject(damage)
        const seen: unknown[] = []
        const watching = async (): Promise<void> => {
          for await (const one of reader.watch({ after: 0 })) seen.push(one)
        }
        await expect(watching()).rejects.toMatchObject(damage)
        expect(seen).toEqual(before.slice(0, commit - 1).map((event) => ({ kind: 'event', event })))
      }
      const session = await one.harness().open(spec, { session: 's' })
      await session.settled()
      for (const reader of [...readers, session]) {
        expect((await reader.history()).slice(0, commit - 1)).toEqual(before.slice(0, commit - 1))
        expect(await reader.status()).toEqual({ kind: 'idle' })
      }
    },
  )

  /** What a watcher is shown of the log, as it comes. */
  function watching(session: SessionHandle, after?: number) {
    const seen: Event[] = []
    const ended = (async (): Promise<void> => {
      const options = after === undefined ? {} : { after }
      for await (const one of session.watch(options)) if (one.kind === 'event') seen.push(one.event)
    })()
    ended.catch(() => {})
    return { seen, ended }
  }

  it.each(DAMAGES.slice(0, 2))(
    'L5: %s: whoever watches from the end of it sees that it was mended by another process, and all that follows',
    async (_what, sql) => {
      const { file, one, spec, commit } = await damaged(sql)
      const reader = await one.harness().attach('s')
      const { seen } = watching(reader)
      await one.clock.advance(1_000)
      expect(seen).toEqual([])
      const other = bench(unclosed(await file.another()), file.clock, 'other')
      const session = await other.harness().open(spec, { session: 's' })
      expect(await other.settle((await session.send('four')).outcome)).toMatchObject({ kind: 'completed' })
      await other.settle(session.settled())
      const history = await session.history()
      await one.run(() => seen.at(-1)?.seq === history.length)
      expect(seen[0]).toMatchObject({ type: 'log.damaged', seq: commit })
      expect(seen).toEqual(history.slice(commit - 1))
    },
  )

  it('L5: whoever watched the part that was lost sees where the log goes on instead, also once it is longer than it was', async () => {
    const file = await sqliteBench()
    files.push(file)
    const one = bench(unclosed(file.store), file.clock)
    const model = strictModel(answers)
    const spec = agentOf(model)
    const first = await one.harness().open(spec, { session: 's' })
    for (const input of ['one', 'two']) await (await first.send(input)).outcome
    await first.settled()
    await first.close()
    const before = await first.history()
    const held = new Follower({
      ...{ store: file.store, bus: new LiveBus(), session: sessionId('s'), scope: new AbortScope() },
      after: 0,
    })
    expect((await held.next())!.events).toEqual(before)
    const { seen } = watching(await one.harness().attach('s'), 0)
    await one.run(() => seen.length === before.length)
    file.raw().exec(`delete from commits where first_seq = (select max(first_seq) from commits where first_seq < 20)`)

    const session = await one.harness().open(spec, { session: 's' })
    for (const input of ['three', 'four', 'five']) await one.settle((await session.send(input)).outcome)
    await session.settled()
    const history = await session.history()
    const cut = history.findIndex((event) => event.type === 'log.damaged')
    expect(cut).toBeGreaterThan(0)
    expect(history.length).toBeGreaterThan(before.length)
    await one.run(() => seen.at(-1)?.seq === history.length)
    expect(seen).toEqual([...before, ...history.slice(cut)])
    // Nothing was read in between: the end of the log alone does not show that it was cut.
    expect((await held.next())!.events).toEqual(history.slice(cut))
    held.close()
  })

  it('L5: is shown to whoever watches at once, though the log is shorter than it was', async () => {
    const { file, one, before, commit } = await damaged(DAMAGES[0]![1])
    const { seen } = watching(await one.harness().attach('s'))
    await one.clock.advance(1_000)
    const [store, session] = [await file.another(), sessionId('s')]
    const lease = await store.acquire(session, { owner: 'another process', ttlMs: 60_000 })
    if (lease.kind !== 'acquired') throw new Error(lease.kind)
    await one.clock.advance(1_000)
    const { at } = before.at(-1)!
    const fact: Event = {
      ...{ type: 'log.damaged', from: commit, reason: 'r', quarantined: 1, reopened: [], content: [] },
      ...{ seq: commit, at, fence: lease.fence, turn: 0, step: 0 },
    }
    await store.append({ session, fence: lease.fence, tail: commit - 1, events: [fact], consume: [] })
    await one.run(() => seen.length > 0)
    expect(seen).toEqual([fact])
    await store.release(session, lease.fence, { wake: [] })
  })

  it('L5: a turn that was posted to a damaged log from elsewhere is followed to its end', async () => {
    const { file, one, spec } = await damaged(DAMAGES[0]![1])
    const turn = await (await one.harness().attach('s')).steer('wait')
    const { outcome } = turn
    await one.clock.advance(1_000)
    const other = bench(unclosed(await file.another()), file.clock, 'other')
    const session = await other.harness().open(spec, { session: 's' })
    expect(await one.settle(outcome)).toMatchObject({ kind: 'completed' })
    await other.settle(session.settled())
  })

  it('case 054: what was set aside can still be looked at', async () => {
    const { one, spec, commit, raw } = await damaged(
      (at) => `update commits set body = substr(body, 1, 40) where first_seq = ${at}`,
    )
    const session = await one.harness().open(spec, { session: 's' })
    await session.settled()
    const rows = raw.prepare('select first_seq, reason from quarantine order by first_seq').all([])
    expect(rows[0]).toMatchObject({ first_seq: commit })
  })

  /** What people see, folded, is what a model is sent. */
  async function proveOneView(session: Session): Promise<void> {
    const state = emptyState()
    for (const event of await session.history()) expect(fold(state, event)).toBeNull()
    expect(state.context).toEqual((await session.context()).messages)
  }
})

describe('a disk that is full', () => {
  /** Refuses the nth append, and all that follow until there is room again. Nothing is changed by a refusal. */
  function fillingUp(inner: Store, nth: number) {
    const disk = { full: false, refused: 0, appends: 0 }
    const full = (): never => {
      disk.refused++
      throw new TurnstepError('store-full', 'the disk is full')
    }
    const store = overStore(inner, {
      append: async (append: Append) => {
        if (++disk.appends === nth) disk.full = true
        return disk.full ? full() : inner.append(append)
      },
      put: async (...args) => (disk.full ? full() : inner.put(...args)),
      acquire: async (...args) => (disk.full ? full() : inner.acquire(...args)),
      release: async (...args) => (disk.full ? full() : inner.release(...args)),
    })
    return { disk, store }
  }

  it.each(Array.from({ length: 8 }, (_, n) => n + 1))(
    'case 054: from append %i on: nothing acknowledged is lost, no write is run twice, and the turn goes on when there is room',
    async (nth) => {
      const clock = new FakeClock()
      const inner = memoryStore({ clock })
      const { disk, store } = fillingUp(inner, nth)
      const one = bench(store, clock)
      const runs: string[] = []
      const tools = [
        toolOf('read', () => (runs.push('read'), 'R')),
        toolOf('write', () => (runs.push('write'), 'W'), { effect: 'write' }),
      ]
      const model = strictModel((request) => {
        const results = [...request.messages].filter((message) => message.role === 'tool').length
        return results === 0
          ? { emit: [{ call: { name: 'read' } }, { call: { name: 'write' } }] }
          : { emit: [{ text: 'done' }] }
      })
      const session = await one.harness().open(agentOf(model, { tools }), { session: 's' })
      const receipt = nth === 1 ? null : await session.send('go', { id: 'go' })
      await one.run(() => disk.refused > 0 || disk.appends >= 5, 10)
      await clock.advance(60_000)
      disk.full = false
      if (receipt === null) await session.send('go', { id: 'go' })
      await one.run(
        async () => (await session.status()).kind === 'idle' && (await eventsOf(session, 'turn.ended')).length === 1,
        1_000,
      )

      expect(await inner.receipt(session.id, inputId('go'))).toMatchObject({ kind: 'entered', turn: 1 })
      expect(runs.filter((run) => run === 'write').length).toBeLessThanOrEqual(1)
      const outcomes = await outcomesOf(session)
      const unknown = outcomes['t1s1c2'] === 'unknown'
      expect(outcomes).toEqual({ t1s1c1: 'ok', t1s1c2: unknown ? 'unknown' : 'ok' })
      expect(runs.filter((run) => run === 'write')).toHaveLength(1)
      expect((await eventsOf(session, 'turn.ended'))[0]!.outcome.kind).toBe('completed')
      expect((await eventsOf(session, 'input.entered')).filter((event) => event.input === inputId('go'))).toHaveLength(
        1,
      )
      expect(model.refusals).toEqual([])
    },
  )

  it('case 054: whoever posts is told at once, and the same id can be posted again', async () => {
    const clock = new FakeClock()
    const inner = memoryStore({ clock })
    const { disk, store } = fillingUp(inner, 1_000)
    const one = bench(store, clock)
    const model = strictModel(answers)
    const session = await one.harness().open(agentOf(model), { session: 's' })
    await session.settled()
    disk.full = true
    await expect(session.send('go', { id: 'go' })).rejects.toMatchObject({ code: 'store-full' })
    disk.full = false
    expect(await (await session.send('go', { id: 'go' })).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[0]!.messages)).toEqual(['user go'])
  })
})
