/**
 * The log in SQLite: one row per append. Owns the append transaction (L1, I2), reading, verifying and mending (L5, L7).
 * Invariants: a commit, the settled inputs and the new tail and head are one transaction; reading never writes (L4); mending moves
 * what is damaged to quarantine and deletes nothing that could be read.
 */
import type { Event } from '../../kernel/events.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { Lane } from '../../kernel/input.ts'
import type { Append, Appended, Consumption, Damage, Ids, ReadResult, Repair } from '../../runtime/ports.ts'
import { assertSound } from '../rules.ts'
import type { Database } from './database.ts'
import { findRow, isFence, touch } from './row.ts'
import type { Row } from './row.ts'
import { scan } from './scan.ts'
import type { Scanned } from './scan.ts'
import { fourLanes, fromSql, lanesOf, text, toSql, parseOr } from './text.ts'

/** An input of these lanes is due. */
const IS_PENDING = 'lane in (?, ?, ?, ?) and state is null and (not_before is null or not_before <= ?)'

const PLAIN = `insert into commits (sid, first_seq, last_seq, body, hash, at) select sid, ?, ?, ?, ?, ? from sessions s
  where session = ? and fence = ? and holder is not null and tail = ? and head = ?`

const UNLESS_PENDING = `${PLAIN} and not exists (select 1 from inputs where sid = s.sid and ${IS_PENDING})`

/** What was read of a session to take its lease: the events after the snapshot, all of them sound. */
interface Opening {
  readonly after: number
  /** Hash of the commit of the last of them. */
  readonly head: string
  readonly events: readonly Event[]
}

/** A log as far as it was read to open it. */
export interface Inspection extends Scanned, Opening {}

export class Log {
  readonly #db: Database
  readonly #ids: Ids
  /** Heads of the sessions that are driven here: a guess, which the append checks. */
  readonly #heads = new Map<SessionId, string>()
  /** Kept until the first append, so that whoever took the lease need not read, prove and parse it all again. */
  readonly #openings = new Map<SessionId, Opening>()

  constructor(db: Database, ids: Ids) {
    this.#db = db
    this.#ids = ids
  }

  append(request: Append, now: number): Appended {
    assertSound(request)
    this.#openings.delete(request.session)
    const body = request.events.length === 0 ? null : JSON.stringify(request.events)
    return this.#appendPlain(request, body, now) ?? this.#appendChecked(request, body, now)
  }

  /** Call it when the session is not driven here any more. */
  forget(session: SessionId): void {
    this.#heads.delete(session)
    this.#openings.delete(session)
  }

  /** The usual append, which settles no input, as one statement. Null: it did not apply, find out why. */
  #appendPlain(
    { session, fence, tail, events, consume, unlessPending = [] }: Append,
    body: string | null,
    now: number,
  ): Appended | null {
    const known = this.#heads.get(session)
    if (body === null || known === undefined || consume.length > 0) return null
    const head = this.#ids.sha256(known + body)
    const last = tail + events.length
    const values = [tail + 1, last, body, head, now, toSql(session), fence, tail, known]
    const added =
      unlessPending.length === 0
        ? this.#db.run(PLAIN, ...values)
        : this.#db.run(UNLESS_PENDING, ...values, ...fourLanes(unlessPending), now)
    if (added === 0) return null
    this.#heads.set(session, head)
    return { kind: 'appended', tail: last }
  }

  #appendChecked(request: Append, body: string | null, now: number): Appended {
    const { session, fence, events, consume } = request
    let head = ''
    const append = (): Appended => {
      const row = findRow(this.#db, session)
      if (!isFence(row, fence)) return { kind: 'fenced' }
      if (row.tail !== request.tail) return { kind: 'conflict', tail: row.tail }
      const tail = row.tail + events.length
      const refused = settle(this.#db, row, consume, tail) ?? refuseIfPending(this.#db, row.sid, request, now)
      if (refused !== null) return refused
      head = body === null ? row.head : this.#ids.sha256(row.head + body)
      if (body === null) touch(this.#db, row.sid, now)
      else {
        this.#db.run(
          'insert into commits (sid, first_seq, last_seq, body, hash, at) values (?, ?, ?, ?, ?, ?)',
          ...[row.sid, row.tail + 1, tail, body, head, now],
        )
      }
      return { kind: 'appended', tail }
    }
    const appended = this.#db.write(append, ({ kind }) => kind === 'appended')
    if (appended.kind === 'appended') this.#heads.set(session, head)
    if (appended.kind === 'fenced') this.forget(session)
    return appended
  }

  read(session: SessionId, after: number, limit: number): ReadResult {
    const events: Event[] = []
    // One row is of one state of the file by itself.
    if (limit === 0) return { events, tail: findRow(this.#db, session)?.tail ?? 0, damage: null }
    return this.#db.view(() => {
      const row = findRow(this.#db, session)
      if (row === undefined) return { events, tail: 0, damage: null }
      const opening = this.#openings.get(session)
      if (opening?.after === after && opening.head === row.head && limit === Infinity)
        return { events: opening.events, tail: row.tail, damage: null }
      const { tail, damage } = scan(this.#db, this.#ids, { row, after, limit }, (commit) => {
        for (const event of commit) if (event.seq > after && events.length < limit) events.push(event)
        return events.length < limit
      })
      // What was not looked at, because the limit was reached, is taken at its word.
      return { events, tail: damage === null ? row.tail : tail, damage }
    })
  }

  verify(session: SessionId): Damage | null {
    return this.#db.view(() => {
      const row = findRow(this.#db, session)
      return row === undefined ? null : scan(this.#db, this.#ids, { row, after: 0 }).damage
    })
  }

  /** Reads the log as far as an opening reads it, from `from` on (L5). Contract: inside a transaction. */
  inspect(row: Row, from: number): Inspection {
    const events: Event[] = []
    const scanned = scan(this.#db, this.#ids, { row, after: from }, (commit) => {
      for (const event of commit) if (event.seq > from) events.push(event)
      return true
    })
    return { ...scanned, after: from, events }
  }

  /**
   * Mends what was found damaged, and takes the log up there (L5). Answers the tail as it is then.
   * Contract: inside a write transaction in which the session's row still names the tail and head that were inspected.
   */
  mend(session: SessionId, row: Row, found: Inspection, now: number): { tail: number; repaired: Repair | null } {
    const { tail, head, damage, after, events } = found
    this.#heads.set(session, head)
    this.#openings.set(session, { after, head, events })
    const known = untold(this.#db, row)
    return { tail, repaired: damage === null ? known : cut(this.#db, row, { tail, head, damage, known }, now) }
  }
}

/** What was mended and is in no log yet: whoever mended it may have died before it was durable. */
function untold(db: Database, { sid, head }: Row): Repair | null {
  const found = db.get<{ body: string }>('select body from repairs where sid = ? and head = ?', sid, head)
  return found === undefined ? null : parseOr<Repair | null>(found.body, null)
}

/** Where a log is cut, and what is known of an earlier cut that nobody was told of. */
interface Cut {
  readonly tail: number
  readonly head: string
  readonly damage: Damage
  readonly known: Repair | null
}

/** Moves everything beyond the last valid commit to quarantine. */
function cut(db: Database, row: Row, { tail, head, damage, known }: Cut, now: number): Repair {
  const { sid } = row
  db.run(
    `insert into quarantine (sid, first_seq, last_seq, body, hash, found_at, reason)
      select sid, first_seq, last_seq, body, hash, ?, ? from commits where sid = ? and (first_seq > ? or last_seq > ?)`,
    ...[now, damage.reason, sid, tail, tail],
  )
  const quarantined = db.run('delete from commits where sid = ? and (first_seq > ? or last_seq > ?)', sid, tail, tail)
  const reopened = reopen(db, row, tail)
  db.run('delete from snapshots where sid = ? and seq > ?', sid, tail)
  db.run('delete from partials where sid = ?', sid)
  db.run('update sessions set tail = ?, head = ? where sid = ?', tail, head, sid)
  const repair: Repair = {
    ...damage,
    quarantined: quarantined + (known?.quarantined ?? 0),
    reopened: [...reopened, ...(known?.reopened ?? [])],
  }
  db.run('insert or replace into repairs (sid, head, body) values (?, ?, ?)', sid, head, JSON.stringify(repair))
  return repair
}

/** Settles the inputs that an append consumes. Null: all of them were still pending in the version that was read. */
function settle(db: Database, row: Row, claims: readonly Consumption[], tail: number): Appended | null {
  const gone: InputId[] = []
  for (const { id, version, as } of claims) {
    const settled = db.run(
      `update inputs set state = ?, settled_seq = ?, changed = ?
        where sid = ? and id = ? and version = ? and state is null`,
      ...[JSON.stringify(as), tail, row.stamp + 1, row.sid, toSql(id), version],
    )
    if (settled === 0) gone.push(id)
  }
  return gone.length === 0 ? null : { kind: 'gone', inputs: gone }
}

function refuseIfPending(db: Database, sid: number, { unlessPending }: Append, now: number): Appended | null {
  if (unlessPending === undefined || unlessPending.length === 0) return null
  const left = db.all<{ lane: number }>(
    `select distinct lane from inputs where sid = ? and ${IS_PENDING}`,
    ...[sid, ...fourLanes(unlessPending), now],
  )
  if (left.length === 0) return null
  const lanes: readonly Lane[] = lanesOf(left.reduce((bits, { lane }) => bits | lane, 0))
  return { kind: 'pending', lanes }
}

/** Inputs that lost events had consumed wait again, and count as having come at the end of what is left (I9). */
function reopen(db: Database, { sid, stamp }: Row, tail: number): InputId[] {
  const lost = db.all<{ id: string }>(
    `select ${text('id')} from inputs where sid = ? and settled_seq > ? order by arrival`,
    sid,
    tail,
  )
  db.run(
    'update inputs set state = null, settled_seq = null, changed = ? where sid = ? and settled_seq > ?',
    ...[stamp + 1, sid, tail],
  )
  db.run(
    'update inputs set tail = ?, changed = ? where sid = ? and state is null and tail > ?',
    ...[tail, stamp + 1, sid, tail],
  )
  return lost.map(({ id }) => fromSql(id) as InputId)
}
