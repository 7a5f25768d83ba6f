/**
 * The log in SQLite: one row per append. Owns the append transaction (L1, I2), reading, verifying and mending (L5, L7).
 * Invariants: a commit, the settled inputs and the new tail and head are one transaction; reading never writes (L4); mending moves
 * what is damaged to quarantine and deletes nothing that could be read.
 */
import type { Event } from '../../kernel/events.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { Lane } from '../../kernel/input.ts'
import type { Append, Appended, Consumption, Damage, Ids, ReadResult, Repair } from '../../runtime/ports.ts'
import { assertDense } from '../rules.ts'
import type { Database } from './database.ts'
import { findRow, isFence } from './row.ts'
import type { Row } from './row.ts'
import { scan } from './scan.ts'
import type { Scanned } from './scan.ts'
import { fromSql, laneBits, lanesOf, text, toSql } from './text.ts'

export function append(db: Database, ids: Ids, now: number, request: Append): Appended {
  assertDense(request)
  const body = request.events.length === 0 ? null : JSON.stringify(request.events)
  return db.write(
    () => {
      const row = findRow(db, request.session)
      if (!isFence(row, request.fence)) return { kind: 'fenced' }
      if (row.tail !== request.tail) return { kind: 'conflict', tail: row.tail }
      const tail = row.tail + request.events.length
      const refused = settle(db, row.sid, request.consume, tail) ?? refuseIfPending(db, row.sid, request, now)
      if (refused !== null) return refused
      let head = row.head
      if (body !== null) {
        head = ids.sha256(head + body)
        db.run(
          'insert into commits (sid, first_seq, last_seq, body, hash) values (?, ?, ?, ?, ?)',
          row.sid,
          row.tail + 1,
          tail,
          body,
          head,
        )
      }
      db.run(
        'update sessions set tail = ?, head = ?, stamp = stamp + 1, updated_at = ? where sid = ?',
        tail,
        head,
        now,
        row.sid,
      )
      return { kind: 'appended', tail }
    },
    (appended) => appended.kind === 'appended',
  )
}

/** Settles the inputs that an append consumes. Null: all of them were still pending in the version that was read. */
function settle(db: Database, sid: number, claims: readonly Consumption[], tail: number): Appended | null {
  const gone: InputId[] = []
  for (const { id, version, as } of claims) {
    const settled = db.run(
      'update inputs set state = ?, settled_seq = ? where sid = ? and id = ? and version = ? and state is null',
      JSON.stringify(as),
      tail,
      sid,
      toSql(id),
      version,
    )
    if (settled === 0) gone.push(id)
  }
  return gone.length === 0 ? null : { kind: 'gone', inputs: gone }
}

function refuseIfPending(db: Database, sid: number, { unlessPending }: Append, now: number): Appended | null {
  if (unlessPending === undefined || unlessPending.length === 0) return null
  const left = db.all<{ lane: number }>(
    'select distinct lane from inputs where sid = ? and state is null and (lane & ?) <> 0 and (not_before is null or not_before <= ?)',
    sid,
    laneBits(unlessPending),
    now,
  )
  if (left.length === 0) return null
  const lanes: readonly Lane[] = lanesOf(left.reduce((bits, { lane }) => bits | lane, 0))
  return { kind: 'pending', lanes }
}

export function read(db: Database, ids: Ids, session: SessionId, after: number, limit: number): ReadResult {
  const events: Event[] = []
  return db.view(() => {
    const row = findRow(db, session)
    if (row === undefined) return { events, tail: 0, damage: null }
    const { tail, damage } = scan(db, ids, row, after, (commit) => {
      for (const event of commit) if (event.seq > after && events.length < limit) events.push(event)
      return events.length < limit
    })
    // What was not looked at, because the limit was reached, is taken at its word.
    return { events, tail: damage === null ? row.tail : tail, damage }
  })
}

export function verify(db: Database, ids: Ids, session: SessionId): Damage | null {
  return db.view(() => {
    const row = findRow(db, session)
    return row === undefined ? null : scan(db, ids, row, 0, () => true).damage
  })
}

/**
 * Mends the log as far as an opening reads it, from the newest snapshot on (L5). Answers the row as it is then.
 * Contract: inside a write transaction.
 */
export function mend(
  db: Database,
  ids: Ids,
  row: Row,
  from: number,
  now: number,
): { row: Row; repaired: Repair | null } {
  const { tail, head, damage } = scan(db, ids, row, from, () => true)
  if (damage === null) return { row, repaired: null }
  db.run(
    `insert into quarantine (sid, first_seq, last_seq, body, hash, found_at, reason)
      select sid, first_seq, last_seq, body, hash, ?, ? from commits where sid = ? and (first_seq > ? or last_seq > ?)`,
    now,
    damage.reason,
    row.sid,
    tail,
    tail,
  )
  const quarantined = db.run(
    'delete from commits where sid = ? and (first_seq > ? or last_seq > ?)',
    row.sid,
    tail,
    tail,
  )
  const reopened = reopen(db, row.sid, tail)
  db.run('delete from snapshots where sid = ? and seq > ?', row.sid, tail)
  db.run('delete from partials where sid = ?', row.sid)
  db.run('update sessions set tail = ?, head = ? where sid = ?', tail, head, row.sid)
  return { row: { ...row, tail, head }, repaired: { ...damage, quarantined, reopened } }
}

/** Inputs that lost events had consumed wait again, and count as having come at the end of what is left (I9). */
function reopen(db: Database, sid: number, tail: Scanned['tail']): InputId[] {
  const lost = db.all<{ id: string }>(
    `select ${text('id')} from inputs where sid = ? and settled_seq > ? order by arrival`,
    sid,
    tail,
  )
  db.run('update inputs set state = null, settled_seq = null where sid = ? and settled_seq > ?', sid, tail)
  db.run('update inputs set tail = ? where sid = ? and state is null and tail > ?', tail, sid, tail)
  return lost.map(({ id }) => fromSql(id) as InputId)
}
