/** The inbox in SQLite: one row per input, kept after it was settled, so that its id stays known (I1) and its receipt readable (I6). */
import { TurnstepError } from '../../kernel/errors.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { NewInput, PendingInput, ReceiptState } from '../../kernel/input.ts'
import type { Changed, Posted, Store } from '../../runtime/ports.ts'
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

type InputChange = Parameters<Store['edit']>[2]

export class Inbox {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  put(now: number, session: SessionId, input: NewInput, notBefore: number | null): Posted {
    const put = (): Posted => {
      const row = findRow(this.#db, session)
      if (row === undefined) return { kind: 'missing' }
      const known = findInput(this.#db, row.sid, input.id)
      if (known !== undefined) return { kind: 'duplicate', state: stateOf(known) }
      this.#db.run(
        'update sessions set arrivals = arrivals + 1, stamp = stamp + 1, updated_at = ? where sid = ?',
        now,
        row.sid,
      )
      this.#db.run(
        `insert into inputs (sid, id, lane, body, at, tail, not_before, arrival)
          select sid, ?, ?, ?, ?, tail, ?, arrivals from sessions where sid = ?`,
        ...[toSql(input.id), laneBit(input.lane), JSON.stringify(input), now, notBefore, row.sid],
      )
      return { kind: 'queued' }
    }
    return this.#db.write(put, ({ kind }) => kind === 'queued')
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
    return rows.map((row) => {
      const input = bodyOf(row)
      const { at, tail, arrival, version } = row
      return { ...input, lane: lanesOf(row.lane)[0], at, tail, arrival, version } as PendingInput
    })
  }

  receipt(session: SessionId, input: InputId): ReceiptState | null {
    const row = findRow(this.#db, session)
    const found = row === undefined ? undefined : findInput(this.#db, row.sid, input)
    return found === undefined ? null : stateOf(found)
  }

  edit(now: number, session: SessionId, id: InputId, change: InputChange): Changed {
    return this.#alter(now, session, id, (sid, input) => {
      const body = bodyOf(input)
      if (body.lane === 'control') return { kind: 'missing' }
      this.#db.run(
        'update inputs set body = ?, lane = ?, version = version + 1 where sid = ? and id = ?',
        JSON.stringify({ ...body, ...change }),
        change.lane === undefined ? input.lane : laneBit(change.lane),
        sid,
        toSql(id),
      )
      return { kind: 'changed' }
    })
  }

  withdraw(now: number, session: SessionId, id: InputId): Changed {
    return this.#alter(now, session, id, (sid) => {
      const state: ReceiptState = { kind: 'withdrawn' }
      this.#db.run('update inputs set state = ? where sid = ? and id = ?', JSON.stringify(state), sid, toSql(id))
      return { kind: 'changed' }
    })
  }

  /** Renumbers what stands behind, so that arrival stays a whole number however often inputs are moved. */
  move(now: number, session: SessionId, id: InputId, before: InputId | null): Changed {
    return this.#alter(now, session, id, (sid) => {
      if (before === id) return { kind: 'changed' }
      const goal = before === null ? null : findInput(this.#db, sid, before)
      if (goal === undefined || (goal !== null && goal.state !== null)) return { kind: 'missing' }
      this.#db.run('update sessions set arrivals = arrivals + 1 where sid = ?', sid)
      if (goal === null) {
        this.#db.run(
          'update inputs set arrival = (select arrivals from sessions where sid = ?) where sid = ? and id = ?',
          sid,
          sid,
          toSql(id),
        )
      } else {
        const { arrival } = goal
        this.#db.run(
          'update inputs set arrival = arrival + 1 where sid = ? and state is null and arrival >= ?',
          sid,
          arrival,
        )
        this.#db.run('update inputs set arrival = ? where sid = ? and id = ?', arrival, sid, toSql(id))
      }
      return { kind: 'changed' }
    })
  }

  /** Whether an input has come that this wake names (W3). */
  isWoken(sid: number, wake: Wake, now: number): boolean {
    if (wake.at !== null && wake.at <= now) return true
    const found = this.#db.get(
      `select 1 as found from inputs where sid = ? and state is null and (not_before is null or not_before <= ?)
        and (lane & ?) <> 0 and (lane = ${laneBit('control')} or tail >= ?) limit 1`,
      ...[sid, now, laneBits(wake.lanes), wake.since],
    )
    return found !== undefined
  }

  /** Does `change` to a pending input, in one transaction. */
  #alter(now: number, session: SessionId, id: InputId, change: (sid: number, input: InputRow) => Changed): Changed {
    const alter = (): Changed => {
      const row = findRow(this.#db, session)
      const input = row === undefined ? undefined : findInput(this.#db, row.sid, id)
      if (row === undefined || input === undefined) return { kind: 'missing' }
      if (input.state !== null) return { kind: 'settled', state: stateOf(input) }
      const changed = change(row.sid, input)
      if (changed.kind === 'changed') touch(this.#db, row.sid, now)
      return changed
    }
    return this.#db.write(alter, ({ kind }) => kind === 'changed')
  }
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
