import { describe, expect, it } from 'vitest'
import type { Event } from '../../kernel/events.ts'
import { sessionId } from '../../kernel/ids.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { AbortScope } from '../../util/signal.ts'
import type { Store } from '../ports.ts'
import { Follower } from './follow.ts'
import { LiveBus } from './live.ts'

const SESSION = sessionId('s')
const BOUND = 10_000

/** A log, a runner that writes it, a follower from its start, and how often that had to read. */
async function following() {
  const store = memoryStore({ clock: new FakeClock() })
  await store.create(SESSION)
  const bus = new LiveBus()
  const counted = { reads: 0 }
  const reading: Pick<Store, 'read' | 'watch'> = {
    read: (...args) => (counted.reads++, store.read(...args)),
    watch: (...args) => store.watch(...args),
  }
  const follower = new Follower({ store: reading, bus, session: SESSION, after: 0, scope: new AbortScope() })
  let tail = 0
  const runner = async () => {
    const lease = await store.acquire(SESSION, { owner: 'test', ttlMs: 1_000 })
    if (lease.kind !== 'acquired') throw new Error(lease.kind)
    const { fence } = lease
    return {
      /** `handed`: it is one of this process, which says what it has written. */
      async write(events: number, { handed = true } = {}): Promise<void> {
        const added = Array.from({ length: events }, (_, at): Event => fact(tail + 1 + at, fence))
        await store.append({ session: SESSION, fence, tail, events: added, consume: [], unlessPending: [] })
        tail += events
        if (handed) bus.settle(SESSION, added)
      },
      release: () => store.release(SESSION, fence, { wake: [] }),
    }
  }
  const seqs = async (): Promise<number[]> => (await follower.next())!.events.map(({ seq }) => seq)
  const close = async () => (follower.close(), store.close())
  return { runner, counted, seqs, close }
}

const fact = (seq: number, fence: number): Event => ({ type: 'x.test', data: seq, seq, fence, at: 0, turn: 0, step: 0 })

const upTo = (last: number, first = 1): number[] => Array.from({ length: last - first + 1 }, (_, at) => first + at)

describe('what a runner of this process has written', () => {
  it('is handed on without reading it back', async () => {
    const { runner, counted, seqs, close } = await following()
    const { write } = await runner()
    await write(2)
    expect(await seqs()).toEqual([1, 2])
    const before = counted.reads
    await write(1)
    await write(2)
    expect(await seqs()).toEqual([3, 4, 5])
    await write(1)
    expect(await seqs()).toEqual([6])
    expect(counted.reads).toBe(before)
    await close()
  })

  it('is read where something else was written in between, or under another lease', async () => {
    const { runner, seqs, close } = await following()
    const first = await runner()
    await first.write(1)
    expect(await seqs()).toEqual([1])
    await first.write(1, { handed: false })
    await first.write(1)
    expect(await seqs()).toEqual([2, 3])
    await first.release()
    const second = await runner()
    await second.write(2)
    expect(await seqs()).toEqual([4, 5])
    await close()
  })

  it('L5: does not hide that the log was mended before it', async () => {
    const bus = new LiveBus()
    let log = [fact(1, 1), fact(2, 1), fact(3, 1)]
    let changed: () => void = () => {}
    const store: Pick<Store, 'read' | 'watch'> = {
      read: (_, { after = 0, limit = Infinity } = {}) => ({
        events: log.slice(after, after + limit),
        tail: log.length,
        damage: null,
      }),
      watch: (_, onChange) => ((changed = () => onChange('log')), () => {}),
    }
    const follower = new Follower({ store, bus, session: SESSION, after: 0, scope: new AbortScope() })
    expect((await follower.next())!.events).toEqual(log)
    const mended = [fact(2, 2), fact(3, 2), fact(4, 2)]
    for (const event of mended) {
      log = [...log.slice(0, event.seq - 1), event]
      changed()
      bus.settle(SESSION, [event])
    }
    expect((await follower.next())!.events).toEqual(mended)
    follower.close()
  })

  it('reaches a reader who comes back late whole, in order, and once', async () => {
    const { runner, seqs, close } = await following()
    const { write } = await runner()
    await write(1)
    expect(await seqs()).toEqual([1])
    for (let n = 0; n < 300; n++) await write(7)
    const late = await seqs()
    expect([...late, ...(await seqs())]).toEqual(upTo(2_101, 2))
    await close()
  })
})

describe('a slow reader', () => {
  it('keeps a bounded number of deltas, the newest of them', async () => {
    const store = memoryStore({ clock: new FakeClock() })
    await store.create(SESSION)
    const bus = new LiveBus()
    const scope = new AbortScope()
    const follower = new Follower({ store, bus, session: SESSION, after: 0, scope })
    const sent = 3 * BOUND + 7
    for (let n = 1; n <= sent; n++)
      bus.publish(SESSION, { type: 'reasoning', turn: 1, step: 1, attempt: 1, text: String(n) })
    const { live } = (await follower.next())!
    expect(live.length).toBeLessThanOrEqual(BOUND)
    const numbers = live.map((delta) => ('text' in delta ? Number(delta.text) : 0))
    expect(numbers).toEqual(Array.from(live, (_, at) => sent - live.length + 1 + at))
    follower.close()
    expect(bus.size).toBe(0)
    await store.close()
  })
})
