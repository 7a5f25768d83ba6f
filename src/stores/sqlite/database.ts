/**
 * One open database file. Owns the pragmas, the prepared statements, the transactions, and the translation of SQLite's errors.
 * Everything is synchronous: no transaction is ever open across an await.
 */
import { dirname } from 'node:path'
import { isTurnstepError, TurnstepError } from '../../kernel/errors.ts'
import { messageOf } from '../../util/text.ts'
import { makeFolder } from '../folder.ts'
import { RESULT, resultCode } from './driver.ts'
import type { Connection, Driver, RawRow, SqlRow, SqlValue, Statement } from './driver.ts'

export class Database {
  readonly path: string
  readonly #connection: Connection
  readonly #statements = new Map<string, Statement>()
  #closed = false

  /** Opens the file, making it and its folder where they are missing. What is in it is not touched yet. */
  constructor(driver: Driver, path: string, busyTimeoutMs: number) {
    this.path = path
    this.#connection = connect(driver, path)
    try {
      this.#connection.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
      for (const pragma of PRAGMAS) this.#connection.exec(`pragma ${pragma}`)
    } catch (error) {
      this.close()
      throw translate(error, path)
    }
  }

  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#use(sql, (statement) => statement.run(values))
  }

  /** The first row. Contract: the statement yields at most one. */
  get<Row extends SqlRow>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    const row = this.#use(sql, (statement) => statement.get(values))
    return row === undefined ? undefined : decode<Row>(row)
  }

  all<Row extends SqlRow>(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.#use(sql, (statement) => statement.all(values)).map((row) => decode<Row>(row))
  }

  exec(sql: string): void {
    this.#guard(() => this.#connection.exec(sql))
  }

  /** Runs `body` as one write transaction. It is undone if `body` throws, or if `keep` refuses what it returned. */
  write<T>(body: () => T, keep: (value: T) => boolean = () => true): T {
    return this.#transaction('begin immediate', body, keep)
  }

  /** Runs `body`, which only reads, on one state of the file. */
  view<T>(body: () => T): T {
    // Nothing to commit: and a commit would fail after a broken page was met, which `body` may have dealt with.
    return this.#transaction('begin', body, () => false)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#statements.clear()
    this.#connection.close()
  }

  /** Gives the file its write-ahead log, unless it has one. Throws `store-unwritable` where it cannot have one. */
  setWal(): void {
    for (let attempt = 1; ; attempt++) {
      try {
        this.exec('pragma journal_mode = wal')
        break
      } catch (error) {
        if (!isTurnstepError(error, 'store-locked') || attempt === WAL_ATTEMPTS) throw error
        // SQLite does not wait here for another process that is making the file at this moment; it does wait for a transaction.
        this.exec('begin immediate; rollback')
      }
    }
    // Where a file system has no shared memory, such as a network disk, SQLite keeps another mode in silence.
    const mode = this.get<{ mode: string }>('select cast(journal_mode as blob) as mode from pragma_journal_mode')?.mode
    if (mode === 'wal') return
    throw new TurnstepError(
      'store-unwritable',
      `${this.path} cannot have a write-ahead log (its mode is ${mode}): give a path on a local disk`,
    )
  }

  #transaction<T>(begin: string, body: () => T, keep: (value: T) => boolean): T {
    this.exec(begin)
    let value: T
    let kept = false
    try {
      value = body()
      kept = keep(value)
      if (kept) this.#connection.exec('commit')
    } catch (error) {
      this.#rollback()
      throw translate(error, this.path)
    }
    if (!kept) this.#rollback()
    return value
  }

  #rollback(): void {
    try {
      this.#connection.exec('rollback')
    } catch {
      // Swallows "no transaction is active": at some errors, such as a full disk, SQLite rolls back by itself.
    }
  }

  #use<T>(sql: string, run: (statement: Statement) => T): T {
    return this.#guard(() => {
      let statement = this.#statements.get(sql)
      if (statement === undefined) {
        statement = this.#connection.prepare(sql)
        this.#statements.set(sql, statement)
      }
      return run(statement)
    })
  }

  #guard<T>(run: () => T): T {
    if (this.#closed) throw new TurnstepError('store-failed', `the store at ${this.path} was closed: open it again`)
    try {
      return run()
    } catch (error) {
      throw translate(error, this.path)
    }
  }
}

/** Text that was selected as bytes, as text again. Bytes that are no UTF-8 become U+FFFD: what was hashed then shows the damage. */
function decode<Row extends SqlRow>(row: RawRow): Row {
  for (const column in row) {
    const value = row[column]
    if (value instanceof Uint8Array)
      row[column] = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
    else if (value instanceof ArrayBuffer) row[column] = Buffer.from(value).toString()
  }
  return row as Row
}

const WAL_ATTEMPTS = 20

/** Set one by one, because their defaults differ between the drivers. */
const PRAGMAS = ['synchronous = full', 'foreign_keys = on', 'wal_autocheckpoint = 1000']

function connect(driver: Driver, path: string): Connection {
  try {
    makeFolder(dirname(path))
    return driver.open(path)
  } catch (error) {
    const code = resultCode(error)
    if (code === RESULT.notadb || code === RESULT.corrupt) throw translate(error, path)
    throw new TurnstepError('store-unwritable', `cannot open or create ${path}: ${messageOf(error)}. ${WRITABLE}`, {
      data: { path },
      cause: error,
    })
  }
}

const WRITABLE = 'Give a path in a folder that this user may write to.'

/** SQLite's error as ours; any other error as it is. */
function translate(error: unknown, path: string): unknown {
  const code = resultCode(error)
  if (code === null || isTurnstepError(error)) return error
  const [name, advice] = ADVICE[code] ?? (['store-failed', 'Try again; if it stays, look at the disk.'] as const)
  return new TurnstepError(name, `${path}: ${messageOf(error)} (SQLite result ${code}). ${advice}`, {
    data: { path, result: code },
    cause: error,
  })
}

const LOCKED = ['store-locked', 'Another process is writing and did not finish in time: try again.'] as const
const UNWRITABLE = ['store-unwritable', WRITABLE] as const
const DAMAGED =
  'The file is damaged, or is no SQLite database. Give another path, or restore a copy; what can still be read of a session can be exported first.'

const ADVICE: Readonly<
  Record<number, readonly ['store-locked' | 'store-unwritable' | 'store-full' | 'log-damaged', string]>
> = {
  [RESULT.busy]: LOCKED,
  [RESULT.locked]: LOCKED,
  [RESULT.perm]: UNWRITABLE,
  [RESULT.readonly]: UNWRITABLE,
  [RESULT.cantopen]: UNWRITABLE,
  [RESULT.full]: ['store-full', 'Nothing was changed: make room on the disk and try again.'],
  [RESULT.corrupt]: ['log-damaged', DAMAGED],
  [RESULT.notadb]: ['log-damaged', DAMAGED],
}
