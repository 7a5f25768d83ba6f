/**
 * Who drives a session. A lease names the incarnation that holds it and lasts as long as that one lives: no time limit, so a
 * stopped process keeps its sessions and a killed one loses them at once. The fence decides (W1); owner and since are for people.
 */
import type { SessionId } from '../../kernel/ids.ts'
import type { Acquired, Ids, Released, SessionRow } from '../../runtime/ports.ts'
import { wakeOf } from '../rules.ts'
import type { ReleaseOptions } from '../rules.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { isWoken } from './inbox.ts'
import type { Log } from './log.ts'
import type { Presence } from './presence.ts'
import { findRow, isFence } from './row.ts'
import { newestSnapshot } from './snapshots.ts'
import { fromSql, laneBit, laneBits, text, toSql } from './text.ts'

export function acquire(
  ...[db, ids, log, presence, now, session, owner]: [Database, Ids, Log, Presence, number, SessionId, string]
): Acquired {
  const holder = presence.hold(
    (name) => db.get('select 1 as found from sessions where holder = ? limit 1', name) !== undefined,
  )
  return db.write(
    () => {
      const row = findRow(db, session)
      if (row === undefined) return { kind: 'missing' }
      if (row.holder !== null && presence.isAlive(row.holder)) {
        return { kind: 'busy', owner: fromSql(row.owner!), since: row.since! }
      }
      const { tail, repaired } = log.mend(session, row, newestSnapshot(db, ids, row)?.seq ?? 0, now)
      db.run(
        `update sessions set fence = fence + 1, holder = ?, owner = ?, since = ?, stamp = stamp + 1, updated_at = ? where sid = ?`,
        holder,
        toSql(owner),
        now,
        now,
        row.sid,
      )
      return { kind: 'acquired', fence: row.fence + 1, tail, expiresAt: null, repaired }
    },
    (acquired) => acquired.kind === 'acquired',
  )
}

export function release(
  db: Database,
  now: number,
  session: SessionId,
  fence: number,
  options: ReleaseOptions,
): Released {
  const wake = wakeOf(options)
  return db.write(
    () => {
      const row = findRow(db, session)
      if (!isFence(row, fence)) return { kind: 'lost' }
      if (isWoken(db, row.sid, wake, now)) return { kind: 'due' }
      db.run(
        `update sessions set holder = null, owner = null, since = null, wake_lanes = ?, wake_at = ?, wake_since = ?,
          stamp = stamp + 1, updated_at = ? where sid = ?`,
        laneBits(wake.lanes),
        wake.at,
        wake.since,
        now,
        row.sid,
      )
      return { kind: 'released' }
    },
    (released) => released.kind === 'released',
  )
}

/** Sessions that nobody drives and that are due (W3). The work grows with what is pending, not with how many sessions there are. */
export function due(db: Database, presence: Presence, now: number): readonly SessionId[] {
  const resting = db.all<{ session: string }>(
    `select ${text('session')} from sessions where holder is null and sid in (
      select sid from sessions where wake_at is not null and wake_at <= ?
      union
      select i.sid from inputs i join sessions s on s.sid = i.sid
        where i.state is null and (i.not_before is null or i.not_before <= ?) and (i.lane & s.wake_lanes) <> 0
          and (i.lane = ${laneBit('control')} or i.tail >= s.wake_since)
    )`,
    now,
    now,
  )
  const held = db.all<{ session: string; holder: string }>(
    `select ${text('session', 'holder')} from sessions where holder is not null`,
  )
  const isDead = deadAmong(presence)
  const left = held.filter(({ holder }) => isDead(holder))
  return [...resting, ...left].map(({ session }) => fromSql(session) as SessionId)
}

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

export function list(db: Database, presence: Presence): readonly SessionRow[] {
  const rows = db.all<ListRow>(
    `select created_at, updated_at, tail, since, ${text('session', 'holder', 'owner')},
      (select count(*) from inputs i where i.sid = s.sid and i.state is null) as pending from sessions s order by sid`,
  )
  const isDead = deadAmong(presence)
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

export function remove(db: Database, presence: Presence, session: SessionId): 'removed' | 'missing' | 'busy' {
  return db.write(
    () => {
      const row = findRow(db, session)
      if (row === undefined) return 'missing'
      if (row.holder !== null && presence.isAlive(row.holder)) return 'busy'
      db.run('delete from quarantine where sid = ?', row.sid)
      db.run('delete from sessions where sid = ?', row.sid)
      return 'removed'
    },
    (removed) => removed === 'removed',
  )
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
