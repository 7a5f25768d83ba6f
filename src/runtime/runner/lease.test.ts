import { afterEach, describe, expect, it } from 'vitest'
import { Mortal } from '../../testing/sim/mortal.ts'
import { sessionId } from '../../kernel/ids.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Lease } from './lease.ts'
import type { Acquired, Store } from '../ports.ts'

const SESSION = sessionId('s')
const TTL_MS = 15_000
const clocks: FakeClock[] = []

afterEach(() => {
  for (const clock of clocks.splice(0)) expect(clock.armed, 'timers left armed').toBe(0)
})

/** A lease on a store that can be cut off, and stopped. */
async function leased() {
  const clock = new FakeClock()
  clocks.push(clock)
  const store = memoryStore({ clock })
  await store.create(SESSION)
  const mortal = new Mortal({ clock, store })
  const lost: Error[] = []
  const acquired = (await store.acquire(SESSION, { owner: 'a', ttlMs: TTL_MS })) as Extract<
    Acquired,
    { kind: 'acquired' }
  >
  const options = {
    session: SESSION,
    fence: acquired.fence,
    store: mortal.store,
    clock: mortal.clock,
    leaseTtlMs: TTL_MS,
  }
  const lease = new Lease({ ...options, lease: acquired, onLost: (error) => lost.push(error) })
  lease.start()
  return { clock, store, mortal, lease, lost }
}

const takeOver = (store: Store): Promise<Acquired> => store.acquire(SESSION, { owner: 'b', ttlMs: TTL_MS })

describe('a lease', () => {
  it('W2: is renewed for as long as it is wanted', async () => {
    const { clock, store, lease, lost } = await leased()
    await clock.advance(20 * TTL_MS)
    expect([lease.holds(), lost]).toEqual([true, []])
    expect(await takeOver(store)).toMatchObject({ kind: 'busy', owner: 'a' })
    lease.stop()
    await clock.advance(TTL_MS)
    expect(await takeOver(store)).toMatchObject({ kind: 'acquired' })
    expect(lost).toEqual([])
  })

  it('W2, case 093: that cannot be renewed counts as lost before another can take it', async () => {
    const { clock, store, mortal, lease, lost } = await leased()
    mortal.cut(true)
    await clock.advance(TTL_MS * 0.8 - 1)
    expect([lease.holds(), lost.length]).toEqual([true, 0])
    await clock.advance(1)
    expect(lost).toMatchObject([
      { code: 'lease-lost', message: expect.stringContaining('could not be renewed in time') },
    ])
    expect(lease.holds()).toBe(false)
    expect(await takeOver(store)).toMatchObject({ kind: 'busy' })
  })

  it('W2: so does one whose renewal never comes back', async () => {
    const { clock, mortal, lost } = await leased()
    const { store } = mortal
    mortal.freeze()
    // The clock of this one goes on: only its line to the store hangs.
    const acquired = {
      kind: 'acquired',
      fence: 1,
      tail: 0,
      life: 1,
      expiresAt: clock.now() + TTL_MS,
      repaired: null,
    } as const
    const lease = new Lease({
      session: SESSION,
      fence: 1,
      store,
      clock,
      leaseTtlMs: TTL_MS,
      lease: acquired,
      onLost: (error) => lost.push(error),
    })
    lease.start()
    await clock.advance(TTL_MS * 0.8)
    expect([lease.holds(), lost.length]).toEqual([false, 1])
    mortal.die()
  })

  it('W2: survives a store that is away for less than its time', async () => {
    const { clock, mortal, lease, lost } = await leased()
    mortal.cut(true)
    await clock.advance(TTL_MS * 0.5)
    mortal.cut(false)
    await clock.advance(10 * TTL_MS)
    expect([lease.holds(), lost]).toEqual([true, []])
    lease.stop()
  })

  it('W1: that another has taken is lost at the next renewal', async () => {
    const { clock, store, mortal, lease, lost } = await leased()
    mortal.freeze()
    await clock.advance(TTL_MS)
    expect(await takeOver(store)).toMatchObject({ kind: 'acquired', fence: 2 })
    mortal.thaw()
    await clock.advance(0)
    expect(lease.holds()).toBe(false)
    expect(lost).toMatchObject([{ code: 'lease-lost' }])
  })

  it('W2: is looked at right before a side effect: a machine that slept through its end knows at once', async () => {
    const { clock, mortal, lease, lost } = await leased()
    mortal.freeze()
    await clock.advance(TTL_MS)
    expect([lease.holds(), lost.length]).toEqual([false, 1])
    mortal.thaw()
    await clock.advance(0)
    expect(lost).toHaveLength(1)
  })

  it('that never ends needs no timer', () => {
    const clock = new FakeClock()
    const acquired = { kind: 'acquired', fence: 1, tail: 0, life: 1, expiresAt: null, repaired: null } as const
    const lease = new Lease({
      session: SESSION,
      fence: 1,
      store: memoryStore({ clock }),
      clock,
      leaseTtlMs: TTL_MS,
      lease: acquired,
      onLost: () => {},
    })
    lease.start()
    expect([clock.armed, lease.holds()]).toEqual([0, true])
  })
})
