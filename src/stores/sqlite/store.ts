/**
 * The store in one SQLite file that several processes may share (L4). This file puts the parts together; each part says what it
 * owns. Every verb is one transaction of one thread's synchronous calls, so a verb is done when its promise is made.
 */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { TurnstepError } from '../../kernel/errors.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { NewInput } from '../../kernel/input.ts'
import type { Snapshot } from '../../kernel/state.ts'
import type { Append, Appended, Clock, Ids, PartialReply, QueueMark, SessionRow, Store } from '../../runtime/ports.ts'
import { FIRST_WAKE } from '../rules.ts'
import type { ReleaseOptions } from '../rules.ts'
import { Watchers } from '../watchers.ts'
import type { Database } from './database.ts'
import { loadDriver } from './driver.ts'
import type { DriverName } from './driver.ts'
import { Inbox } from './inbox.ts'
import { Leases } from './leases.ts'
import { Log } from './log.ts'
import { Poll } from './poll.ts'
import { Presence } from './presence.ts'
import { findRow, isFence } from './row.ts'
import { openDatabase } from './schema.ts'
import { Snapshots } from './snapshots.ts'
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
  readonly #log: Log
  readonly #inbox: Inbox
  readonly #leases: Leases
  readonly #snapshots: Snapshots
  readonly #watchers = new Watchers()
  readonly #poll: Poll

  constructor(db: Database, presence: Presence, { clock, ids }: SqliteStoreOptions) {
    this.#db = db
    this.#presence = presence
    this.#clock = clock
    this.#log = new Log(db, ids)
    this.#inbox = new Inbox(db)
    this.#snapshots = new Snapshots(db, ids)
    this.#leases = new Leases({ db, presence, log: this.#log, inbox: this.#inbox, snapshots: this.#snapshots })
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

  append(append: Append): Appended {
    const appended = this.#log.append(append, this.now())
    this.#snapshots.forget(append.session)
    if (appended.kind === 'appended') this.#watchers.notify(append.session, 'log')
    return appended
  }

  read(id: SessionId, { after = 0, limit = Infinity }: { readonly after?: number; readonly limit?: number } = {}) {
    return this.#log.read(id, after, limit)
  }

  async verify(id: SessionId) {
    return this.#log.verify(id)
  }

  async put(id: SessionId, input: NewInput, options: { readonly notBefore?: number } = {}) {
    return this.#told(id, this.#inbox.put(this.now(), id, input, options.notBefore ?? null), 'queued')
  }

  async pending(id: SessionId, options: { readonly all?: boolean } = {}) {
    return this.#inbox.pending(id, options.all === true ? null : this.now())
  }

  async pendingSince(id: SessionId, since: QueueMark | null) {
    return this.#inbox.pendingSince(id, since, this.now())
  }

  async receipt(id: SessionId, input: InputId) {
    return this.#inbox.receipt(id, input)
  }

  async edit(id: SessionId, input: InputId, change: Parameters<Store['edit']>[2]) {
    return this.#told(id, this.#inbox.edit(this.now(), id, input, change), 'changed')
  }

  async withdraw(id: SessionId, input: InputId) {
    return this.#told(id, this.#inbox.withdraw(this.now(), id, input), 'changed')
  }

  async move(id: SessionId, input: InputId, before: InputId | null) {
    return this.#told(id, this.#inbox.move(this.now(), id, input, before), 'changed')
  }

  async acquire(id: SessionId, { owner }: { readonly owner: string }) {
    return this.#told(id, this.#leases.acquire(this.now(), id, owner), 'acquired')
  }

  async renew(id: SessionId, fence: number) {
    const isOurs = isFence(findRow(this.#db, id), fence)
    return isOurs ? ({ kind: 'renewed', expiresAt: null } as const) : ({ kind: 'lost' } as const)
  }

  async release(id: SessionId, fence: number, options: ReleaseOptions) {
    const released = this.#leases.release(this.now(), id, fence, options)
    if (released.kind !== 'due') {
      this.#log.forget(id)
      this.#snapshots.forget(id)
    }
    return this.#told(id, released, 'released')
  }

  async due(among?: readonly SessionId[]): Promise<readonly SessionId[]> {
    return this.#leases.due(this.now(), among ?? null)
  }

  async writePartial(id: SessionId, fence: number, partial: PartialReply): Promise<void> {
    this.#snapshots.writePartial(id, fence, partial)
  }

  async readPartial(id: SessionId) {
    return this.#snapshots.readPartial(id)
  }

  async writeSnapshot(id: SessionId, fence: number, seq: number, snapshot: Snapshot): Promise<void> {
    this.#snapshots.write(id, fence, seq, snapshot)
  }

  async readSnapshot(id: SessionId) {
    return this.#snapshots.read(id)
  }

  async list(): Promise<readonly SessionRow[]> {
    return this.#leases.list()
  }

  async remove(id: SessionId): Promise<'removed' | 'missing' | 'busy'> {
    const removed = this.#leases.remove(id)
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
