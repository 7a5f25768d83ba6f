/**
 * SQLite without turnstep: the same driver, opened raw, and a record of everything that turnstep wrote through it. Replaying the record
 * is what the same commits of the same bytes cost when nobody thinks about them.
 */

/** One statement that wrote, and the values it was given, as the driver took them. */
interface Write {
  readonly sql: string
  /** Null: run as it stands, without being prepared. */
  readonly values: readonly unknown[] | null
}

/** Writes that became durable together. `begin` is null for a statement that was its own transaction. */
interface Transaction {
  readonly begin: string | null
  readonly writes: readonly Write[]
}

/** All that was written to one database, in order. */
export interface Recording {
  readonly transactions: readonly Transaction[]
}

interface RawStatement {
  run(...values: readonly unknown[]): { readonly changes: number | bigint }
  get(...values: readonly unknown[]): Record<string, unknown> | undefined
  all(...values: readonly unknown[]): readonly Record<string, unknown>[]
}

/** What the drivers have in common. */
export interface RawDatabase {
  exec(sql: string): unknown
  prepare(sql: string): RawStatement
  close(): unknown
}

type DatabaseClass = new (path: string) => RawDatabase

/** The driver that turnstep takes: the first of these that is there. */
export async function loadDriver(): Promise<{ readonly name: string; readonly Database: DatabaseClass }> {
  const builtIn = process.getBuiltinModule('node:sqlite') as { DatabaseSync: DatabaseClass } | undefined
  if (builtIn !== undefined) return { name: 'node:sqlite', Database: builtIn.DatabaseSync }
  for (const name of ['better-sqlite3', 'libsql']) {
    try {
      return { name, Database: ((await import(name)) as { default: DatabaseClass }).default }
    } catch {
      // Not installed: the next one.
    }
  }
  throw new Error('there is no SQLite driver here: npm install libsql')
}

/** Records what is written while it is on, by any connection that is opened meanwhile; the one with a log is turnstep's. */
export class Recorder {
  readonly #databases = new Map<RawDatabase, OpenRecording>()
  readonly #undo: () => void

  constructor(Database: DatabaseClass) {
    const proto = Database.prototype as RawDatabase
    const { exec, prepare } = proto
    const of = (database: RawDatabase): OpenRecording => {
      const known = this.#databases.get(database) ?? new OpenRecording()
      this.#databases.set(database, known)
      return known
    }
    proto.exec = function (sql) {
      const done = exec.call(this, sql)
      of(this).executed(sql)
      return done
    }
    proto.prepare = function (sql) {
      const recording = of(this)
      const statement = prepare.call(this, sql)
      const run = statement.run.bind(statement)
      statement.run = (...values) => {
        const done = run(...values)
        if (Number(done.changes) > 0 || isSchema(sql)) recording.wrote({ sql, values })
        return done
      }
      return statement
    }
    this.#undo = () => Object.assign(proto, { exec, prepare })
  }

  /** The log's database. */
  get log(): OpenRecording {
    const found = [...this.#databases.values()].find((one) => one.hasLog)
    if (found === undefined) throw new Error('nothing was committed through this driver')
    return found
  }

  stop(): void {
    this.#undo()
  }
}

/** The writes of one connection so far. */
class OpenRecording implements Recording {
  readonly transactions: Transaction[] = []
  #begin: string | null = null
  #open: Write[] | null = null

  get hasLog(): boolean {
    return this.transactions.some(({ writes }) => writes.some(({ sql }) => sql.startsWith('insert into commits')))
  }

  executed(sql: string): void {
    if (/^begin\b[^;]*$/.test(sql)) {
      this.#begin = sql
      this.#open = []
    } else if (sql === 'commit') {
      if (this.#open !== null && this.#open.length > 0)
        this.transactions.push({ begin: this.#begin, writes: this.#open })
      this.#open = null
    } else if (sql === 'rollback') this.#open = null
    else this.wrote({ sql, values: null })
  }

  wrote(write: Write): void {
    if (this.#open === null) this.transactions.push({ begin: null, writes: [write] })
    else this.#open.push(write)
  }
}

const isSchema = (sql: string): boolean => /^\s*create\b/.test(sql)

/** Plays a recording into a database of its own. */
export class Replay {
  readonly database: RawDatabase
  readonly #statements = new Map<string, RawStatement>()

  constructor(database: RawDatabase) {
    this.database = database
  }

  play(transactions: readonly Transaction[]): void {
    for (const { begin, writes } of transactions) {
      if (begin !== null) this.database.exec(begin)
      for (const write of writes) this.#write(write)
      if (begin !== null) this.database.exec('commit')
    }
  }

  #write({ sql, values }: Write): void {
    if (values === null) return void this.database.exec(sql)
    let statement = this.#statements.get(sql)
    if (statement === undefined) this.#statements.set(sql, (statement = this.database.prepare(sql)))
    statement.run(...values)
  }
}

/** Everything in the tables of turnstep, as text: two databases with the same writes say the same. */
export function contentsOf(database: RawDatabase): string {
  const tables = ['sessions', 'commits', 'inputs', 'snapshots', 'partials']
  return JSON.stringify(tables.map((table) => database.prepare(`select * from ${table} order by 1, 2`).all()))
}

/** Puts the write-ahead log back into the file: a driver may leave that for later when it closes one. */
export async function settleFile(path: string): Promise<void> {
  const { Database } = await loadDriver()
  const database = new Database(path)
  const answer = database.prepare('pragma wal_checkpoint(truncate)').get()
  if (answer?.['busy'] !== 0) throw new Error(`${path} is still in use`)
  database.close()
}
