/**
 * Who drives a session. A lease names the incarnation that holds it and lasts as long as that one lives: no time limit, so a
 * stopped process keeps its sessions and a killed one loses them at once. The fence decides (W1); owner and since are for people.
 */
import type { SessionId } from '../../kernel/ids.ts'
import type { Acquired, Released, SessionRow } from '../../runtime/ports.ts'
import { wakeOf } from '../rules.ts'
import type { ReleaseOptions } from '../rules.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import type { Inbox } from './inbox.ts'
import type { Inspection, Log } from './log.ts'
import type { Presence } from './presence.ts'
import { findRow, isFence } from './row.ts'
import type { Row } from './row.ts'
import type { Snapshots } from './snapshots.ts'
import { fromSql, laneBit, laneBits, LANE_ROWS, text, toSql } from './text.ts'

/** The parts of the store that a lease needs. */
interface LeasesParts {
  readonly db: Database
  readonly presence: Presence
  readonly log: Log
  readonly inbox: Inbox
  readonly snapshots: Snapshots
}

/** A session's row, and what its log was found to be at that moment. */
interface Inspected {
  readonly row: Row
  readonly found: Inspection
}

/** Readings of a log outside the write lock. */
const READINGS_MAX = 3

export class Leases {
  readonly #db: Database
  readonly #presence: Presence
  readonly #log: Log
  readonly #inbox: Inbox
  readonly #snapshots: Snapshots

  constructor({ db, presence, log, inbox, snapshots }: LeasesParts) {
    this.#db = db
    this.#presence = presence
    this.#log = log
    this.#inbox = inbox
    this.#snapshots = snapshots
  }

  /**
   * The log is read before the write lock is taken: the longer it is, the longer nobody could write to any session. Only a log that
   * goes on each time while it is read is read under the lock in the end.
   */
  acquire(now: number, session: SessionId, owner: string): Acquired {
    const holder = this.#presence.hold(
      (name) => this.#db.get('select 1 as found from sessions where holder = ? limit 1', name) !== undefined,
    )
    const taking = { holder, owner, now }
    const isTaken = (answer: Acquired | null): boolean => answer?.kind === 'acquired'
    for (let attempt = 0; attempt < READINGS_MAX; attempt++) {
      const inspected = this.#db.view(() => this.#inspect(session))
      if ('kind' in inspected) return inspected
      const acquired = this.#db.write(() => this.#take(session, inspected, taking), isTaken)
      if (acquired !== null) return acquired
    }
    return this.#db.write(() => {
      const inspected = this.#inspect(session)
      return 'kind' in inspected ? inspected : this.#take(session, inspected, taking)
    }, isTaken)!
  }

  #inspect(session: SessionId): Inspected | Exclude<Acquired, { kind: 'acquired' }> {
    const row = findRow(this.#db, session)
    const refusal = this.#refusal(row)
    if (refusal !== null || row === undefined) return refusal ?? { kind: 'missing' }
    return { row, found: this.#log.inspect(row, this.#snapshots.newest(session, row)?.seq ?? 0) }
  }

  /** Null: the log is another one than was inspected. */
  #take(
    session: SessionId,
    { row: seen, found }: Inspected,
    { holder, owner, now }: { readonly holder: string; readonly owner: string; readonly now: number },
  ): Acquired | null {
    const row = findRow(this.#db, session)
    const refusal = this.#refusal(row)
    if (refusal !== null || row === undefined) return refusal ?? { kind: 'missing' }
    if (row.sid !== seen.sid || row.tail !== seen.tail || row.head !== seen.head) return null
    const { tail, repaired } = this.#log.mend(session, row, found, now)
    this.#db.run(
      `update sessions set fence = fence + 1, holder = ?, owner = ?, since = ?, stamp = stamp + 1, updated_at = ? where sid = ?`,
      ...[holder, toSql(owner), now, now, row.sid],
    )
    return { kind: 'acquired', fence: row.fence + 1, tail, life: row.sid, expiresAt: null, repaired }
  }

  /** Why a session cannot be driven from here; null: it can. */
  #refusal(row: Row | undefined): Exclude<Acquired, { kind: 'acquired' }> | null {
    if (row === undefined) return { kind: 'missing' }
    if (row.holder === null || !this.#presence.isAlive(row.holder)) return null
    return { kind: 'busy', owner: fromSql(row.owner!), since: row.since! }
  }

  release(now: number, session: SessionId, fence: number, options: ReleaseOptions): Released {
    const wake = wakeOf(options)
    const release = (): Released => {
      const row = findRow(this.#db, session)
      if (!isFence(row, fence)) return { kind: 'lost' }
      if (this.#inbox.isWoken(row.sid, wake, now)) return { kind: 'due' }
      this.#db.run(
        `update sessions set holder = null, owner = null, since = null, wake_lanes = ?, wake_at = ?, wake_since = ?,
          stamp = stamp + 1, updated_at = ? where sid = ?`,
        ...[laneBits(wake.lanes), wake.at, wake.since, now, row.sid],
      )
      return { kind: 'released' }
    }
    return this.#db.write(release, ({ kind }) => kind === 'released')
  }

  /**
   * Sessions that nobody drives and that are due (W3), of those in `among`, or of all. The work grows with those, or with what is
   * pending and driven; not with how many sessions there are.
   */
  due(now: number, among: readonly SessionId[] | null): readonly SessionId[] {
    const named = among === null ? [] : [JSON.stringify(among.map(toSql))]
    const resting = this.#db.all<{ session: string }>(among === null ? RESTING : RESTING_AMONG, ...named, now, now)
    const held = this.#db.all<{ session: string; holder: string }>(among === null ? HELD : HELD_AMONG, ...named)
    const isDead = deadAmong(this.#presence)
    const left = held.filter(({ holder }) => isDead(holder))
    return [...resting, ...left].map(({ session }) => fromSql(session) as SessionId)
  }

  list(): readonly SessionRow[] {
    const rows = this.#db.all<ListRow>(
      `select created_at, updated_at, tail, since, ${text('session', 'holder', 'owner')},
        (select count(*) from inputs i where i.sid = s.sid and i.state is null) as pending from sessions s order by sid`,
    )
    const isDead = deadAmong(this.#presence)
    return rows.map((row) => ({
      session: fromSql(row.session) as SessionId,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      tail: row.tail,
      pending: row.pending,
      lease: row.holder === null || isDead(row.holder) ? null : { owner: fromSql(row.owner!), since: row.since! },
      resting: row.holder === null,
    }))
  }

  remove(session: SessionId): 'removed' | 'missing' | 'busy' {
    const remove = (): 'removed' | 'missing' | 'busy' => {
      const row = findRow(this.#db, session)
      const refusal = this.#refusal(row)
      if (refusal !== null || row === undefined) return refusal?.kind ?? 'missing'
      this.#db.run('delete from quarantine where sid = ?', row.sid)
      this.#db.run('delete from sessions where sid = ?', row.sid)
      return 'removed'
    }
    return this.#db.write(remove, (removed) => removed === 'removed')
  }
}

/** An input `i` in a lane that wakes its session `s` does so now. */
const WAKES = `i.state is null and (i.not_before is null or i.not_before <= ?)
  and (i.lane = ${laneBit('control')} or i.tail >= s.wake_since)`

const RESTING = `select ${text('session')} from sessions where holder is null and sid in (
  select sid from sessions where wake_at is not null and wake_at <= ?
  union
  select i.sid from inputs i join sessions s on s.sid = i.sid where (i.lane & s.wake_lanes) <> 0 and ${WAKES}
)`

const AMONG = 'session in (select value from json_each(?))'

/** Lane by lane, and from the newest on: a lane that wakes nobody is not read, however much waits in it. */
const RESTING_AMONG = `select ${text('session')} from sessions s where ${AMONG} and holder is null and (
  wake_at <= ?
  or exists (select 1 from (${LANE_ROWS}) l where (l.lane & s.wake_lanes) <> 0 and exists (
    select 1 from inputs i where i.sid = s.sid and i.lane = l.lane and ${WAKES} order by i.arrival desc
  ))
)`

const HELD = `select ${text('session', 'holder')} from sessions where holder is not null`
const HELD_AMONG = `${HELD} and ${AMONG}`

interface ListRow extends SqlRow {
  readonly session: string
  readonly created_at: number
  readonly updated_at: number
  readonly tail: number
  readonly holder: string | null
  readonly owner: string | null
  readonly since: number | null
  readonly pending: number
}

/** Asks for each holder once. */
function deadAmong(presence: Presence): (holder: string) => boolean {
  const known = new Map<string, boolean>()
  return (holder) => {
    const isDead = known.get(holder) ?? !presence.isAlive(holder)
    known.set(holder, isDead)
    return isDead
  }
}
