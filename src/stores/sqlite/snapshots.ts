/** What is kept beside the log to start sooner: state snapshots, and the partial text of a running reply. Neither is needed. */
import type { SessionId } from '../../kernel/ids.ts'
import type { Snapshot } from '../../kernel/state.ts'
import type { Ids, PartialReply } from '../../runtime/ports.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { findRow, isFence } from './row.ts'
import type { Row } from './row.ts'
import { parseOr, text, toSql } from './text.ts'

/** So many are kept, for the case that the newest is damaged. */
const KEPT = 2

/** A snapshot, and the event up to which it is one. */
interface Placed {
  readonly seq: number
  readonly snapshot: Snapshot
}

export class Snapshots {
  readonly #db: Database
  readonly #ids: Ids

  constructor(db: Database, ids: Ids) {
    this.#db = db
    this.#ids = ids
  }

  write(session: SessionId, fence: number, seq: number, body: Snapshot): void {
    const hash = this.#ids.sha256(body)
    const write = (): boolean => {
      const row = findRow(this.#db, session)
      if (!isFence(row, fence)) return false
      const anchor = anchorOf(this.#db, row.sid, seq)
      if (anchor === null) return false
      this.#db.run(
        'insert or replace into snapshots (sid, seq, body, hash, anchor) values (?, ?, ?, ?, ?)',
        ...[row.sid, seq, body, hash, anchor],
      )
      this.#db.run(
        'delete from snapshots where sid = ? and seq not in (select seq from snapshots where sid = ? order by seq desc limit ?)',
        ...[row.sid, row.sid, KEPT],
      )
      return true
    }
    this.#db.write(write, (written) => written)
  }

  read(session: SessionId): Placed | null {
    return this.#db.view(() => {
      const row = findRow(this.#db, session)
      return row === undefined ? null : this.newest(row)
    })
  }

  /** The newest snapshot whose bytes are right and whose place in the log still stands. A damaged one is passed over. */
  newest(row: Row): Placed | null {
    const rows = this.#db.all<SnapshotRow>(
      `select seq, ${text('body', 'hash', 'anchor')} from snapshots where sid = ? and seq <= ? order by seq desc`,
      row.sid,
      row.tail,
    )
    const good = rows.find(
      (one) => anchorOf(this.#db, row.sid, one.seq) === one.anchor && this.#ids.sha256(one.body) === one.hash,
    )
    return good === undefined ? null : { seq: good.seq, snapshot: good.body as Snapshot }
  }

  writePartial(session: SessionId, fence: number, partial: PartialReply): void {
    this.#db.run(
      `insert or replace into partials (sid, body)
        select sid, ? from sessions where session = ? and fence = ? and holder is not null`,
      JSON.stringify(partial),
      toSql(session),
      fence,
    )
  }

  readPartial(session: SessionId): PartialReply | null {
    const row = this.#db.get<{ body: string }>(
      `select ${text('body')} from partials where sid = (select sid from sessions where session = ?)`,
      toSql(session),
    )
    return row === undefined ? null : parseOr<PartialReply | null>(row.body, null)
  }
}

interface SnapshotRow extends SqlRow {
  readonly seq: number
  readonly body: string
  readonly hash: string
  readonly anchor: string
}

/** The recorded hash of the commit with this event. */
function anchorOf(db: Database, sid: number, seq: number): string | null {
  const commit = db.get<{ last: number; hash: string }>(
    `select last_seq as last, ${text('hash')} from commits where sid = ? and first_seq <= ? order by first_seq desc limit 1`,
    sid,
    seq,
  )
  return commit === undefined || commit.last < seq ? null : commit.hash
}
