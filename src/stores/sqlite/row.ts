/** The row of a session, as the parts of the store share it. */
import type { SessionId } from '../../kernel/ids.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import { text, toSql } from './text.ts'

export interface Row extends SqlRow {
  readonly sid: number
  readonly tail: number
  /** Hash of the newest commit; empty before the first. */
  readonly head: string
  readonly fence: number
  /** Of the newest change. A transaction that changes the session writes the next one. */
  readonly stamp: number
  /** The incarnation of the store that drives it. */
  readonly holder: string | null
  readonly owner: string | null
  readonly since: number | null
}

export function findRow(database: Database, session: SessionId): Row | undefined {
  return database.get<Row>(FIND, toSql(session))
}

const FIND = `select sid, tail, fence, stamp, since, ${text('head', 'holder', 'owner')} from sessions where session = ?`

/** Whether this is the fence of the lease (W1). */
export const isFence = (row: Row | undefined, fence: number): row is Row =>
  row !== undefined && row.holder !== null && row.fence === fence

/** Marks the session as changed, for watchers in other processes. */
export function touch(database: Database, sid: number, now: number): void {
  database.run('update sessions set stamp = stamp + 1, updated_at = ? where sid = ?', now, sid)
}
