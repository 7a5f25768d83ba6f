import { describe, expect, it } from 'vitest'
import type { Event } from '../../kernel/events.ts'
import { inputId, sessionId } from '../../kernel/ids.ts'
import type { Store } from '../../runtime/ports.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../fake-clock.ts'
import { Disk, troubledStore, type Trouble } from './troubled-store.ts'

const S = sessionId('s')
const CREATED = { type: 'session.created', format: 1, agent: 'a', locale: 'en' } as const
const created = (fence: number): Event => ({ ...CREATED, seq: 1, at: 1, fence, turn: 0, step: 0 })

/** A store on which one thing at a time goes wrong. */
async function troubled() {
  const clock = new FakeClock()
  const disk = new Disk()
  const below = memoryStore({ clock })
  let next: Trouble = null
  let died = 0
  const store = troubledStore(below, {
    clock,
    disk,
    trouble: () => {
      const trouble = next
      next = null
      return trouble
    },
    isNext: () => true,
    die: () => void died++,
  })
  await store.create(S)
  const lease = await store.acquire(S, { owner: 'p', ttlMs: 10_000 })
  if (lease.kind !== 'acquired') throw new Error('not acquired')
  const append = () => store.append({ session: S, fence: lease.fence, tail: 0, events: [created(1)], consume: [] })
  return { clock, disk, below, store, append, will: (trouble: Trouble) => void (next = trouble), died: () => died }
}

const tailOf = async (store: Store): Promise<number> => (await store.read(S, { limit: 0 })).tail

describe('a troubled store', () => {
  it('fails before the verb, and nothing happened; or behind it, and it did', async () => {
    const { below, append, will } = await troubled()
    will('unreachable')
    await expect(append()).rejects.toMatchObject({ code: 'store-failed' })
    expect(await tailOf(below)).toBe(0)
    will('lost-answer')
    await expect(append()).rejects.toMatchObject({ code: 'store-failed' })
    expect(await tailOf(below)).toBe(1)
  })

  it('takes its time before and after the commit', async () => {
    const { clock, below, append, will } = await troubled()
    will([100, 50])
    const appended = append()
    await clock.advance(99)
    expect(await tailOf(below)).toBe(0)
    await clock.advance(1)
    expect(await tailOf(below)).toBe(1)
    let answered = false
    void Promise.resolve(appended).then(() => (answered = true))
    await clock.advance(49)
    expect(answered).toBe(false)
    await clock.advance(1)
    expect(answered).toBe(true)
  })

  it('refuses an append or a renewal without a reason', async () => {
    const { store, below, append, will } = await troubled()
    for (const kind of ['conflict', 'fenced'] as const) {
      will(kind)
      expect(await append()).toMatchObject({ kind })
    }
    will('lease-lost')
    expect(await store.renew(S, 1)).toEqual({ kind: 'lost' })
    expect(await tailOf(below)).toBe(0)
  })

  it('while the disk is full, what would write fails, and what reads does not', async () => {
    const { disk, store, append } = await troubled()
    disk.isFull = true
    await expect(append()).rejects.toMatchObject({ code: 'store-full' })
    expect(await store.pending(S)).toEqual([])
    disk.isFull = false
    expect(await append()).toMatchObject({ kind: 'appended' })
  })

  it('the process dies before the commit, or after it', async () => {
    const { below, append, will, died } = await troubled()
    will('dies-before')
    void append()
    expect([died(), await tailOf(below)]).toEqual([1, 0])
    will('dies-after')
    await append()
    expect([died(), await tailOf(below)]).toEqual([2, 1])
  })

  it('L5: a torn record is seen by readers, and told to whoever takes the lease until one of them wrote on', async () => {
    const { clock, store, will, died } = await troubled()
    will('torn')
    const consume = [{ id: inputId('i'), version: 1, as: { kind: 'withdrawn' } }] as const
    void store.append({ session: S, fence: 1, tail: 0, events: [created(1)], consume })
    expect(died()).toBe(1)
    expect(await store.read(S)).toMatchObject({ tail: 0, damage: { from: 1 } })
    const repaired = { from: 1, reason: 'half a record', quarantined: 1, reopened: ['i'] }
    for (const fence of [2, 3]) {
      await clock.advance(10_000)
      expect(await store.acquire(S, { owner: 'q', ttlMs: 10_000 })).toMatchObject({ fence, repaired })
      expect(await store.read(S)).toMatchObject({ damage: null })
    }
    await store.append({ session: S, fence: 3, tail: 0, events: [created(3)], consume: [] })
    await clock.advance(10_000)
    expect(await store.acquire(S, { owner: 'q', ttlMs: 10_000 })).toMatchObject({ repaired: null })
  })
})
