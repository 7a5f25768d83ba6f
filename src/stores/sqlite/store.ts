/**
 * The store in one SQLite file that several processes may share (L4). This file puts the parts together; each part says what it
 * owns. Every verb is one transaction of one thread's synchronous calls, so a verb is done when its promise is made.
 */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { TurnstepError } from '../../kernel/errors.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { Append, Appended, Clock, Ids, SessionRow, Store } from '../../runtime/ports.ts'
import { FIRST_WAKE } from '../rules.ts'
import type { ReleaseOptions } from '../rules.ts'
import { changeOf, Watchers } from '../watchers.ts'
import type { Database } from './database.ts'
import { loadDriver } from './driver.ts'
import type { DriverName } from './driver.ts'
import * as inbox from './inbox.ts'
import * as leases from './leases.ts'
import { Log } from './log.ts'
import { Poll } from './poll.ts'
import { Presence } from './presence.ts'
import { findRow, isFence } from './row.ts'
import { openDatabase } from './schema.ts'
import * as snapshots from './snapshots.ts'
import { laneBits, toSql } from './text.ts'

export interface SqliteStoreOptions {
  /** The database file; made, with its folder, where it is missing. `<path>-runners` beside it shows who is alive. */
  readonly path: string
  readonly clock: Clock
  /** Names this runner, and hashes the log. Its ids must never repeat. */
  readonly ids: Ids
  /** How long a write waits for another process's, before it fails with `store-locked`. Default 5 s. */
  readonly busyTimeoutMs?: number
  /** Instead of the first one that can be loaded. */
  readonly driver?: DriverName
}

/**
 * Opens the file. Throws `store-driver-missing`, `store-unwritable`, `store-newer`, `store-locked`, `config-invalid` for the
 * database of another program, or `log-damaged` for a file that is no database.
 */
export async function sqliteStore(options: SqliteStoreOptions): Promise<Store> {
  if (options.path === '' || options.path === ':memory:') {
    throw new TurnstepError('config-invalid', `"${options.path}" is no file: give a path, or use memoryStore`)
  }
  const driver = await loadDriver(options.driver)
  const path = resolve(options.path)
  const { busyTimeoutMs = 5000, ids, clock } = options
  const db = openDatabase(driver, path, { busyTimeoutMs, ids, now: clock.now() })
  // By its real path: whoever opens the file through a link must look for the living in the same folder.
  return new SqliteStore(db, new Presence(driver, ids, realpathSync(path)), options)
}

class SqliteStore implements Store {
  readonly name = 'sqlite'
  readonly #db: Database
  readonly #presence: Presence
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #log: Log
  readonly #watchers = new Watchers()
  readonly #poll: Poll

  constructor(db: Database, presence: Presence, { clock, ids }: SqliteStoreOptions) {
    this.#db = db
    this.#presence = presence
    this.#clock = clock
    this.#ids = ids
    this.#log = new Log(db, ids)
    this.#poll = new Poll(db, clock, this.#watchers)
  }

  now(): number {
    return this.#clock.now()
  }

  async create(id: SessionId): Promise<'created' | 'exists'> {
    const now = this.now()
    const made = this.#db.run(
      'insert into sessions (session, wake_lanes, stamp, created_at, updated_at) values (?, ?, 1, ?, ?) on conflict do nothing',
      toSql(id),
      laneBits(FIRST_WAKE.lanes),
      now,
      now,
    )
    if (made === 0) return 'exists'
    this.#watchers.notify(id, 'inbox')
    return 'created'
  }

  async append(append: Append): Promise<Appended> {
    const appended = this.#log.append(append, this.now())
    if (appended.kind === 'appended') this.#watchers.notify(append.session, changeOf(append))
    return appended
  }

  async read(
    id: SessionId,
    { after = 0, limit = Infinity }: { readonly after?: number; readonly limit?: number } = {},
  ) {
    return this.#log.read(id, after, limit)
  }

  async verify(id: SessionId) {
    return this.#log.verify(id)
  }

  async put(...[id, input, options = {}]: Parameters<Store['put']>) {
    return this.#told(id, inbox.put(this.#db, this.now(), id, input, options.notBefore ?? null), 'queued')
  }

  async pending(id: SessionId, options: { readonly all?: boolean } = {}) {
    return inbox.pending(this.#db, id, options.all === true ? null : this.now())
  }

  async receipt(...[id, input]: Parameters<Store['receipt']>) {
    return inbox.receipt(this.#db, id, input)
  }

  async edit(...[id, input, change]: Parameters<Store['edit']>) {
    return this.#told(id, inbox.edit(this.#db, this.now(), id, input, change), 'changed')
  }

  async withdraw(...[id, input]: Parameters<Store['withdraw']>) {
    return this.#told(id, inbox.withdraw(this.#db, this.now(), id, input), 'changed')
  }

  async move(...[id, input, before]: Parameters<Store['move']>) {
    return this.#told(id, inbox.move(this.#db, this.now(), id, input, before), 'changed')
  }

  async acquire(...[id, { owner }]: Parameters<Store['acquire']>) {
    return this.#told(
      id,
      leases.acquire(this.#db, this.#ids, this.#log, this.#presence, this.now(), id, owner),
      'acquired',
    )
  }

  async renew(id: SessionId, fence: number) {
    const isOurs = isFence(findRow(this.#db, id), fence)
    return isOurs ? ({ kind: 'renewed', expiresAt: null } as const) : ({ kind: 'lost' } as const)
  }

  async release(id: SessionId, fence: number, options: ReleaseOptions) {
    const released = leases.release(this.#db, this.now(), id, fence, options)
    if (released.kind !== 'due') this.#log.forget(id)
    return this.#told(id, released, 'released')
  }

  async due(among?: readonly SessionId[]): Promise<readonly SessionId[]> {
    const due = leases.due(this.#db, this.#presence, this.now())
    if (among === undefined) return due
    const asked = new Set(among)
    return due.filter((id) => asked.has(id))
  }

  async writePartial(...[id, fence, partial]: Parameters<Store['writePartial']>): Promise<void> {
    snapshots.writePartial(this.#db, id, fence, partial)
  }

  async readPartial(id: SessionId) {
    return snapshots.readPartial(this.#db, id)
  }

  async writeSnapshot(...[id, fence, seq, snapshot]: Parameters<Store['writeSnapshot']>): Promise<void> {
    snapshots.writeSnapshot(this.#db, this.#ids, id, fence, seq, snapshot)
  }

  async readSnapshot(id: SessionId) {
    return snapshots.readSnapshot(this.#db, this.#ids, id)
  }

  async list(): Promise<readonly SessionRow[]> {
    return leases.list(this.#db, this.#presence)
  }

  async remove(id: SessionId): Promise<'removed' | 'missing' | 'busy'> {
    const removed = leases.remove(this.#db, this.#presence, id)
    if (removed === 'removed') this.#watchers.notify(id, 'inbox')
    return removed
  }

  watch(id: SessionId, onChange: Parameters<Store['watch']>[1]): () => void {
    const off = this.#watchers.add(id, onChange)
    this.#poll.start(id)
    return () => {
      off()
      if (!this.#watchers.has(id)) this.#poll.leave(id)
    }
  }

  async close(): Promise<void> {
    this.#poll.stop()
    this.#watchers.clear()
    this.#presence.release()
    this.#db.close()
  }

  /** Tells the watchers here, if the answer is that something changed. */
  #told<Answer extends { readonly kind: string }>(id: SessionId, answer: Answer, kind: Answer['kind']): Answer {
    if (answer.kind === kind) this.#watchers.notify(id, 'inbox')
    return answer
  }
}
