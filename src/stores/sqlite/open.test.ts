import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeIds } from '../../host/node.ts'
import { inputId } from '../../kernel/ids.ts'
import type { Ids, Store } from '../../runtime/ports.ts'
import { claim, drive, LEASE, message, QueueReader, SESSION, write } from '../contract.case.ts'
import { presentDrivers, sqliteBench } from './bench.case.ts'
import type { SqliteBench } from './bench.case.ts'
import { loadDriver } from './driver.ts'
import type { Driver } from './driver.ts'
import { Inbox } from './inbox.ts'
import { Log } from './log.ts'
import { Presence } from './presence.ts'
import { openDatabase } from './schema.ts'
import { sqliteStore } from './store.ts'

const benches: SqliteBench[] = []
const stores: Store[] = []
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  for (const bench of benches.splice(0)) await bench.close()
})

const bench = async (): Promise<SqliteBench> => {
  const opened = await sqliteBench()
  benches.push(opened)
  return opened
}

const openAt = async ({ clock }: SqliteBench, path: string, more: { ids?: Ids; busyTimeoutMs?: number } = {}) => {
  const store = await sqliteStore({ path, clock, ids: nodeIds, ...more })
  stores.push(store)
  return store
}

describe('opening a file', () => {
  it('makes the folders on the way', async () => {
    const opened = await bench()
    const path = join(opened.path, '..', 'deep', 'er', 'x.db')
    await openAt(opened, path)
    expect(existsSync(path)).toBe(true)
  })

  it.runIf(existsSync('/proc/self'))('says at once of a folder that can never be made that it cannot', async () => {
    const opened = await bench()
    const path = '/proc/nope/deep/x.db'
    await expect(openAt(opened, path)).rejects.toMatchObject({
      code: 'store-unwritable',
      message: expect.stringContaining('/proc/nope'),
    })
  })

  it('L4: opening a file that has the newest layout writes nothing', async () => {
    const opened = await bench()
    const raw = opened.raw()
    const version = () => raw.prepare('pragma data_version').get([])!['data_version']
    const before = version()
    await opened.another()
    expect(version()).toBe(before)
    expect(raw.prepare('select n from turnstep_migrations').all([])).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  it('L6: goes on with a file of the first layout, and with what is pending in it', async () => {
    const opened = await bench()
    const { store } = opened
    const { fence } = await drive(store)
    for (const id of ['i1', 'i2', 'i3']) await store.put(SESSION, message(id))
    await store.append(write(fence, 0, ['a'], { consume: [claim('i1')] }))
    await store.close()
    const raw = opened.raw()
    raw.exec(`drop trigger inputs_arrive; drop index inputs_changed; drop index inputs_queue; drop index inputs_timed;
      drop table repairs;
      create index inputs_pending on inputs (sid, arrival) where state is null;
      alter table inputs drop column changed; delete from turnstep_migrations where n > 1`)
    const later = await opened.another()
    const reader = new QueueReader()
    expect((await reader.read(later)).map((input) => input.id)).toEqual(['i2', 'i3'])
    await later.put(SESSION, message('i4'))
    await later.move(SESSION, inputId('i4'), inputId('i3'))
    expect((await reader.changes(later)).pending.map((input) => input.id)).toEqual(['i4'])
    expect((await reader.read(later)).map((input) => input.id)).toEqual(['i2', 'i4', 'i3'])
    expect(await later.put(SESSION, message('i1'))).toMatchObject({ kind: 'duplicate', state: { kind: 'entered' } })
    expect(await later.verify(SESSION)).toBeNull()
  })

  it('refuses the layout of a newer version, and one that differs under the same number', async () => {
    const opened = await bench()
    const raw = opened.raw()
    raw.exec("insert into turnstep_migrations (n, checksum, at) values (99, 'x', 1)")
    await expect(opened.another()).rejects.toMatchObject({ code: 'store-newer', data: { migration: 99 } })
    raw.exec("delete from turnstep_migrations where n = 99; update turnstep_migrations set checksum = 'x'")
    await expect(opened.another()).rejects.toMatchObject({ code: 'store-newer', data: { migration: 1 } })
  })

  it('refuses the database of another program and leaves it as it is', async () => {
    const opened = await bench()
    const path = `${opened.path}.other`
    const other = opened.driver.open(path)
    other.exec('create table theirs (a)')
    await expect(openAt(opened, path)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('theirs'),
    })
    expect(other.prepare('select count(*) as n from sqlite_master').get([])).toMatchObject({ n: 1 })
    expect(other.prepare('pragma journal_mode').get([])).toMatchObject({ journal_mode: 'delete' })
    other.close()
  })

  it('says what a file is that is no database', async () => {
    const opened = await bench()
    const path = `${opened.path}.txt`
    writeFileSync(path, 'Dear diary, '.repeat(1000))
    await expect(openAt(opened, path)).rejects.toMatchObject({
      code: 'log-damaged',
      message: expect.stringContaining(path),
    })
  })

  it('names the path that it cannot write to', async () => {
    const opened = await bench()
    const underFile = join(opened.path, 'x.db')
    const folder = `${opened.path}.folder`
    mkdirSync(folder)
    for (const path of [underFile, folder]) {
      await expect(openAt(opened, path)).rejects.toMatchObject({
        code: 'store-unwritable',
        message: expect.stringContaining(path),
      })
    }
  })

  it('refuses a path that is no file', async () => {
    const opened = await bench()
    for (const path of ['', ':memory:']) {
      await expect(openAt(opened, path)).rejects.toMatchObject({ code: 'config-invalid' })
    }
  })

  it('says what to install where there is no driver', async () => {
    const present = await presentDrivers()
    const missing = (['node:sqlite', 'better-sqlite3', 'libsql'] as const).filter((name) => !present.includes(name))
    for (const name of missing) {
      await expect(loadDriver(name)).rejects.toMatchObject({
        code: 'store-driver-missing',
        message: expect.stringContaining('npm install libsql'),
      })
    }
    expect((await loadDriver()).name).toBe(present[0])
  })
})

describe('a database', () => {
  it('sets every pragma that matters, whatever the driver does by default', async () => {
    const opened = await bench()
    for (const name of await presentDrivers()) {
      const path = `${opened.path}.${name.replace(':', '-')}`
      const db = openDatabase(await loadDriver(name), path, { busyTimeoutMs: 1234, ids: nodeIds, now: 1 })
      expect(db.get('pragma synchronous')).toMatchObject({ synchronous: 2 })
      expect(db.get('pragma foreign_keys')).toMatchObject({ foreign_keys: 1 })
      expect(db.get('pragma wal_autocheckpoint')).toMatchObject({ wal_autocheckpoint: 1000 })
      expect(db.get('pragma busy_timeout')).toMatchObject({ timeout: 1234 })
      expect(db.get('pragma journal_mode')).toMatchObject({ journal_mode: 'wal' })
      db.close()
    }
  })

  it('a full disk changes nothing and can be tried again', async () => {
    const opened = await bench()
    const db = openDatabase(opened.driver, `${opened.path}.full`, { busyTimeoutMs: 100, ids: nodeIds, now: 1 })
    db.exec(
      "insert into sessions (session, fence, holder, wake_lanes, created_at, updated_at) values ('s', 1, 'h', 0, 1, 1)",
    )
    const log = new Log(db, nodeIds)
    const inbox = new Inbox(db)
    for (const id of ['i1', 'i2']) inbox.put(1, SESSION, message(id), null)
    log.append(write(1, 0, ['a'], { consume: [claim('i1')] }), 1)
    const state = () => [log.read(SESSION, 0, 99), log.verify(SESSION), inbox.pending(SESSION, null)]
    const before = state()
    const { page_count: pages } = db.get<{ page_count: number }>('pragma page_count')!
    db.exec(`pragma max_page_count = ${pages}`)
    const big = 'x'.repeat(100_000)
    // Once as a transaction, once as the plain append of one statement.
    const claiming = write(1, 1, [big], { consume: [claim('i2')] })
    const plain = write(1, 1, [big])
    for (const append of [claiming, plain]) {
      expect(() => log.append(append, 1)).toThrowError(expect.objectContaining({ code: 'store-full', class: 'retry' }))
      expect(state()).toEqual(before)
    }
    expect(() => inbox.put(1, SESSION, message('i3', 'steer', big), null)).toThrowError(/make room/)
    expect(state()).toEqual(before)
    db.exec('pragma max_page_count = 1000000')
    expect(log.append(claiming, 1)).toEqual({ kind: 'appended', tail: 2 })
    expect(inbox.put(1, SESSION, message('i3'), null)).toEqual({ kind: 'queued' })
    expect(log.verify(SESSION)).toBeNull()
    db.close()
  })

  it('a write that waits too long for another process fails as locked and can be tried again', async () => {
    const opened = await bench()
    const store = await openAt(opened, opened.path, { busyTimeoutMs: 20 })
    const { fence } = await drive(store)
    const raw = opened.raw()
    raw.exec('begin immediate')
    await expect(async () => store.append(write(fence, 0, ['a']))).rejects.toMatchObject({
      code: 'store-locked',
      class: 'retry',
    })
    await expect(store.put(SESSION, message('i1'))).rejects.toMatchObject({ code: 'store-locked' })
    expect((await store.read(SESSION)).tail).toBe(0)
    raw.exec('rollback')
    expect(await store.append(write(fence, 0, ['a']))).toEqual({ kind: 'appended', tail: 1 })
  })

  it('a closed store refuses every verb and may be closed again', async () => {
    const { store } = await bench()
    await drive(store)
    await store.close()
    await store.close()
    await expect(async () => store.read(SESSION)).rejects.toMatchObject({ code: 'store-failed' })
    await expect(async () => store.append(write(1, 0, ['a']))).rejects.toThrowError(/was closed/)
    await expect(store.receipt(SESSION, inputId('i'))).rejects.toThrowError(/was closed/)
  })
})

describe('presence', () => {
  const runners = ({ path }: SqliteBench): string[] =>
    existsSync(`${path}-runners`) ? readdirSync(`${path}-runners`) : []

  it('L4: only a store that drives has a lock file, and takes it away when it closes', async () => {
    const opened = await bench()
    const { store } = opened
    await store.create(SESSION)
    await store.put(SESSION, message('i1'))
    await store.due()
    expect(runners(opened)).toEqual([])
    await drive(store)
    expect(runners(opened)).toHaveLength(1)
    await store.close()
    expect(runners(opened)).toEqual([])
  })

  it('two stores in one process exclude each other like two processes', async () => {
    const opened = await bench()
    const second = await opened.another()
    const { fence } = await drive(opened.store)
    expect(await second.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy' })
    await opened.store.release(SESSION, fence, { wake: [] })
    expect(await second.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired' })
    expect(runners(opened)).toHaveLength(2)
  })

  it('a store that is opened through a link sees who drives', async () => {
    const opened = await bench()
    await drive(opened.store)
    const link = `${opened.path}.link`
    symlinkSync(opened.path, link)
    const second = await openAt(opened, link)
    expect(await second.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy' })
  })

  it('removes the lock files of dead runners, not those of living ones', async () => {
    const opened = await bench()
    await drive(opened.store)
    const [living] = runners(opened)
    writeFileSync(join(`${opened.path}-runners`, 'dead.lock'), '')
    const second = await opened.another()
    await second.create(SESSION)
    expect(await second.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy' })
    expect(runners(opened)).toHaveLength(2)
    expect(runners(opened)).toContain(living)
    expect(runners(opened)).not.toContain('dead.lock')
  })

  it('a lease whose lock file is gone is free: its holder is fenced, not followed', async () => {
    const opened = await bench()
    const second = await opened.another()
    const first = await drive(opened.store)
    rmSync(`${opened.path}-runners`, { recursive: true })
    expect(await second.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired', fence: first.fence + 1 })
    expect(await opened.store.append(write(first.fence, 0, ['late']))).toEqual({ kind: 'fenced' })
  })

  it('never takes the name of another runner, living or dead, however poor the id source', async () => {
    const opened = await bench()
    const names = ['one', 'one', 'one', 'two']
    const ids: Ids = { ...nodeIds, next: () => names.shift() ?? 'one' }
    const first = await openAt(opened, opened.path, { ids })
    await drive(first)
    await first.close()
    const second = await openAt(opened, opened.path, { ids })
    expect(await second.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired', fence: 2 })
    expect(runners(opened)).toEqual(['two.lock'])
    const third = await openAt(opened, opened.path, { ids: { ...ids, next: () => 'two' } })
    await expect(third.acquire(SESSION, LEASE)).rejects.toMatchObject({ code: 'store-failed' })
  })

  it('gives up a lock on a file that was taken away under it, and takes another name', async () => {
    const { driver, path } = await bench()
    const lost: string[] = []
    const racing: Driver = {
      ...driver,
      open(file) {
        const connection = driver.open(file)
        const exec = (sql: string): void => {
          // Another process probed the file before it was locked, and found it dead.
          if (sql === 'begin exclusive' && lost.push(file) === 1) rmSync(file)
          connection.exec(sql)
        }
        return { ...connection, exec }
      },
    }
    const presence = new Presence(racing, nodeIds, path)
    const incarnation = presence.hold(() => false)
    expect(lost).toHaveLength(2)
    expect(readdirSync(`${path}-runners`)).toEqual([`${incarnation}.lock`])
    expect(new Presence(driver, nodeIds, path).isAlive(incarnation)).toBe(true)
    presence.release()
    expect(new Presence(driver, nodeIds, path).isAlive(incarnation)).toBe(false)
  })
})
