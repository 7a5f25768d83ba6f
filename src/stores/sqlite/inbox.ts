/** The inbox in SQLite: one row per input, kept after it was settled, so that its id stays known (I1) and its receipt readable (I6). */
import { TurnstepError } from '../../kernel/errors.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { NewInput, PendingInput, ReceiptState } from '../../kernel/input.ts'
import type { Changed, Posted, QueueChanges, QueueMark, Store } from '../../runtime/ports.ts'
import { assertEnterable, between, NO_QUEUE } from '../rules.ts'
import type { Wake } from '../rules.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { findRow, touch } from './row.ts'
import { fourLanes, fromSql, laneBit, LANE_ROWS, lanesOf, parseOr, text, toSql } from './text.ts'

interface InputRow extends SqlRow {
  readonly id: string
  readonly lane: number
  readonly body: string
  readonly version: number
  readonly arrival: number
  readonly at: number
  readonly tail: number
  readonly state: string | null
}

const COLUMNS = `lane, version, arrival, at, tail, ${text('id', 'body', 'state')}`

/** The session of a change, and the stamp that it gets. */
interface Next {
  readonly sid: number
  readonly stamp: number
}

/** What came or changed since a stamp, and what came due since a time. */
const CAME = `select ${COLUMNS} from inputs
    where sid = ? and changed > ? and state is null and (not_before is null or not_before <= ?)
  union all
  select ${COLUMNS} from inputs
    where sid = ? and state is null and not_before > ? and not_before <= ? and changed <= ?
  order by arrival`

const GONE = `select ${text('id')} from inputs where sid = ? and changed > ? and state is not null`

/** The arrival of whoever stands before. Lane by lane, as the index has it. */
const BEFORE = `select max(arrival) as before from (
    select (select max(arrival) from inputs where sid = of.sid and lane = of.lane and state is null and arrival < of.arrival) as arrival
    from (select ? as sid, ? as arrival, lane from (${LANE_ROWS})) of
  )`

/** From the newest on: what came last is most likely to count. */
const WOKEN = `select 1 as found from inputs where sid = ? and lane in (?, ?, ?, ?) and state is null
  and (not_before is null or not_before <= ?) and (lane = ${laneBit('control')} or tail >= ?)
  order by lane desc, arrival desc limit 1`

type InputChange = Parameters<Store['edit']>[2]

export class Inbox {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  put(now: number, session: SessionId, input: NewInput, notBefore: number | null): Posted {
    if (input.lane !== 'control') assertEnterable(input.id, input.content)
    const added = this.#db.run(
      `insert into inputs (sid, id, lane, body, at, tail, not_before, arrival, changed)
        select sid, ?, ?, ?, ?, tail, ?, arrivals + 1, stamp + 1 from sessions where session = ? on conflict do nothing`,
      ...[toSql(input.id), laneBit(input.lane), JSON.stringify(input), now, notBefore, toSql(session)],
    )
    if (added > 0) return { kind: 'queued' }
    const state = this.receipt(session, input.id)
    return state === null ? { kind: 'missing' } : { kind: 'duplicate', state }
  }

  /** The queue of a session in order of arrival; `before`: only inputs whose time has come by then. */
  pending(session: SessionId, before: number | null): readonly PendingInput[] {
    const rows = this.#db.all<InputRow>(
      `select ${COLUMNS} from inputs
        where sid = (select sid from sessions where session = ?) and state is null and (? is null or not_before is null or not_before <= ?)
        order by arrival`,
      toSql(session),
      before,
      before,
    )
    return rows.map(toPending)
  }

  pendingSince(session: SessionId, since: QueueMark | null, now: number): QueueChanges {
    return this.#db.view(() => {
      const row = findRow(this.#db, session)
      if (row === undefined) return NO_QUEUE
      const mark: QueueMark = { life: row.sid, revision: row.stamp, at: now }
      if (since?.life !== mark.life) return { whole: true, pending: this.pending(session, now), gone: [], mark }
      const { sid } = row
      const came = this.#db.all<InputRow>(CAME, sid, since.revision, now, sid, since.at, now, since.revision)
      const gone = this.#db.all<{ id: string }>(GONE, sid, since.revision)
      return { whole: false, pending: came.map(toPending), gone: gone.map(({ id }) => fromSql(id) as InputId), mark }
    })
  }

  receipt(session: SessionId, input: InputId): ReceiptState | null {
    const row = findRow(this.#db, session)
    const found = row === undefined ? undefined : findInput(this.#db, row.sid, input)
    return found === undefined ? null : stateOf(found)
  }

  edit(now: number, session: SessionId, id: InputId, change: InputChange): Changed {
    if (change.content !== undefined) assertEnterable(id, change.content)
    return this.#alter(now, session, id, ({ sid, stamp }, input) => {
      const body = bodyOf(input)
      if (body.lane === 'control') return { kind: 'missing' }
      this.#db.run(
        'update inputs set body = ?, lane = ?, version = version + 1, changed = ? where sid = ? and id = ?',
        JSON.stringify({ ...body, ...change }),
        change.lane === undefined ? input.lane : laneBit(change.lane),
        stamp,
        sid,
        toSql(id),
      )
      return { kind: 'changed' }
    })
  }

  withdraw(now: number, session: SessionId, id: InputId): Changed {
    return this.#alter(now, session, id, ({ sid, stamp }) => {
      const state: ReceiptState = { kind: 'withdrawn' }
      this.#db.run(
        'update inputs set state = ?, changed = ? where sid = ? and id = ?',
        ...[JSON.stringify(state), stamp, sid, toSql(id)],
      )
      return { kind: 'changed' }
    })
  }

  /** Takes a place between two others; only when there is none left between them are those behind moved on. */
  move(now: number, session: SessionId, id: InputId, before: InputId | null): Changed {
    return this.#alter(now, session, id, ({ sid, stamp }) => {
      if (before === id) return { kind: 'changed' }
      const goal = before === null ? null : findInput(this.#db, sid, before)
      if (goal === undefined || (goal !== null && goal.state !== null)) return { kind: 'missing' }
      const place = goal === null ? this.#nextArrival(sid) : this.#placeBefore(sid, stamp, goal.arrival)
      this.#db.run(
        'update inputs set arrival = ?, changed = ? where sid = ? and id = ?',
        ...[place, stamp, sid, toSql(id)],
      )
      return { kind: 'changed' }
    })
  }

  #placeBefore(sid: number, stamp: number, arrival: number): number {
    const { before } = this.#db.get<{ before: number | null }>(BEFORE, sid, arrival)!
    const place = between(before, arrival)
    if (place !== null) return place
    this.#nextArrival(sid)
    this.#db.run(
      'update inputs set arrival = arrival + 1, changed = ? where sid = ? and state is null and arrival >= ?',
      ...[stamp, sid, arrival],
    )
    return between(before, arrival + 1)!
  }

  #nextArrival(sid: number): number {
    this.#db.run('update sessions set arrivals = arrivals + 1 where sid = ?', sid)
    return this.#db.get<{ arrivals: number }>('select arrivals from sessions where sid = ?', sid)!.arrivals
  }

  /** Whether an input has come that this wake names (W3). */
  isWoken(sid: number, wake: Wake, now: number): boolean {
    if (wake.at !== null && wake.at <= now) return true
    const found = this.#db.get(WOKEN, sid, ...fourLanes(wake.lanes), now, wake.since)
    return found !== undefined
  }

  /** Does `change` to a pending input, in one transaction. */
  #alter(now: number, session: SessionId, id: InputId, change: (next: Next, input: InputRow) => Changed): Changed {
    const alter = (): Changed => {
      const row = findRow(this.#db, session)
      const input = row === undefined ? undefined : findInput(this.#db, row.sid, id)
      if (row === undefined || input === undefined) return { kind: 'missing' }
      if (input.state !== null) return { kind: 'settled', state: stateOf(input) }
      const changed = change({ sid: row.sid, stamp: row.stamp + 1 }, input)
      if (changed.kind === 'changed') touch(this.#db, row.sid, now)
      return changed
    }
    return this.#db.write(alter, ({ kind }) => kind === 'changed')
  }
}

function toPending(row: InputRow): PendingInput {
  const { at, tail, arrival, version } = row
  return { ...bodyOf(row), lane: lanesOf(row.lane)[0], at, tail, arrival, version } as PendingInput
}

function findInput(db: Database, sid: number, id: InputId): InputRow | undefined {
  return db.get<InputRow>(`select ${COLUMNS} from inputs where sid = ? and id = ?`, sid, toSql(id))
}

function stateOf(row: InputRow): ReceiptState {
  if (row.state === null) return { kind: 'queued' }
  return parseOr<ReceiptState | null>(row.state, null) ?? unreadable(row, 'receipt')
}

function bodyOf(row: InputRow): NewInput {
  return parseOr<NewInput | null>(row.body, null) ?? unreadable(row, 'body')
}

/** An input is user data: it is not passed over in silence. */
function unreadable(row: InputRow, what: string): never {
  const id = fromSql(row.id)
  throw new TurnstepError(
    'log-damaged',
    `the ${what} of input ${id} is damaged: withdraw this input and post it again`,
    {
      data: { input: id },
    },
  )
}
