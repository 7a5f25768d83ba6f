/** The layout of the file, as numbered migrations. One that was released is never edited; a change is a new one at the end. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Ids } from '../../runtime/ports.ts'
import { Database } from './database.ts'
import type { Driver } from './driver.ts'
import { text } from './text.ts'

/**
 * Ordinary rowid tables: `without rowid` was four times larger with rows of this size. `head` is the hash of the newest commit;
 * a trigger moves it with every commit, so that a plain append is one statement, a third cheaper than a transaction of four.
 * `stamp` rises with every change that watchers should hear of, and an input keeps the stamp of its newest change; lanes are bits and ids
 * are escaped (see text.ts).
 */
const MIGRATIONS: readonly string[] = [
  `create table sessions (
    sid integer primary key autoincrement,
    session text not null unique,
    tail integer not null default 0,
    head text not null default '',
    fence integer not null default 0,
    holder text,
    owner text,
    since integer,
    wake_lanes integer not null,
    wake_at integer,
    wake_since integer not null default 0,
    arrivals integer not null default 0,
    stamp integer not null default 0,
    created_at integer not null,
    updated_at integer not null
  );
  create index sessions_wake on sessions (wake_at) where wake_at is not null;
  create index sessions_held on sessions (holder) where holder is not null;
  create table commits (
    sid integer not null references sessions on delete cascade,
    first_seq integer not null,
    last_seq integer not null,
    body text not null,
    hash text not null,
    at integer not null,
    unique (sid, first_seq)
  );
  create trigger commits_move_the_head after insert on commits begin
    update sessions set tail = new.last_seq, head = new.hash, stamp = stamp + 1, updated_at = new.at where sid = new.sid;
  end;
  create table inputs (
    sid integer not null references sessions on delete cascade,
    id text not null,
    lane integer not null,
    body text not null,
    version integer not null default 1,
    arrival integer not null,
    at integer not null,
    tail integer not null,
    not_before integer,
    state text,
    settled_seq integer,
    unique (sid, id)
  );
  create index inputs_pending on inputs (sid, arrival) where state is null;
  create table partials (sid integer primary key references sessions on delete cascade, body text not null);
  create table snapshots (
    sid integer not null references sessions on delete cascade,
    seq integer not null,
    body text not null,
    hash text not null,
    anchor text not null,
    unique (sid, seq)
  );
  create table quarantine (
    sid integer not null references sessions on delete cascade,
    first_seq integer,
    last_seq integer,
    body text,
    hash text,
    found_at integer not null,
    reason text not null
  );`,
  // What changed in a queue is asked for by stamp, what is pending by lane: neither costs what the queue is long.
  `alter table inputs add column changed integer not null default 0;
  create index inputs_changed on inputs (sid, changed);
  create index inputs_queue on inputs (sid, lane, arrival, tail, not_before) where state is null;
  create index inputs_timed on inputs (sid, not_before) where state is null and not_before is not null;
  drop index inputs_pending;
  create trigger inputs_arrive after insert on inputs begin
    update sessions set arrivals = new.arrival, stamp = new.changed, updated_at = new.at where sid = new.sid;
  end;`,
  // What was mended of a log, for as long as that ends with `head`: any append moves it on.
  `create table repairs (sid integer primary key references sessions on delete cascade, head text not null, body text not null);`,
]

/** Opens a file and brings it to the newest layout. Writes nothing if it has it already. Throws as `sqliteStore` does. */
export function openDatabase(
  driver: Driver,
  path: string,
  options: { busyTimeoutMs: number; ids: Ids; now: number },
): Database {
  const database = new Database(driver, path, options.busyTimeoutMs)
  try {
    // First of all: the file of another program is not even given a write-ahead log.
    assertOurs(database)
    database.setWal()
    migrate(database, options.ids, options.now)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function assertOurs(database: Database): void {
  const tables = tablesOf(database)
  if (tables.length === 0 || tables.includes('turnstep_migrations')) return
  throw new TurnstepError(
    'config-invalid',
    `${database.path} is the database of another program (it has a table ${tables[0]}): give another path`,
  )
}

function tablesOf(database: Database): readonly string[] {
  return database
    .all<{ name: string }>(`select ${text('name')} from sqlite_master where type = 'table'`)
    .map(({ name }) => name)
}

function migrate(database: Database, ids: Ids, now: number): void {
  const checksums = MIGRATIONS.map((sql) => ids.sha256(sql))
  if (pending(database, checksums) === 0) return
  database.write(() => {
    database.run(
      'create table if not exists turnstep_migrations (n integer primary key, checksum text not null, at integer not null)',
    )
    // Counted again under the lock: another process may have been first.
    for (let n = MIGRATIONS.length - pending(database, checksums); n < MIGRATIONS.length; n++) {
      database.exec(MIGRATIONS[n]!)
      database.run('insert into turnstep_migrations (n, checksum, at) values (?, ?, ?)', n + 1, checksums[n]!, now)
    }
  })
}

/** How many migrations are still to be done. */
function pending(database: Database, checksums: readonly string[]): number {
  if (tablesOf(database).length === 0) return checksums.length
  const done = database.all<{ n: number; checksum: string }>(
    `select n, ${text('checksum')} from turnstep_migrations order by n`,
  )
  const odd = done.find(({ n, checksum }) => checksums[n - 1] !== checksum)
  if (odd === undefined) return checksums.length - done.length
  const how = odd.n > checksums.length ? 'unknown here' : 'a different one'
  throw new TurnstepError(
    'store-newer',
    `${database.path} was laid out by another version of turnstep, its migration ${odd.n} is ${how}: update turnstep, or give another path`,
    { data: { path: database.path, migration: odd.n, known: checksums.length } },
  )
}
