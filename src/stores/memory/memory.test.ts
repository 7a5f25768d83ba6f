import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { drive, facts, LEASE, SESSION, storeContract, TTL_MS, write } from '../contract.case.ts'
import { memoryStore } from './memory.ts'

storeContract('memory', async () => {
  const clock = new FakeClock()
  const store = memoryStore({ clock })
  return {
    store,
    clock,
    another: async () => store,
    kill: () => clock.advance(TTL_MS),
    close: () => store.close(),
  }
})

describe('the memory store', () => {
  it('W2: a lease ends with its time unless it is renewed', async () => {
    const clock = new FakeClock()
    const store = memoryStore({ clock })
    await store.create(SESSION)
    const lease = await store.acquire(SESSION, LEASE)
    expect(lease).toMatchObject({ kind: 'acquired', fence: 1, expiresAt: clock.now() + TTL_MS })
    await clock.advance(TTL_MS - 1)
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy' })
    expect(await store.renew(SESSION, 1)).toEqual({ kind: 'renewed', expiresAt: clock.now() + TTL_MS })
    await clock.advance(TTL_MS - 1)
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy' })
    await clock.advance(1)
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired', fence: 2 })
    expect(await store.renew(SESSION, 1)).toEqual({ kind: 'lost' })
  })

  it('L3: keeps the very events it was given', async () => {
    const store = memoryStore({ clock: new FakeClock() })
    const { fence } = await drive(store)
    const events = facts(0, fence, ['a', 'b'])
    await store.append(write(fence, 0, [], { events }))
    const read = await store.read(SESSION)
    expect(read.events[1]).toBe(events[1])
  })
})
