import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeIds } from '../../host/node.ts'
import { inputId } from '../../kernel/ids.ts'
import type { Snapshot } from '../../kernel/state.ts'
import type { Store } from '../../runtime/ports.ts'
import { claim, drive, LEASE, message, SESSION, write } from '../contract.case.ts'
import { sqliteBench } from './bench.case.ts'
import type { SqliteBench } from './bench.case.ts'
import type { Connection } from './driver.ts'
import { sqliteStore } from './store.ts'

/** Events 1-2, 3, 4-6, each commit consuming the input of its number; two inputs wait. */
async function logOfThree(store: Store): Promise<number> {
  const { fence } = await drive(store)
  for (const id of ['i1', 'i2', 'i3', 'i4', 'i5']) await store.put(SESSION, message(id))
  await store.append(write(fence, 0, ['a', 'b'], { consume: [claim('i1')] }))
  await store.append(write(fence, 2, ['c '.repeat(40)], { consume: [claim('i2')] }))
  await store.append(write(fence, 3, ['d', 'é\u2028', 'f'], { consume: [claim('i3')] }))
  return fence
}

const readSeqs = async (store: Store, after = 0) => {
  const { events, tail, damage } = await store.read(SESSION, { after })
  return { seqs: events.map((event) => event.seq), tail, from: damage?.from ?? null }
}

/** Damage to a log of three commits, and the last event that survives it. */
const DAMAGES: readonly (readonly [what: string, sql: string, valid: number])[] = [
  ['a flipped byte in the last commit', "update commits set body = replace(body, 'd', 'D') where first_seq = 4", 3],
  ['a flipped byte in the middle', "update commits set body = replace(body, 'c c', 'c C') where first_seq = 3", 2],
  ['a flipped byte in the first commit', "update commits set body = replace(body, 'a', 'A') where first_seq = 1", 0],
  [
    'a run of NUL in the middle',
    'update commits set body = substr(body, 1, 20) || cast(zeroblob(8) as text) || substr(body, 29) where first_seq = 3',
    2,
  ],
  ['a commit of NUL only', 'update commits set body = cast(zeroblob(length(body)) as text) where first_seq = 3', 2],
  ['an empty commit', "update commits set body = '' where first_seq = 4", 3],
  ['a blob in place of the text', 'update commits set body = zeroblob(4) where first_seq = 4', 3],
  ['invalid UTF-8', "update commits set body = cast(x'5b7bff' as text) where first_seq = 4", 3],
  ['a flipped hash', "update commits set hash = replace(hash, substr(hash, 1, 1), 'x') where first_seq = 3", 2],
  ['a lost last commit', 'delete from commits where first_seq = 4', 3],
  ['a lost commit in the middle', 'delete from commits where first_seq = 3', 2],
  ['a lost first commit', 'delete from commits where first_seq = 1', 0],
  ['a lost log', 'delete from commits', 0],
  ['a gap of seqs in a record', 'update commits set first_seq = 5 where first_seq = 4', 3],
  ['a record that claims too little', 'update commits set last_seq = 5 where first_seq = 4', 3],
  ['a record that overlaps', 'update commits set first_seq = 2 where first_seq = 3', 2],
  ['a record out of all order', 'update commits set first_seq = -7 where first_seq = 3', 2],
  ['a tail that lies', 'update sessions set tail = 5', 6],
  ['a head that lies', "update sessions set head = 'x'", 6],
]

describe('a damaged log', () => {
  const benches: SqliteBench[] = []
  afterEach(async () => {
    for (const bench of benches.splice(0)) await bench.close()
  })
  const bench = async (): Promise<SqliteBench> => {
    const opened = await sqliteBench()
    benches.push(opened)
    return opened
  }

  /** A log of three commits that nobody drives, and then `sql` done to it. */
  const damaged = async (sql: string): Promise<{ store: Store; raw: Connection; bench: SqliteBench }> => {
    const opened = await bench()
    const fence = await logOfThree(opened.store)
    await opened.store.release(SESSION, fence, { wake: [] })
    const raw = opened.raw()
    raw.exec(sql)
    return { store: opened.store, raw, bench: opened }
  }

  for (const [what, sql, valid] of DAMAGES) {
    it(`L5, L7, case 055: ${what}: reading shows the valid prefix and the damage, opening mends it`, async () => {
      const { store } = await damaged(sql)
      const prefix = Array.from({ length: valid }, (_, at) => at + 1)
      expect(await readSeqs(store)).toEqual({ seqs: prefix, tail: valid, from: valid + 1 })
      expect(await store.verify(SESSION)).toMatchObject({ from: valid + 1 })

      const lease = await store.acquire(SESSION, LEASE)
      if (lease.kind !== 'acquired') throw new Error(lease.kind)
      expect(lease).toMatchObject({ tail: valid, repaired: { from: valid + 1 } })
      const reopened = [...(valid < 2 ? ['i1'] : []), ...(valid < 3 ? ['i2'] : []), ...(valid < 6 ? ['i3'] : [])]
      expect(lease.repaired?.reopened).toEqual(reopened)
      expect((await store.pending(SESSION)).map((input) => input.id)).toEqual([...reopened, 'i4', 'i5'])
      for (const id of reopened) expect(await store.receipt(SESSION, inputId(id))).toEqual({ kind: 'queued' })

      expect(await store.append(write(lease.fence, valid, ['X']))).toEqual({ kind: 'appended', tail: valid + 1 })
      expect(await readSeqs(store)).toEqual({ seqs: [...prefix, valid + 1], tail: valid + 1, from: null })
      expect(await store.verify(SESSION)).toBeNull()
      await store.release(SESSION, lease.fence, { wake: [] })
      expect(await store.acquire(SESSION, LEASE)).toMatchObject({ repaired: null, tail: valid + 1 })
    })
  }

  it('case 054: a last commit cut at every byte: all before it stands, and what follows is appended cleanly', async () => {
    const { store, raw } = await damaged('select 1')
    const whole = raw.prepare('select length(cast(body as blob)) as n from commits where first_seq = 4').get([])![
      'n'
    ] as number
    raw.exec('create temp table kept as select * from commits')
    for (let bytes = 0; bytes < whole; bytes += 1) {
      raw.exec(`update commits set body = cast(substr(cast(body as blob), 1, ${bytes}) as text) where first_seq = 4`)
      expect(await readSeqs(store)).toEqual({ seqs: [1, 2, 3], tail: 3, from: 4 })
      raw.exec('delete from commits; insert into commits select * from kept')
    }
    raw.exec('update commits set body = substr(body, 1, 30) where first_seq = 4')
    const lease = await store.acquire(SESSION, LEASE)
    expect(lease).toMatchObject({ kind: 'acquired', tail: 3, repaired: { from: 4, quarantined: 1, reopened: ['i3'] } })
    const found = raw.prepare('select first_seq, last_seq, length(body) as n, reason from quarantine').all([])
    expect(found).toMatchObject([
      { first_seq: 4, last_seq: 6, n: 30, reason: expect.stringContaining('events 4 to 6') },
    ])
  })

  it('L5: what was mended is told to each lease until something is appended: who mended it may die before that', async () => {
    const { store, raw } = await damaged("update commits set body = 'x' where first_seq = 4")
    const mended = { from: 4, quarantined: 1, reopened: ['i3'] }
    for (let lease = 0; lease < 3; lease++) {
      const answer = await store.acquire(SESSION, LEASE)
      if (answer.kind !== 'acquired') throw new Error(answer.kind)
      expect(answer).toMatchObject({ tail: 3, repaired: mended })
      await store.release(SESSION, answer.fence, { wake: [] })
    }
    raw.exec("update commits set body = 'x' where first_seq = 3")
    const worse = await store.acquire(SESSION, LEASE)
    if (worse.kind !== 'acquired') throw new Error(worse.kind)
    expect(worse).toMatchObject({ tail: 2, repaired: { from: 3, quarantined: 2, reopened: ['i2', 'i3'] } })
    await store.append(write(worse.fence, 2, ['X']))
    await store.release(SESSION, worse.fence, { wake: [] })
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ tail: 3, repaired: null })
  })

  it('L5: what an input that waits again knows of the log ends where the log ends', async () => {
    const { store } = await damaged('delete from commits where first_seq = 3')
    await store.put(SESSION, message('i6'))
    await store.acquire(SESSION, LEASE)
    const queue = await store.pending(SESSION)
    expect(queue.map((input) => [input.id, input.tail])).toEqual([
      ['i2', 0],
      ['i3', 0],
      ['i4', 0],
      ['i5', 0],
      ['i6', 2],
    ])
  })

  it('L5: a reader that starts behind the damage is not stopped by it, one that starts before it is', async () => {
    const { store } = await damaged("update commits set body = replace(body, 'c c', 'c C') where first_seq = 3")
    expect(await readSeqs(store, 3)).toEqual({ seqs: [4, 5, 6], tail: 6, from: null })
    expect(await readSeqs(store, 2)).toEqual({ seqs: [], tail: 2, from: 3 })
    expect(await readSeqs(store, 1)).toEqual({ seqs: [2], tail: 2, from: 3 })
    const page = await store.read(SESSION, { limit: 2 })
    expect(page).toMatchObject({ tail: 6, damage: null })
  })

  it('L5: opening verifies from the newest snapshot on, `verify` all', async () => {
    const { store, raw } = await bench().then(async (opened) => {
      const fence = await logOfThree(opened.store)
      await opened.store.writeSnapshot(SESSION, fence, 3, '{"seq":3}' as Snapshot)
      await opened.store.release(SESSION, fence, { wake: [] })
      return { store: opened.store, raw: opened.raw() }
    })
    raw.exec("update commits set body = replace(body, 'a', 'A') where first_seq = 1")
    const lease = await store.acquire(SESSION, LEASE)
    expect(lease).toMatchObject({ kind: 'acquired', tail: 6, repaired: null })
    expect(await store.verify(SESSION)).toMatchObject({ from: 1 })
  })

  it('L5: a damaged snapshot is passed over, one beyond the valid log is dropped', async () => {
    const opened = await bench()
    const { store } = opened
    const fence = await logOfThree(store)
    const raw = opened.raw()
    await store.writeSnapshot(SESSION, fence, 2, '{"seq":2}' as Snapshot)
    await store.writeSnapshot(SESSION, fence, 6, '{"seq":6}' as Snapshot)
    raw.exec('update snapshots set body = \'{"seq":7}\' where seq = 6')
    expect(await store.readSnapshot(SESSION)).toBeNull()
    await store.writeSnapshot(SESSION, fence, 6, '{"seq":6}' as Snapshot)
    expect(await store.readSnapshot(SESSION)).toEqual({ seq: 6, snapshot: '{"seq":6}' })
    raw.exec('delete from commits where first_seq = 4')
    expect(await store.readSnapshot(SESSION)).toBeNull()
    await store.release(SESSION, fence, { wake: [] })
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ tail: 3, repaired: { from: 4 } })
    expect(raw.prepare('select seq from snapshots').all([])).toEqual([])
  })

  it('L5: the partial text of a reply that was lost is dropped with it', async () => {
    const opened = await bench()
    const fence = await logOfThree(opened.store)
    await opened.store.writePartial(SESSION, fence, { turn: 1, step: 1, attempt: 1, text: 'lost' })
    await opened.store.release(SESSION, fence, { wake: [] })
    opened.raw().exec('delete from commits where first_seq = 4')
    await opened.store.acquire(SESSION, LEASE)
    expect(await opened.store.readPartial(SESSION)).toBeNull()
  })

  it('L5: a damaged input is named, and can be withdrawn', async () => {
    const { store, raw } = await damaged("update inputs set body = substr(body, 1, 9) where id = 'i4'")
    await expect(store.pending(SESSION)).rejects.toMatchObject({ code: 'log-damaged', data: { input: 'i4' } })
    expect(await store.withdraw(SESSION, inputId('i4'))).toEqual({ kind: 'changed' })
    expect(await store.pending(SESSION)).toMatchObject([{ id: 'i5' }])
    raw.exec("update inputs set state = '{' where id = 'i1'")
    await expect(store.receipt(SESSION, inputId('i1'))).rejects.toThrowError(/receipt of input i1/)
    raw.exec("update sessions set session = cast(x'73ff' as text)")
    expect(await store.list()).toMatchObject([{ session: 's\ufffd' }])
  })

  it('L5: pages of the file overwritten with NUL are damage or an error that says so, never a silent prefix', async () => {
    const opened = await bench()
    const { fence } = await drive(opened.store)
    for (let tail = 0; tail < 60; tail++) await opened.store.append(write(fence, tail, [`${tail} `.repeat(300)]))
    opened.raw().exec('pragma wal_checkpoint(truncate)')
    await opened.store.close()
    const size = readFileSync(opened.path).length
    expect(size % 4096).toBe(0)
    const file = readFileSync(opened.path)
    const isolated = Array.from({ length: size / 4096 - 1 }, (_, page) => page + 1)
    let damagedPages = 0
    for (const page of isolated) {
      overwrite(opened.path, page * 4096, Buffer.alloc(4096))
      damagedPages += Number(await isShown(opened))
      overwrite(opened.path, page * 4096, file.subarray(page * 4096, (page + 1) * 4096))
    }
    expect(damagedPages).toBeGreaterThan(20)
  })

  it('L5: a session in a file with a broken page reads up to there, and opening it says what to do', async () => {
    const opened = await bench()
    const { fence } = await drive(opened.store)
    for (let tail = 0; tail < 60; tail++) await opened.store.append(write(fence, tail, [`${tail} `.repeat(300)]))
    await opened.store.release(SESSION, fence, { wake: [] })
    opened.raw().exec('pragma wal_checkpoint(truncate)')
    await opened.store.close()
    const file = readFileSync(opened.path)
    overwrite(opened.path, Math.floor(file.indexOf('"30 30 ') / 4096) * 4096, Buffer.alloc(4096))
    const store = await opened.another()
    const { events, tail, damage } = await store.read(SESSION)
    expect(events).toHaveLength(tail)
    expect(tail).toBeGreaterThan(25)
    expect(tail).toBeLessThan(30)
    expect(damage).toMatchObject({ from: tail + 1, reason: expect.stringContaining('malformed') })
    await expect(store.acquire(SESSION, LEASE)).rejects.toMatchObject({ code: 'log-damaged' })
    expect((await store.read(SESSION)).tail).toBe(tail)
  })

  it('L4: reading writes nothing: not a byte of the file, and no other connection sees a change', async () => {
    const { store, raw, bench: opened } = await damaged('delete from commits where first_seq = 3')
    const version = raw.prepare('pragma data_version').get([])
    // Another process: closing the file in this one would drop SQLite's own locks on it.
    const sums = (): string => spawnSync('sha256sum', [opened.path, `${opened.path}-wal`], { encoding: 'utf8' }).stdout
    const before = sums()
    expect(before.split('\n')).toHaveLength(3)
    await store.read(SESSION)
    await store.verify(SESSION)
    await store.pending(SESSION)
    await store.due()
    await store.list()
    await store.readSnapshot(SESSION)
    const second = await opened.another()
    await second.read(SESSION)
    expect(sums()).toBe(before)
    expect(raw.prepare('pragma data_version').get([])).toMatchObject({ data_version: version!['data_version'] })
  })
})

function overwrite(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

/** Whether the damage shows: as damage of a read with a valid prefix, or as an error. False: the log is whole. */
async function isShown({ path, clock }: SqliteBench): Promise<boolean> {
  let store: Store | null = null
  try {
    store = await sqliteStore({ path, clock, ids: nodeIds })
    const { events, tail, damage } = await store.read(SESSION)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1))
    expect(events).toHaveLength(tail)
    if (damage !== null) expect(damage.from).toBe(tail + 1)
    else expect(tail).toBe(60)
    return damage !== null
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(log-damaged|config-invalid|store-failed)$/) })
    return true
  } finally {
    await store?.close()
  }
}
