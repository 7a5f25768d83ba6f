/**
 * Reads commits and proves them: bytes against hash, hash against its predecessor, seqs dense, the newest against the head in the
 * session's row (L5, L7). Writes nothing and throws nothing for damage: it stops at the last valid commit and says why.
 */
import type { Event } from '../../kernel/events.ts'
import { isTurnstepError } from '../../kernel/errors.ts'
import type { Damage, Ids } from '../../runtime/ports.ts'
import type { Database } from './database.ts'
import type { SqlRow } from './driver.ts'
import type { Row } from './row.ts'
import { parseOr, text } from './text.ts'

interface Commit extends SqlRow {
  readonly first: number
  readonly last: number
  readonly body: string
  readonly hash: string
}

export interface Scanned {
  /** Seq and hash of the last valid commit. */
  readonly tail: number
  readonly head: string
  readonly damage: Damage | null
}

/** Commits fetched at once: bounds memory on a long log. */
const BATCH = 256

const BASE = `select last_seq as last, ${text('hash')} from commits
  where sid = ? and first_seq <= ? and last_seq <= ? order by first_seq desc limit 1`
const NEXT = `select first_seq as first, last_seq as last, ${text('body', 'hash')} from commits
  where sid = ? and first_seq >= ? order by first_seq limit ?`

/** What is to be scanned: the commits of `row` with events after `after`. */
interface Range {
  readonly row: Row
  readonly after: number
  /** How many events are wanted. Default all. */
  readonly limit?: number
}

/**
 * Scans a range. `take` gets the events of each valid commit and says whether to go on.
 * Contract: inside a transaction.
 */
export function scan(
  db: Database,
  ids: Ids,
  { row, after, limit = Infinity }: Range,
  take: (events: readonly Event[]) => boolean = () => true,
): Scanned {
  // No commit is without an event.
  const batchSize = Math.min(BATCH, limit)
  let { tail, head } = base(db, row.sid, after)
  const stopped = (reason: string): Scanned => ({ tail, head, damage: { from: tail + 1, reason } })
  for (;;) {
    const batch = fetch(db, row.sid, tail + 1, batchSize)
    if (typeof batch === 'string') return stopped(batch)
    if (batch.length === 0) break
    for (const commit of batch) {
      const events = prove(commit, tail, head, ids)
      if (typeof events === 'string') return stopped(events)
      tail = commit.last
      head = commit.hash
      if (!take(events)) return { tail, head, damage: null }
    }
  }
  const reason = after > row.tail ? null : proveHead(row, tail, head)
  return reason === null ? { tail, head, damage: null } : stopped(reason)
}

/** Where the chain is taken up: the last commit that is all before `after`. Its own bytes are not read. */
function base(db: Database, sid: number, after: number): { tail: number; head: string } {
  const commit = db.get<{ last: number; hash: string }>(BASE, sid, after, after)
  return commit === undefined ? { tail: 0, head: '' } : { tail: commit.last, head: commit.hash }
}

/** The next commits, or why they cannot be had. */
function fetch(db: Database, sid: number, from: number, limit: number): readonly Commit[] | string {
  try {
    return select(db, sid, from, limit)
  } catch (error) {
    if (!isTurnstepError(error, 'log-damaged')) throw error
  }
  try {
    // A damaged page spoils a whole batch: what stands before it is still to be had one by one.
    return select(db, sid, from, 1)
  } catch (error) {
    if (!isTurnstepError(error, 'log-damaged')) throw error
    return error.message
  }
}

function select(db: Database, sid: number, from: number, limit: number): readonly Commit[] {
  return db.all<Commit>(NEXT, sid, from, limit)
}

/** The events of a valid commit, or what is wrong with it. */
function prove(commit: Commit, tail: number, head: string, ids: Ids): readonly Event[] | string {
  const { first, last, body, hash } = commit
  if (first > tail + 1) return `events ${tail + 1} to ${first - 1} are missing`
  if (first <= tail || last < first)
    return `a record of events ${first} to ${last} stands where event ${tail + 1} belongs`
  if (typeof body !== 'string' || ids.sha256(head + body) !== hash) {
    return `the bytes of events ${first} to ${last} do not have the hash that was recorded with them`
  }
  const events = parseOr<readonly Event[] | null>(body, null)
  const isDense =
    Array.isArray(events) && events.length === last - first + 1 && events.every((event, at) => event.seq === first + at)
  return isDense ? events : `events ${first} to ${last} are not what their record says`
}

function proveHead(row: Row, tail: number, head: string): string | null {
  if (row.tail > tail) return `events ${tail + 1} to ${row.tail} are missing`
  if (row.tail < tail) return `the session says that its log ends at ${row.tail}, but it goes on to ${tail}`
  return row.head === head ? null : `the session names another end of its log than event ${tail}`
}
