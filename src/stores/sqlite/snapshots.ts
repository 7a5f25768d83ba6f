/** What is kept beside the log to start sooner: state snapshots, and the partial text of a running reply. Neither is needed. */
import type { SessionId } from '../../kernel/ids.ts'
import type { Snapshot } from '../../kernel/state.ts'
import type { Ids, PartialReply } from '../../runtime/ports.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { findRow, isFence } from './row.ts'
import type { Row } from './row.ts'
import { parseOr, text, toSql } from './text.ts'

/** A snapshot, and the event up to which it is one. */
interface Placed {
  readonly seq: number
  readonly snapshot: Snapshot
}

export class Snapshots {
  readonly #db: Database
  readonly #ids: Ids
  /** What was read and proved to take a lease, for the one who is about to ask for it. */
  readonly #kept = new Map<SessionId, { readonly placed: Placed; readonly hash: string }>()

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
      // One is enough: it is as large as the context, and where it is damaged the log is read from its start.
      this.#db.run(
        'delete from snapshots where sid = ? and seq < (select max(seq) from snapshots where sid = ?)',
        ...[row.sid, row.sid],
      )
      return true
    }
    this.#db.write(write, (written) => written)
  }

  read(session: SessionId): Placed | null {
    return this.#db.view(() => {
      const row = findRow(this.#db, session)
      const newest = row === undefined ? null : this.newest(session, row)
      this.forget(session)
      return newest
    })
  }

  /** The newest snapshot whose bytes are right and whose place in the log still stands. A damaged one is passed over. */
  newest(session: SessionId, { sid, tail }: Row): Placed | null {
    const rows = this.#db.all<SnapshotRow>(
      `select seq, ${text('hash', 'anchor')} from snapshots where sid = ? and seq <= ? order by seq desc`,
      ...[sid, tail],
    )
    for (const { seq, hash, anchor } of rows) {
      if (anchorOf(this.#db, sid, seq) !== anchor) continue
      const kept = this.#kept.get(session)
      if (kept?.hash === hash && kept.placed.seq === seq) return kept.placed
      const { body } = this.#db.get<{ body: string }>(BODY, sid, seq)!
      if (this.#ids.sha256(body) !== hash) continue
      const placed = { seq, snapshot: body as Snapshot }
      this.#kept.set(session, { placed, hash })
      return placed
    }
    return null
  }

  /** Call it when a session goes on, or is not driven here any more. */
  forget(session: SessionId): void {
    this.#kept.delete(session)
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

const BODY = `select ${text('body')} from snapshots where sid = ? and seq = ?`

interface SnapshotRow extends SqlRow {
  readonly seq: number
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
