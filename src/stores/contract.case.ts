/** What every store does, told as tests. Run by each store with its own way to open one and to lose a driver. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Event } from '../kernel/events.ts'
import { inputId, sessionId } from '../kernel/ids.ts'
import type { InputId, SessionId } from '../kernel/ids.ts'
import type { Lane, MessageLane, NewInput, PendingInput, ReceiptState } from '../kernel/input.ts'
import type { Part } from '../kernel/message.ts'
import type { Snapshot } from '../kernel/state.ts'
import type { Append, Consumption, QueueChanges, QueueMark, Store } from '../runtime/ports.ts'
import type { FakeClock } from '../testing/fake-clock.ts'

export interface StoreBench {
  readonly store: Store
  readonly clock: FakeClock
  /** A store on the same data, as another process would open it. */
  another(): Promise<Store>
  /** Makes the drivers of this store die without a word. */
  kill(store: Store): Promise<void>
  close(): Promise<void>
}

export const SESSION = sessionId('s')
export const TTL_MS = 10_000
export const LEASE = { owner: 'pid 1 on here', ttlMs: TTL_MS }
const IDLE = { wake: ['control', 'steer', 'followup'] } as const
const ENTERED: ReceiptState = { kind: 'entered', turn: 1, step: 1 }

/** Events that continue `tail`, one per value. */
export function facts(tail: number, fence: number, values: readonly string[]): Event[] {
  return values.map((value, at) => ({
    type: 'loop.noted',
    key: 'k',
    value,
    seq: tail + at + 1,
    at: 1,
    fence,
    turn: 0,
    step: 0,
  }))
}

export function message(id: string, lane: MessageLane = 'followup', text = id): NewInput {
  return { id: inputId(id), lane, origin: { kind: 'user' }, content: [{ type: 'text', text }] }
}

export const control = (id: string): NewInput => ({
  id: inputId(id),
  lane: 'control',
  origin: { kind: 'user' },
  control: { kind: 'abort', reason: 'stop', pending: 'keep' },
})

export const claim = (id: string, version = 1, as: ReceiptState = ENTERED): Consumption => ({
  id: inputId(id),
  version,
  as,
})

/** Takes the lease of a session, made if it is missing. */
export async function drive(store: Store, session: SessionId = SESSION): Promise<{ fence: number; tail: number }> {
  await store.create(session)
  const lease = await store.acquire(session, LEASE)
  if (lease.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(lease)}`)
  return lease
}

export function write(fence: number, tail: number, values: readonly string[], more: Partial<Append> = {}): Append {
  return { session: SESSION, fence, tail, events: facts(tail, fence, values), consume: [], ...more }
}

const idsOf = async (store: Store, options?: { all: boolean }): Promise<InputId[]> =>
  (await store.pending(SESSION, options)).map((input) => input.id)

async function seqs(store: Store): Promise<number[]> {
  return (await store.read(SESSION)).events.map((event) => event.seq)
}

export function storeContract(name: string, open: () => Promise<StoreBench>): void {
  describe(`the store contract: ${name}`, () => {
    const benches: StoreBench[] = []
    afterEach(async () => {
      const clocks = benches.map((bench) => bench.clock)
      for (const bench of benches.splice(0)) await bench.close()
      for (const clock of clocks) expect(clock.armed).toBe(0)
    })
    const bench = async (): Promise<StoreBench> => {
      const opened = await open()
      benches.push(opened)
      return opened
    }
    appending(bench)
    claiming(bench)
    posting(bench)
    changing(bench)
    following(bench)
    leasing(bench)
    releasing(bench)
    finding(bench)
    keeping(bench)
    exactness(bench)
    watching(bench)
  })
}

type Open = () => Promise<StoreBench>

function appending(bench: Open): void {
  describe('append and read', () => {
    it('L1: appends in order, and reads back what was appended', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      expect(await store.append(write(fence, 0, ['a', 'b']))).toEqual({ kind: 'appended', tail: 2 })
      expect(await store.append(write(fence, 2, ['c']))).toEqual({ kind: 'appended', tail: 3 })
      const events = [...facts(0, fence, ['a', 'b']), ...facts(2, fence, ['c'])]
      expect(await store.read(SESSION)).toEqual({ events, tail: 3, damage: null })
      expect(await store.verify(SESSION)).toBeNull()
    })

    it('L1: an append on another tail is a conflict and changes nothing', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.append(write(fence, 0, ['a']))
      expect(await store.append(write(fence, 0, ['x']))).toEqual({ kind: 'conflict', tail: 1 })
      expect(await store.append(write(fence, 5, ['x']))).toEqual({ kind: 'conflict', tail: 1 })
      expect(await seqs(store)).toEqual([1])
    })

    it('L1: refuses events that are not dense, or written under another fence, as a bug', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      const gap = write(fence, 0, [], { events: facts(1, fence, ['a']) })
      await expect(async () => store.append(gap)).rejects.toMatchObject({ code: 'rule-broken' })
      const foreign = write(fence, 0, [], { events: facts(0, fence + 1, ['a']) })
      await expect(async () => store.append(foreign)).rejects.toMatchObject({ code: 'rule-broken' })
      expect(await seqs(store)).toEqual([])
    })

    it('L1, case 090: of two writers on one tail exactly one wins', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      const both = await Promise.all([store.append(write(fence, 0, ['a'])), store.append(write(fence, 0, ['b']))])
      expect(both.map((answer) => answer.kind).toSorted()).toEqual(['appended', 'conflict'])
      expect(await seqs(store)).toEqual([1])
    })

    it('reads pages by `after` and `limit`, inside and across commits', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.append(write(fence, 0, ['a', 'b', 'c']))
      await store.append(write(fence, 3, ['d', 'e']))
      const page = async (after: number, limit: number) => {
        const { events, tail, damage } = await store.read(SESSION, { after, limit })
        expect([tail, damage]).toEqual([5, null])
        return events.map((event) => event.seq)
      }
      expect(await page(0, 2)).toEqual([1, 2])
      expect(await page(1, 3)).toEqual([2, 3, 4])
      expect(await page(3, 10)).toEqual([4, 5])
      expect(await page(4, 1)).toEqual([5])
      expect(await page(5, 9)).toEqual([])
      expect(await page(9, 9)).toEqual([])
    })

    it('L4: reading a session that does not exist makes none', async () => {
      const { store } = await bench()
      const nobody = sessionId('nobody')
      expect(await store.read(nobody)).toEqual({ events: [], tail: 0, damage: null })
      expect(await store.verify(nobody)).toBeNull()
      expect(await store.pending(nobody)).toEqual([])
      expect(await store.pendingSince(nobody, null)).toMatchObject({ whole: true, pending: [], gone: [] })
      expect(await store.receipt(nobody, inputId('i'))).toBeNull()
      expect(await store.readPartial(nobody)).toBeNull()
      expect(await store.readSnapshot(nobody)).toBeNull()
      expect(await store.due([nobody])).toEqual([])
      expect(await store.append({ ...write(1, 0, ['a']), session: nobody })).toEqual({ kind: 'fenced' })
      expect(await store.list()).toEqual([])
    })
  })
}

function claiming(bench: Open): void {
  describe('claiming', () => {
    it('I2: claims inputs in the commit that carries them, and settles their receipts once', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      await store.put(SESSION, message('i2'))
      const append = write(fence, 0, ['a'], { consume: [claim('i1')] })
      expect(await store.append(append)).toEqual({ kind: 'appended', tail: 1 })
      expect(await idsOf(store)).toEqual(['i2'])
      expect(await store.receipt(SESSION, inputId('i1'))).toEqual(ENTERED)
      expect(await store.receipt(SESSION, inputId('i2'))).toEqual({ kind: 'queued' })
      // I6: settled exactly once.
      const again = write(fence, 1, ['b'], { consume: [claim('i1', 1, { kind: 'rejected', reason: 'late' })] })
      expect(await store.append(again)).toEqual({ kind: 'gone', inputs: ['i1'] })
      const twice = write(fence, 1, ['b'], { consume: [claim('i2'), claim('i2')] })
      await expect(async () => store.append(twice)).rejects.toMatchObject({ code: 'rule-broken' })
      expect(await store.receipt(SESSION, inputId('i1'))).toEqual(ENTERED)
    })

    it('I2: one input that is gone refuses the whole append, events and claims', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      await store.put(SESSION, message('i2'))
      await store.withdraw(SESSION, inputId('i2'))
      const consume = [claim('i1'), claim('i2'), claim('never')]
      expect(await store.append(write(fence, 0, ['a'], { consume }))).toEqual({ kind: 'gone', inputs: ['i2', 'never'] })
      expect(await seqs(store)).toEqual([])
      expect(await idsOf(store)).toEqual(['i1'])
    })

    it('I7: an input that was edited between reading and claiming is gone in the old version', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      await store.edit(SESSION, inputId('i1'), { content: [{ type: 'text', text: 'new' }] })
      expect(await store.append(write(fence, 0, ['a'], { consume: [claim('i1', 1)] }))).toMatchObject({ kind: 'gone' })
      expect(await store.append(write(fence, 0, ['a'], { consume: [claim('i1', 2)] }))).toMatchObject({
        kind: 'appended',
      })
    })

    it('settles inputs without an event', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      const consume = [claim('i1', 1, { kind: 'expired' })]
      expect(await store.append(write(fence, 0, [], { consume }))).toEqual({ kind: 'appended', tail: 0 })
      expect(await store.receipt(SESSION, inputId('i1'))).toEqual({ kind: 'expired' })
      expect(await store.verify(SESSION)).toBeNull()
    })

    it('I5: refuses an append while a named lane has input, after what it consumes itself', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('n1', 'note'))
      await store.put(SESSION, message('s1', 'steer'))
      const unlessPending: Lane[] = ['steer', 'control']
      expect(await store.append(write(fence, 0, ['a'], { unlessPending }))).toEqual({
        kind: 'pending',
        lanes: ['steer'],
      })
      expect(await seqs(store)).toEqual([])
      const consume = [claim('s1')]
      expect(await store.append(write(fence, 0, ['a'], { unlessPending, consume }))).toEqual({
        kind: 'appended',
        tail: 1,
      })
    })

    it('I5: a refusal for pending input gives the claims back', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('s1', 'steer'))
      await store.put(SESSION, message('s2', 'steer'))
      const append = write(fence, 0, ['a'], { unlessPending: ['steer'], consume: [claim('s1')] })
      expect(await store.append(append)).toEqual({ kind: 'pending', lanes: ['steer'] })
      expect(await idsOf(store)).toEqual(['s1', 's2'])
    })

    it('I5: input whose time has not come does not refuse an append', async () => {
      const { store, clock } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('s1', 'steer'), { notBefore: clock.now() + 100 })
      expect(await store.append(write(fence, 0, ['a'], { unlessPending: ['steer'] }))).toMatchObject({
        kind: 'appended',
      })
      await clock.advance(100)
      expect(await store.append(write(fence, 1, ['b'], { unlessPending: ['steer'] }))).toMatchObject({
        kind: 'pending',
      })
    })
  })
}

function posting(bench: Open): void {
  describe('put', () => {
    it('I1: the same id twice is one input, also after it was settled', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      expect(await store.put(SESSION, message('i1', 'followup', 'first'))).toEqual({ kind: 'queued' })
      const twice = { kind: 'duplicate', state: { kind: 'queued' } }
      expect(await store.put(SESSION, message('i1', 'steer', 'second'))).toEqual(twice)
      expect(await store.pending(SESSION)).toMatchObject([{ lane: 'followup', content: [{ text: 'first' }] }])
      await store.append(write(fence, 0, ['a'], { consume: [claim('i1')] }))
      expect(await store.put(SESSION, message('i1'))).toEqual({ kind: 'duplicate', state: ENTERED })
      expect(await idsOf(store)).toEqual([])
    })

    it('X8: refuses a message that could never enter, and keeps nothing of it', async () => {
      const { store } = await bench()
      await store.create(SESSION)
      await store.put(SESSION, message('i1'))
      const unsaid: unknown[] = [[], [{ type: 'text', text: '' }], 'a text', [{ type: 'audio' }]]
      for (const content of unsaid as (readonly Part[])[]) {
        const put = store.put(SESSION, { ...message('i2'), content } as NewInput)
        await expect(put).rejects.toMatchObject({ code: 'content-invalid', data: { input: 'i2' } })
        const edit = store.edit(SESSION, inputId('i1'), { content })
        await expect(edit).rejects.toMatchObject({ code: 'content-invalid', data: { input: 'i1' } })
      }
      expect(await store.receipt(SESSION, inputId('i2'))).toBeNull()
      expect(await store.pending(SESSION)).toMatchObject([{ ...message('i1'), version: 1 }])
    })

    it('the same id in two sessions is two inputs', async () => {
      const { store } = await bench()
      const other = sessionId('other')
      await store.create(SESSION)
      await store.create(other)
      expect(await store.put(SESSION, message('i1'))).toEqual({ kind: 'queued' })
      expect(await store.put(other, message('i1'))).toEqual({ kind: 'queued' })
    })

    it('answers `missing` for a session that was never created', async () => {
      const { store } = await bench()
      expect(await store.put(SESSION, message('i1'))).toEqual({ kind: 'missing' })
      expect(await store.create(SESSION)).toBe('created')
      expect(await store.create(SESSION)).toBe('exists')
    })

    it('lists what is pending in order of arrival, with time, tail, arrival and version', async () => {
      const { store, clock } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      await store.append(write(fence, 0, ['a', 'b']))
      await clock.advance(5)
      await store.put(SESSION, control('c1'))
      const queue = await store.pending(SESSION)
      expect(queue).toEqual([
        { ...message('i1'), at: clock.now() - 5, tail: 0, arrival: 1, version: 1 },
        { ...control('c1'), at: clock.now(), tail: 2, arrival: 2, version: 1 },
      ])
    })

    it('holds an input back until its time has come', async () => {
      const { store, clock } = await bench()
      await store.create(SESSION)
      await store.put(SESSION, message('later'), { notBefore: clock.now() + 50 })
      await store.put(SESSION, message('now'))
      expect(await idsOf(store)).toEqual(['now'])
      expect(await idsOf(store, { all: true })).toEqual(['later', 'now'])
      await clock.advance(50)
      expect(await idsOf(store)).toEqual(['later', 'now'])
    })
  })
}

function changing(bench: Open): void {
  describe('the queue', () => {
    it('I7: edits and converts a pending input, and each change is a version', async () => {
      const { store } = await bench()
      await store.create(SESSION)
      await store.put(SESSION, message('i1', 'followup', 'old'))
      const content = [{ type: 'text', text: 'new' }] as const
      expect(await store.edit(SESSION, inputId('i1'), { content })).toEqual({ kind: 'changed' })
      expect(await store.edit(SESSION, inputId('i1'), { lane: 'steer' })).toEqual({ kind: 'changed' })
      const queue = await store.pending(SESSION)
      expect(queue).toMatchObject([{ id: 'i1', lane: 'steer', content, version: 3, arrival: 1 }])
      const back = await store.edit(SESSION, inputId('i1'), { lane: 'followup' })
      expect(back).toEqual({ kind: 'changed' })
      expect(await store.pending(SESSION)).toMatchObject([{ lane: 'followup', content }])
    })

    it('I7: withdraws, and an input withdrawn cannot be changed any more', async () => {
      const { store } = await bench()
      await store.create(SESSION)
      await store.put(SESSION, message('i1'))
      expect(await store.withdraw(SESSION, inputId('i1'))).toEqual({ kind: 'changed' })
      expect(await idsOf(store)).toEqual([])
      const settled = { kind: 'settled', state: { kind: 'withdrawn' } }
      expect(await store.receipt(SESSION, inputId('i1'))).toEqual({ kind: 'withdrawn' })
      expect(await store.withdraw(SESSION, inputId('i1'))).toEqual(settled)
      expect(await store.edit(SESSION, inputId('i1'), { lane: 'steer' })).toEqual(settled)
      expect(await store.move(SESSION, inputId('i1'), null)).toEqual(settled)
    })

    it('I7: says `missing` for an input, a session or a neighbour that is not there', async () => {
      const { store } = await bench()
      expect(await store.withdraw(SESSION, inputId('i1'))).toEqual({ kind: 'missing' })
      await store.create(SESSION)
      await store.put(SESSION, message('i1'))
      await store.put(SESSION, control('c1'))
      expect(await store.edit(SESSION, inputId('no'), { lane: 'steer' })).toEqual({ kind: 'missing' })
      expect(await store.edit(SESSION, inputId('c1'), { lane: 'steer' })).toEqual({ kind: 'missing' })
      expect(await store.move(SESSION, inputId('i1'), inputId('no'))).toEqual({ kind: 'missing' })
      expect(await idsOf(store)).toEqual(['i1', 'c1'])
    })

    it('I7: moves before another input or to the end, as often as one likes', async () => {
      const { store } = await bench()
      await store.create(SESSION)
      for (const id of ['a', 'b', 'c', 'd']) await store.put(SESSION, message(id))
      await store.move(SESSION, inputId('c'), inputId('a'))
      expect(await idsOf(store)).toEqual(['c', 'a', 'b', 'd'])
      await store.move(SESSION, inputId('c'), null)
      expect(await idsOf(store)).toEqual(['a', 'b', 'd', 'c'])
      await store.move(SESSION, inputId('a'), inputId('a'))
      for (let time = 0; time < 100; time++) {
        await store.move(SESSION, inputId('d'), inputId('b'))
        await store.move(SESSION, inputId('b'), inputId('d'))
      }
      expect(await idsOf(store)).toEqual(['a', 'b', 'd', 'c'])
      await store.put(SESSION, message('e'))
      expect(await idsOf(store)).toEqual(['a', 'b', 'd', 'c', 'e'])
      const arrivals = (await store.pending(SESSION)).map((input) => input.arrival)
      expect(new Set(arrivals).size).toBe(5)
    })
  })
}

/** A reader that keeps up with a queue by what changed in it. */
export class QueueReader {
  readonly #known = new Map<InputId, PendingInput>()
  #mark: QueueMark | null = null

  /** Asks for what changed; answers the queue as it is known then. */
  async read(store: Store, session: SessionId = SESSION): Promise<readonly PendingInput[]> {
    await this.changes(store, session)
    return [...this.#known.values()].toSorted((one, other) => one.arrival - other.arrival)
  }

  async changes(store: Store, session: SessionId = SESSION): Promise<QueueChanges> {
    const changes = await store.pendingSince(session, this.#mark)
    if (changes.whole) this.#known.clear()
    for (const id of changes.gone) this.#known.delete(id)
    for (const input of changes.pending) this.#known.set(input.id, input)
    this.#mark = changes.mark
    return changes
  }
}

function following(bench: Open): void {
  describe('what changed in the queue', () => {
    const posted = async (store: Store, ...ids: readonly string[]): Promise<void> => {
      await store.create(SESSION)
      for (const id of ids) await store.put(SESSION, message(id))
    }
    /** What a reader is told, in short. */
    const told = async (reader: QueueReader, store: Store) => {
      const { whole, pending, gone } = await reader.changes(store)
      return { whole, pending: pending.map((input) => input.id), gone }
    }
    const same = async (reader: QueueReader, store: Store): Promise<void> =>
      expect(await reader.read(store)).toEqual(await store.pending(SESSION))

    it('I7: is the whole queue at first, then what came, was edited, moved or settled, each once', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await posted(store, 'a', 'b', 'c', 'd', 'e')
      const reader = new QueueReader()
      expect(await told(reader, store)).toEqual({ whole: true, pending: ['a', 'b', 'c', 'd', 'e'], gone: [] })
      expect(await told(reader, store)).toEqual({ whole: false, pending: [], gone: [] })
      await store.put(SESSION, message('f'))
      await store.edit(SESSION, inputId('b'), { lane: 'steer' })
      await store.edit(SESSION, inputId('b'), { lane: 'note' })
      await store.move(SESSION, inputId('e'), inputId('a'))
      await store.withdraw(SESSION, inputId('c'))
      await store.append(write(fence, 0, ['x'], { consume: [claim('a')] }))
      const changes = await reader.changes(store)
      expect(changes.pending.map(({ id, lane, version }) => [id, lane, version])).toEqual([
        ['e', 'followup', 1],
        ['b', 'note', 3],
        ['f', 'followup', 1],
      ])
      expect(changes.gone.toSorted()).toEqual(['a', 'c'])
      await same(reader, store)
    })

    it('L3: a move is one change, wherever it goes, until no place is left between two', async () => {
      const { store } = await bench()
      const ids = Array.from({ length: 30 }, (_, at) => `i${at}`)
      await posted(store, ...ids)
      const reader = new QueueReader()
      await reader.changes(store)
      for (const [id, before] of [
        ['i29', 'i0'],
        ['i15', 'i5'],
        ['i3', null],
      ] as const) {
        await store.move(SESSION, inputId(id), before === null ? null : inputId(before))
        expect(await told(reader, store)).toEqual({ whole: false, pending: [id], gone: [] })
      }
      let moved = 0
      for (let time = 0; time < 120; time++) {
        await store.move(SESSION, inputId(time % 2 === 0 ? 'i10' : 'i11'), inputId(time % 2 === 0 ? 'i11' : 'i10'))
        moved += (await reader.changes(store)).pending.length
        await same(reader, store)
      }
      expect(moved).toBeLessThan(120 + 4 * ids.length)
    })

    it('I2: a claim that was refused changes nothing, one that was made is gone', async () => {
      const { store, another } = await bench()
      const { fence } = await drive(store)
      await posted(store, 'a', 'b')
      const reader = new QueueReader()
      await reader.changes(await another())
      await store.append(write(fence, 7, ['x'], { consume: [claim('a')] }))
      await store.append(write(fence, 0, ['x'], { consume: [claim('a'), claim('b', 2)] }))
      expect(await told(reader, store)).toEqual({ whole: false, pending: [], gone: [] })
      await store.append(write(fence, 0, [], { consume: [claim('b', 1, { kind: 'expired' })] }))
      expect(await told(reader, store)).toEqual({ whole: false, pending: [], gone: ['b'] })
      await store.append(write(fence, 0, ['x'], { consume: [claim('a')] }))
      expect(await told(reader, await another())).toEqual({ whole: false, pending: [], gone: ['a'] })
    })

    it('tells of an input with a time of its own when that has come, also if it was changed before', async () => {
      const { store, clock } = await bench()
      await posted(store, 'a')
      const reader = new QueueReader()
      await reader.changes(store)
      await store.put(SESSION, message('later'), { notBefore: clock.now() + 50 })
      await store.put(SESSION, message('never'), { notBefore: clock.now() + 50 })
      expect(await told(reader, store)).toEqual({ whole: false, pending: [], gone: [] })
      await clock.advance(20)
      await store.edit(SESSION, inputId('later'), { lane: 'steer' })
      await store.withdraw(SESSION, inputId('never'))
      await same(reader, store)
      await clock.advance(29)
      await same(reader, store)
      await clock.advance(1)
      const { pending } = await reader.changes(store)
      expect(pending).toMatchObject([{ id: 'later', lane: 'steer', version: 2 }])
      await clock.advance(50)
      expect(await told(reader, store)).toEqual({ whole: false, pending: [], gone: [] })
    })

    it('L4: hears through each store of what was done through another', async () => {
      const { store, another } = await bench()
      await posted(store, 'a')
      const second = await another()
      const readers = [new QueueReader(), new QueueReader()] as const
      await second.put(SESSION, message('b'))
      expect((await readers[0].read(store)).map((input) => input.id)).toEqual(['a', 'b'])
      await same(readers[1], second)
      await store.move(SESSION, inputId('b'), inputId('a'))
      await second.edit(SESSION, inputId('a'), { lane: 'note' })
      await same(readers[0], store)
      await same(readers[1], second)
    })

    it('W4: goes on over a takeover', async () => {
      const { store, another, kill } = await bench()
      const survivor = await another()
      const { fence } = await drive(store)
      await posted(store, 'a', 'b')
      const reader = new QueueReader()
      await reader.changes(survivor)
      await store.append(write(fence, 0, ['x'], { consume: [claim('a')] }))
      await kill(store)
      const heir = await drive(survivor)
      await survivor.append(write(heir.fence, 1, ['y'], { consume: [claim('b')] }))
      await survivor.put(SESSION, message('c'))
      expect(await told(reader, survivor)).toEqual({ whole: false, pending: ['c'], gone: ['a', 'b'] })
    })

    it('is the whole queue again for a session that was removed and made anew', async () => {
      const { store } = await bench()
      const reader = new QueueReader()
      expect(await told(reader, store)).toEqual({ whole: true, pending: [], gone: [] })
      await posted(store, 'a')
      expect(await told(reader, store)).toEqual({ whole: true, pending: ['a'], gone: [] })
      await store.remove(SESSION)
      expect(await told(reader, store)).toEqual({ whole: true, pending: [], gone: [] })
      await posted(store, 'b', 'c', 'd')
      await reader.changes(store)
      await store.remove(SESSION)
      await posted(store, 'e', 'f', 'g', 'h')
      expect(await told(reader, store)).toEqual({ whole: true, pending: ['e', 'f', 'g', 'h'], gone: [] })
    })
  })
}

function leasing(bench: Open): void {
  describe('leases', () => {
    it('L4: the second driver is told who drives, and since when', async () => {
      const { store, clock, another } = await bench()
      const since = clock.now()
      await drive(store)
      await clock.advance(10)
      const busy = { kind: 'busy', owner: LEASE.owner, since }
      expect(await store.acquire(SESSION, { owner: 'pid 2', ttlMs: TTL_MS })).toEqual(busy)
      const second = await another()
      expect(await second.acquire(SESSION, { owner: 'pid 2', ttlMs: TTL_MS })).toEqual(busy)
      expect(await second.acquire(sessionId('nobody'), LEASE)).toEqual({ kind: 'missing' })
    })

    it('L4: anyone may post to a session that another process drives', async () => {
      const { store, another } = await bench()
      await drive(store)
      const second = await another()
      expect(await second.put(SESSION, message('i1'))).toEqual({ kind: 'queued' })
      expect(await idsOf(store)).toEqual(['i1'])
    })

    it('W1, case 056: every lease has a higher fence, and a late writer is refused', async () => {
      const { store, another, kill } = await bench()
      const survivor = await another()
      const old = await drive(store)
      await store.put(SESSION, message('i1'))
      await store.append(write(old.fence, 0, ['a']))
      await kill(store)
      const heir = await drive(survivor)
      expect(heir.fence).toBeGreaterThan(old.fence)
      expect(heir.tail).toBe(1)
      const late = write(old.fence, 1, ['late'], { consume: [claim('i1')] })
      expect(await survivor.append(late)).toEqual({ kind: 'fenced' })
      expect(await survivor.renew(SESSION, old.fence)).toEqual({ kind: 'lost' })
      expect(await survivor.release(SESSION, old.fence, IDLE)).toEqual({ kind: 'lost' })
      await survivor.writePartial(SESSION, old.fence, { turn: 1, step: 1, attempt: 1, text: 'late' })
      await survivor.writeSnapshot(SESSION, old.fence, 1, '{}' as Snapshot)
      expect(await survivor.readPartial(SESSION)).toBeNull()
      expect(await survivor.readSnapshot(SESSION)).toBeNull()
      expect(await seqs(survivor)).toEqual([1])
      expect(await idsOf(survivor)).toEqual(['i1'])
      expect(await survivor.append(write(heir.fence, 1, ['b']))).toEqual({ kind: 'appended', tail: 2 })
    })

    it('W4: what its dead driver owed is due at once, and taken over once', async () => {
      const { store, another, kill } = await bench()
      const survivor = await another()
      await drive(store)
      expect(await survivor.due()).toEqual([])
      await kill(store)
      expect(await survivor.due()).toEqual([SESSION])
      expect(await survivor.list()).toMatchObject([{ lease: null, resting: false }])
      const takers = await Promise.all([survivor.acquire(SESSION, LEASE), survivor.acquire(SESSION, LEASE)])
      expect(takers.map((taker) => taker.kind).toSorted()).toEqual(['acquired', 'busy'])
      expect(await survivor.due()).toEqual([])
    })

    it('W2, case 093: renewing confirms the lease, and says when it is lost', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      expect(await store.renew(SESSION, fence)).toMatchObject({ kind: 'renewed' })
      expect(await store.renew(SESSION, fence + 1)).toEqual({ kind: 'lost' })
      expect(await store.renew(sessionId('nobody'), fence)).toEqual({ kind: 'lost' })
      await store.release(SESSION, fence, IDLE)
      expect(await store.renew(SESSION, fence)).toEqual({ kind: 'lost' })
    })

    it('W1: after a release nothing can be written under its fence', async () => {
      const { store, another } = await bench()
      const { fence } = await drive(store)
      await store.append(write(fence, 0, ['a']))
      expect(await (await another()).release(SESSION, fence, IDLE)).toEqual({ kind: 'released' })
      expect(await store.append(write(fence, 1, ['b']))).toEqual({ kind: 'fenced' })
      expect((await drive(store)).fence).toBe(fence + 1)
      // Nor once the session is driven from here again: the tail and the head are still those that the first one knew.
      expect(await store.append(write(fence, 1, ['b']))).toEqual({ kind: 'fenced' })
    })
  })
}

function releasing(bench: Open): void {
  describe('release and due', () => {
    it('W3: a session that nobody drove yet is due by control, steer and followup, not by note', async () => {
      const { store } = await bench()
      for (const [session, input] of Object.entries({ c: control('i'), s: message('i', 'steer'), f: message('i') })) {
        await store.create(sessionId(session))
        await store.put(sessionId(session), input)
      }
      await store.create(sessionId('n'))
      await store.put(sessionId('n'), message('i', 'note'))
      await store.create(sessionId('empty'))
      expect((await store.due()).toSorted()).toEqual(['c', 'f', 's'])
      expect(await store.due([sessionId('n'), sessionId('s')])).toEqual(['s'])
    })

    it('W3: a release is refused if something in its wake lanes has come, and the lease is kept', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      expect(await store.release(SESSION, fence, IDLE)).toEqual({ kind: 'due' })
      expect(await store.append(write(fence, 0, ['a'], { consume: [claim('i1')] }))).toMatchObject({ kind: 'appended' })
      expect(await store.release(SESSION, fence, IDLE)).toEqual({ kind: 'released' })
      expect(await store.due()).toEqual([])
    })

    it('W3: input in a lane that was not named wakes nobody', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'))
      expect(await store.release(SESSION, fence, { wake: ['control'] })).toEqual({ kind: 'released' })
      expect(await store.due()).toEqual([])
      await store.put(SESSION, control('c1'))
      expect(await store.due()).toEqual([SESSION])
    })

    it('W3: converting an input to a lane that wakes makes the session due', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1', 'note'))
      await store.release(SESSION, fence, IDLE)
      expect(await store.due()).toEqual([])
      await store.edit(SESSION, inputId('i1'), { lane: 'steer' })
      expect(await store.due()).toEqual([SESSION])
    })

    it('W3: a release names a time, and is refused if that has come', async () => {
      const { store, clock } = await bench()
      const { fence } = await drive(store)
      expect(await store.release(SESSION, fence, { wake: [], until: clock.now() })).toEqual({ kind: 'due' })
      const until = clock.now() + 1_000
      expect(await store.release(SESSION, fence, { wake: [], until })).toEqual({ kind: 'released' })
      await clock.advance(999)
      expect(await store.due()).toEqual([])
      await clock.advance(1)
      expect(await store.due()).toEqual([SESSION])
      await drive(store)
      expect(await store.due()).toEqual([])
    })

    it('W3: an input with a time of its own makes the session due when it comes', async () => {
      const { store, clock } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('i1'), { notBefore: clock.now() + 100 })
      expect(await store.release(SESSION, fence, IDLE)).toEqual({ kind: 'released' })
      expect(await store.due()).toEqual([])
      await clock.advance(100)
      expect(await store.due()).toEqual([SESSION])
    })

    it('I9: with `since`, what was kept from before wakes nobody; what comes later, and any control, does', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.put(SESSION, message('kept'))
      await store.append(write(fence, 0, ['turn ended']))
      const held = { ...IDLE, since: 1 }
      expect(await store.release(SESSION, fence, held)).toEqual({ kind: 'released' })
      expect(await store.due()).toEqual([])
      await store.put(SESSION, message('new'))
      expect(await store.due()).toEqual([SESSION])
      const next = await drive(store)
      expect(await store.release(SESSION, next.fence, held)).toEqual({ kind: 'due' })
      await store.withdraw(SESSION, inputId('new'))
      await store.put(SESSION, control('c1'))
      expect(await store.release(SESSION, next.fence, { ...IDLE, since: 99 })).toEqual({ kind: 'due' })
    })
  })
}

function finding(bench: Open): void {
  describe('list and remove', () => {
    it('lists every session with its driver and its queue', async () => {
      const { store, clock } = await bench()
      const createdAt = clock.now()
      const { fence } = await drive(store)
      await store.create(sessionId('z'))
      await clock.advance(10)
      await store.append(write(fence, 0, ['a']))
      await store.put(SESSION, message('i1'))
      const idle = { createdAt, updatedAt: createdAt, tail: 0, pending: 0, lease: null, resting: true }
      expect(await store.list()).toEqual([
        {
          session: SESSION,
          createdAt,
          updatedAt: clock.now(),
          tail: 1,
          pending: 1,
          lease: { owner: LEASE.owner, since: createdAt },
          resting: false,
        },
        { session: 'z', ...idle },
      ])
    })

    it('removes a session with all that belongs to it, but not while it is driven', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.append(write(fence, 0, ['a']))
      await store.put(SESSION, message('i1'))
      await store.writePartial(SESSION, fence, { turn: 1, step: 1, attempt: 1, text: 't' })
      await store.writeSnapshot(SESSION, fence, 1, '{}' as Snapshot)
      expect(await store.remove(SESSION)).toBe('busy')
      await store.release(SESSION, fence, { wake: [] })
      expect(await store.remove(SESSION)).toBe('removed')
      expect(await store.remove(SESSION)).toBe('missing')
      expect(await store.list()).toEqual([])
      await store.create(SESSION)
      expect(await seqs(store)).toEqual([])
      expect(await store.pending(SESSION)).toEqual([])
      expect(await store.readPartial(SESSION)).toBeNull()
      expect(await store.readSnapshot(SESSION)).toBeNull()
      expect(await store.put(SESSION, message('i1'))).toEqual({ kind: 'queued' })
    })

    it('removes a session whose driver died', async () => {
      const { store, another, kill } = await bench()
      const survivor = await another()
      await drive(store)
      await kill(store)
      expect(await survivor.remove(SESSION)).toBe('removed')
    })
  })
}

function keeping(bench: Open): void {
  describe('partials and snapshots', () => {
    it('T8: keeps the newest partial text of the running reply', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      const partial = { turn: 1, step: 2, attempt: 1, text: 'Hel' }
      await store.writePartial(SESSION, fence, partial)
      await store.writePartial(SESSION, fence, { ...partial, text: 'Hello\0' })
      expect(await store.readPartial(SESSION)).toEqual({ ...partial, text: 'Hello\0' })
    })

    it('L3: gives the newest snapshot that is not beyond the log', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.append(write(fence, 0, ['a', 'b', 'c']))
      expect(await store.readSnapshot(SESSION)).toBeNull()
      await store.writeSnapshot(SESSION, fence, 2, '{"seq":2}' as Snapshot)
      await store.writeSnapshot(SESSION, fence, 9, '{"seq":9}' as Snapshot)
      expect(await store.readSnapshot(SESSION)).toEqual({ seq: 2, snapshot: '{"seq":2}' })
      await store.writeSnapshot(SESSION, fence, 3, '{"seq":3}' as Snapshot)
      expect(await store.readSnapshot(SESSION)).toEqual({ seq: 3, snapshot: '{"seq":3}' })
    })
  })
}

/** What no encoding may change. The backslash texts look like escapes and are not. */
const ODD = [
  'W\0s\0l',
  '\\u0000',
  '\\',
  '\ud800',
  'a\udc00b',
  '\u2028\u2029',
  '😀é',
  '\ufffd',
  '"\n\r\t',
  '\u{10ffff}',
  '',
]

function exactness(bench: Open): void {
  describe('exactness', () => {
    it('case 100: events come back to the last code unit', async () => {
      const { store, another } = await bench()
      const { fence } = await drive(store)
      await store.append(write(fence, 0, ODD))
      const { events } = await (await another()).read(SESSION)
      expect(events).toEqual(facts(0, fence, ODD))
      expect(await store.verify(SESSION)).toBeNull()
    })

    it('case 100: inputs, their ids, receipts, owners and session ids too', async () => {
      const { store } = await bench()
      const sessions = ODD.filter((text) => text !== '').map((text) => sessionId(text))
      for (const session of sessions) {
        const { fence } = await drive(store, session)
        for (const id of ODD)
          expect(await store.put(session, message(id, 'note', `${id}.`))).toEqual({ kind: 'queued' })
        const queue = await store.pending(session)
        expect(queue).toMatchObject(ODD.map((id) => message(id, 'note', `${id}.`)))
        const reason = session
        const consume = ODD.map((id) => claim(id, 1, { kind: 'rejected', reason }))
        await store.append({ session, fence, tail: 0, events: [], consume })
        expect(await store.receipt(session, inputId('W\0s\0l'))).toEqual({ kind: 'rejected', reason })
        await store.release(session, fence, { wake: [] })
        expect(await store.acquire(session, { owner: session, ttlMs: TTL_MS })).toMatchObject({ kind: 'acquired' })
      }
      const rows = await store.list()
      expect(rows.map((row) => row.session)).toEqual(sessions)
      expect(rows.map((row) => row.lease?.owner)).toEqual(sessions)
    })

    it('case 100: a text of a megabyte and a commit of a thousand events', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      const long = 'ü\0'.repeat(500_000)
      await store.append(write(fence, 0, [long]))
      const many = Array.from({ length: 1_000 }, (_, at) => `v${at}`)
      await store.append(write(fence, 1, many))
      const { events, damage } = await store.read(SESSION)
      expect(damage).toBeNull()
      expect(events.map((event) => (event as { value?: unknown }).value)).toEqual([long, ...many])
    })
  })
}

function watching(bench: Open): void {
  describe('watch', () => {
    it('tells of every change at once, by the time its verb has resolved', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      const heard: string[] = []
      const off = store.watch(SESSION, (what) => heard.push(what))
      const changes: readonly (() => unknown)[] = [
        () => store.append(write(fence, 0, ['a'])),
        () => store.put(SESSION, message('i1')),
        () => store.edit(SESSION, inputId('i1'), { lane: 'steer' }),
        () => store.move(SESSION, inputId('i1'), null),
        () => store.append(write(fence, 1, ['b'], { consume: [claim('i1', 2)] })),
        () => store.put(SESSION, message('i2', 'note')),
        () => store.withdraw(SESSION, inputId('i2')),
        () => store.release(SESSION, fence, IDLE),
        () => store.remove(SESSION),
      ]
      for (const change of changes) {
        const before = heard.length
        await change()
        expect(heard.length).toBeGreaterThan(before)
      }
      // What an append settles is no news to whoever has the lease, and so made it.
      expect(heard).toEqual(['log', 'inbox', 'inbox', 'inbox', 'log', 'inbox', 'inbox', 'inbox', 'inbox'])
      off()
      await store.create(SESSION)
      expect(heard).toHaveLength(changes.length)
    })

    it('tells only of its own session, and not of what was refused', async () => {
      const { store } = await bench()
      const { fence } = await drive(store)
      await store.create(sessionId('other'))
      let heard = 0
      const off = store.watch(SESSION, () => heard++)
      await store.put(sessionId('other'), message('i1'))
      await store.append(write(fence, 5, ['a']))
      await store.withdraw(SESSION, inputId('no'))
      await store.read(SESSION)
      expect(heard).toBe(0)
      off()
    })

    it('L4: hears of what another process did within 250 ms', async () => {
      const { store, clock, another } = await bench()
      const { fence } = await drive(store)
      const second = await another()
      let heard = 0
      const off = store.watch(SESSION, () => heard++)
      await clock.advance(250)
      expect(heard).toBe(0)
      const changes = [
        () => second.put(SESSION, message('i1')),
        () => second.append(write(fence, 0, ['a'])),
        () => second.withdraw(SESSION, inputId('i1')),
        () => second.release(SESSION, fence, IDLE),
        () => second.remove(SESSION),
      ]
      for (const change of changes) {
        heard = 0
        await change()
        await clock.advance(250)
        expect(heard).toBeGreaterThan(0)
      }
      off()
    })

    it('a watcher may stop itself or others while it is told', async () => {
      const { store } = await bench()
      await store.create(SESSION)
      const heard: string[] = []
      const offs = ['a', 'b'].map((name) =>
        store.watch(SESSION, () => {
          heard.push(name)
          for (const off of offs) off()
        }),
      )
      await store.put(SESSION, message('i1'))
      await store.put(SESSION, message('i2'))
      expect(heard.filter((name) => name === 'a')).toEqual(['a'])
    })
  })
}
