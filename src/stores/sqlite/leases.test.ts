import { afterEach, describe, expect, it } from 'vitest'
import { nodeIds } from '../../host/node.ts'
import { sessionId } from '../../kernel/ids.ts'
import type { Ids, Store } from '../../runtime/ports.ts'
import { drive, LEASE, message, SESSION, write } from '../contract.case.ts'
import { sqliteBench } from './bench.case.ts'
import type { SqliteBench } from './bench.case.ts'
import type { Driver } from './driver.ts'
import { Inbox } from './inbox.ts'
import { Leases } from './leases.ts'
import { Log } from './log.ts'
import { Presence } from './presence.ts'
import { openDatabase } from './schema.ts'
import { Snapshots } from './snapshots.ts'
import { sqliteStore } from './store.ts'

const benches: SqliteBench[] = []
const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  for (const bench of benches.splice(0)) await bench.close()
})

const IDLE = { wake: ['control', 'steer', 'followup'] } as const

const bench = async (): Promise<SqliteBench> => {
  const opened = await sqliteBench()
  benches.push(opened)
  return opened
}

/** A store that calls `onHash` whenever it proves something. */
async function observed({ clock, path }: SqliteBench, onHash: () => void): Promise<Store> {
  let isOpen = false
  const ids: Ids = {
    next: () => nodeIds.next(),
    sha256(text) {
      if (isOpen) onHash()
      return nodeIds.sha256(text)
    },
  }
  const store = await sqliteStore({ path, clock, ids, busyTimeoutMs: 50 })
  stores.push(store)
  isOpen = true
  return store
}

describe('reading', () => {
  it('L3: the tail alone is had without reading a commit', async () => {
    const opened = await bench()
    const { fence } = await drive(opened.store)
    await opened.store.append(write(fence, 0, ['a', 'b']))
    let proved = 0
    const store = await observed(opened, () => void proved++)
    expect(await store.read(SESSION, { limit: 0 })).toEqual({ events: [], tail: 2, damage: null })
    expect(await store.read(SESSION, { after: 1, limit: 0 })).toEqual({ events: [], tail: 2, damage: null })
    expect(proved).toBe(0)
    expect((await store.read(SESSION, { limit: 1 })).events).toHaveLength(1)
    expect(proved).toBe(1)
  })
})

describe('taking a lease', () => {
  it('L4: others write while the log is read', async () => {
    const opened = await bench()
    const { fence } = await drive(opened.store)
    await opened.store.append(write(fence, 0, ['a', 'b']))
    await opened.store.release(SESSION, fence, IDLE)
    const other = sessionId('other')
    await opened.store.create(other)
    const puts: Promise<unknown>[] = []
    const store = await observed(opened, () => void puts.push(opened.store.put(other, message('i1'))))
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired', tail: 2, repaired: null })
    expect(await Promise.all(puts)).toEqual([{ kind: 'queued' }])
  })

  it('L1: a log that went on while it was read is read again', async () => {
    const opened = await bench()
    const first = await drive(opened.store)
    await opened.store.append(write(first.fence, 0, ['a', 'b']))
    await opened.store.release(SESSION, first.fence, IDLE)
    const others: Promise<unknown>[] = []
    const store = await observed(opened, () => {
      if (others.length > 0) return
      // A verb of this store is done when its promise is made.
      others.push(
        opened.store.acquire(SESSION, LEASE),
        Promise.resolve(opened.store.append(write(first.fence + 1, 2, ['c']))),
        opened.store.release(SESSION, first.fence + 1, IDLE),
      )
    })
    const lease = await store.acquire(SESSION, LEASE)
    expect(await Promise.all(others)).toMatchObject([
      { kind: 'acquired' },
      { kind: 'appended', tail: 3 },
      { kind: 'released' },
    ])
    expect(lease).toMatchObject({ kind: 'acquired', fence: first.fence + 2, tail: 3, repaired: null })
    expect(await store.append(write(first.fence + 2, 3, ['d']))).toEqual({ kind: 'appended', tail: 4 })
    expect(await store.verify(SESSION)).toBeNull()
  })

  it('W1: who came first while the log was read drives it', async () => {
    const opened = await bench()
    const { fence } = await drive(opened.store)
    await opened.store.append(write(fence, 0, ['a', 'b']))
    await opened.store.release(SESSION, fence, IDLE)
    const taken: Promise<unknown>[] = []
    const store = await observed(opened, () => {
      if (taken.length === 0) taken.push(opened.store.acquire(SESSION, LEASE))
    })
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy', owner: LEASE.owner })
    expect(await Promise.all(taken)).toMatchObject([{ kind: 'acquired', fence: fence + 1 }])
  })

  it('W3: comes to its end where the log never stands still: it is read under the lock then', async () => {
    const opened = await bench()
    const { fence } = await drive(opened.store)
    await opened.store.append(write(fence, 0, ['a']))
    await opened.store.release(SESSION, fence, IDLE)
    let turns = 0
    const store = await observed(opened, () => {
      // From the fourth reading on nobody can write any more, and whoever tried would wait for us.
      if (turns === 3) return
      turns++
      void opened.store.acquire(SESSION, LEASE)
      void opened.store.append(write(fence + turns, turns, ['x']))
      void opened.store.release(SESSION, fence + turns, IDLE)
    })
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired', tail: 4 })
    expect((await opened.store.read(SESSION)).damage).toBeNull()
  })
})

describe('what is due', () => {
  it('W3: looks only at the drivers of the sessions that are asked about', async () => {
    const opened = await bench()
    const probed: string[] = []
    const driver: Driver = {
      name: opened.driver.name,
      open(path) {
        probed.push(path)
        return opened.driver.open(path)
      },
    }
    const ids = ['a', 'b', 'c', 'd"\u0000\ud800'].map(sessionId)
    for (const id of ids) {
      const owner = await opened.another()
      await drive(owner, id)
      if (id !== ids[1]) await opened.kill(owner)
    }
    const db = openDatabase(opened.driver, opened.path, { busyTimeoutMs: 50, ids: nodeIds, now: 1 })
    const inbox = new Inbox(db)
    const log = new Log(db, nodeIds)
    const snapshots = new Snapshots(db, nodeIds)
    const leases = new Leases({ db, presence: new Presence(driver, nodeIds, opened.path), log, inbox, snapshots })
    try {
      expect(leases.due(1, [ids[1]!])).toEqual([])
      expect(probed).toHaveLength(1)
      expect(leases.due(1, [ids[0]!, ids[3]!])).toEqual([ids[0], ids[3]])
      expect(leases.due(1, [])).toEqual([])
      expect(leases.due(1, null)).toEqual([ids[0], ids[2], ids[3]])
    } finally {
      db.close()
    }
  })
})
