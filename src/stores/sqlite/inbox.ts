/** The inbox in SQLite: one row per input, kept after it was settled, so that its id stays known (I1) and its receipt readable (I6). */
import { TurnstepError } from '../../kernel/errors.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { MessageLane, NewInput, PendingInput, ReceiptState } from '../../kernel/input.ts'
import type { Part } from '../../kernel/message.ts'
import type { Changed, Posted } from '../../runtime/ports.ts'
import type { Wake } from '../rules.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { findRow, touch } from './row.ts'
import { fromSql, laneBit, laneBits, lanesOf, parseOr, text, toSql } from './text.ts'

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

export function put(db: Database, now: number, session: SessionId, input: NewInput, notBefore: number | null): Posted {
  return db.write(
    () => {
      const row = findRow(db, session)
      if (row === undefined) return { kind: 'missing' }
      const known = findInput(db, row.sid, input.id)
      if (known !== undefined) return { kind: 'duplicate', state: stateOf(known) }
      db.run(
        'update sessions set arrivals = arrivals + 1, stamp = stamp + 1, updated_at = ? where sid = ?',
        now,
        row.sid,
      )
      db.run(
        `insert into inputs (sid, id, lane, body, at, tail, not_before, arrival)
          select sid, ?, ?, ?, ?, tail, ?, arrivals from sessions where sid = ?`,
        toSql(input.id),
        laneBit(input.lane),
        JSON.stringify(input),
        now,
        notBefore,
        row.sid,
      )
      return { kind: 'queued' }
    },
    (posted) => posted.kind === 'queued',
  )
}

/** The queue of a session in order of arrival; `before`: only inputs whose time has come by then. */
export function pending(db: Database, session: SessionId, before: number | null): readonly PendingInput[] {
  const rows = db.all<InputRow>(
    `select ${COLUMNS} from inputs
      where sid = (select sid from sessions where session = ?) and state is null and (? is null or not_before is null or not_before <= ?)
      order by arrival`,
    toSql(session),
    before,
    before,
  )
  return rows.map((row) => {
    const input = bodyOf(row)
    const { at, tail, arrival, version } = row
    return { ...input, lane: lanesOf(row.lane)[0], at, tail, arrival, version } as PendingInput
  })
}

export function receipt(db: Database, session: SessionId, input: InputId): ReceiptState | null {
  const row = findRow(db, session)
  const found = row === undefined ? undefined : findInput(db, row.sid, input)
  return found === undefined ? null : stateOf(found)
}

export function edit(
  ...[db, now, session, id, change]: [
    Database,
    number,
    SessionId,
    InputId,
    { readonly content?: readonly Part[]; readonly lane?: MessageLane },
  ]
): Changed {
  return alter(db, now, session, id, (sid, input) => {
    const body = bodyOf(input)
    if (body.lane === 'control') return { kind: 'missing' }
    const lane = change.lane === undefined ? input.lane : laneBit(change.lane)
    db.run(
      'update inputs set body = ?, lane = ?, version = version + 1 where sid = ? and id = ?',
      JSON.stringify({ ...body, ...change }),
      lane,
      sid,
      toSql(id),
    )
    return { kind: 'changed' }
  })
}

export function withdraw(db: Database, now: number, session: SessionId, id: InputId): Changed {
  return alter(db, now, session, id, (sid) => {
    const state: ReceiptState = { kind: 'withdrawn' }
    db.run('update inputs set state = ? where sid = ? and id = ?', JSON.stringify(state), sid, toSql(id))
    return { kind: 'changed' }
  })
}

/** Renumbers what stands behind, so that arrival stays a whole number however often inputs are moved. */
export function move(db: Database, now: number, session: SessionId, id: InputId, before: InputId | null): Changed {
  return alter(db, now, session, id, (sid) => {
    if (before === id) return { kind: 'changed' }
    const goal = before === null ? null : findInput(db, sid, before)
    if (goal === undefined || (goal !== null && goal.state !== null)) return { kind: 'missing' }
    db.run('update sessions set arrivals = arrivals + 1 where sid = ?', sid)
    if (goal === null) {
      db.run(
        'update inputs set arrival = (select arrivals from sessions where sid = ?) where sid = ? and id = ?',
        sid,
        sid,
        toSql(id),
      )
    } else {
      db.run(
        'update inputs set arrival = arrival + 1 where sid = ? and state is null and arrival >= ?',
        sid,
        goal.arrival,
      )
      db.run('update inputs set arrival = ? where sid = ? and id = ?', goal.arrival, sid, toSql(id))
    }
    return { kind: 'changed' }
  })
}

/** Whether an input has come that this wake names (W3). */
export function isWoken(db: Database, sid: number, wake: Wake, now: number): boolean {
  if (wake.at !== null && wake.at <= now) return true
  const found = db.get(
    `select 1 as found from inputs where sid = ? and state is null and (not_before is null or not_before <= ?)
      and (lane & ?) <> 0 and (lane = ${laneBit('control')} or tail >= ?) limit 1`,
    sid,
    now,
    laneBits(wake.lanes),
    wake.since,
  )
  return found !== undefined
}

/** Does `change` to a pending input, in one transaction. */
function alter(
  ...[db, now, session, id, change]: [Database, number, SessionId, InputId, (sid: number, input: InputRow) => Changed]
): Changed {
  return db.write(
    () => {
      const row = findRow(db, session)
      const input = row === undefined ? undefined : findInput(db, row.sid, id)
      if (row === undefined || input === undefined) return { kind: 'missing' }
      if (input.state !== null) return { kind: 'settled', state: stateOf(input) }
      const changed = change(row.sid, input)
      if (changed.kind === 'changed') touch(db, row.sid, now)
      return changed
    },
    (changed) => changed.kind === 'changed',
  )
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
