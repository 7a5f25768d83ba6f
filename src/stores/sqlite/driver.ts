/**
 * The seam to SQLite: six methods that three drivers can give. The first of these that loads is taken: `node:sqlite` where Node has
 * it without a flag (22.13 and newer), an installed `better-sqlite3`, an installed `libsql`.
 * What they do not share is kept out of the SQL: placeholders are plain `?`, since better-sqlite3 takes `?1` for a name; values are
 * text, numbers and null only, since libsql aborts the whole process on a bound boolean; text columns are selected as bytes (`text`
 * in text.ts), since libsql cuts text at a NUL and aborts on text that is not UTF-8, as a damaged file may hold it.
 */
import { TurnstepError } from '../../kernel/errors.ts'

export type SqlValue = string | number | null
export type SqlRow = { readonly [column: string]: SqlValue }
/** A row as the driver gives it. */
export type RawRow = { [column: string]: SqlValue | Uint8Array | ArrayBuffer }

export interface Statement {
  /** Answers how many rows it changed. */
  run(values: readonly SqlValue[]): number
  get(values: readonly SqlValue[]): RawRow | undefined
  all(values: readonly SqlValue[]): readonly RawRow[]
}

export interface Connection {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export type DriverName = 'node:sqlite' | 'better-sqlite3' | 'libsql'

export interface Driver {
  readonly name: DriverName
  /** Opens or creates the file. May throw the driver's own error; `resultCode` reads it. */
  open(path: string): Connection
}

const DRIVERS: readonly DriverName[] = ['node:sqlite', 'better-sqlite3', 'libsql']

/** The first driver that can be loaded, or the named one. Throws `store-driver-missing`. */
export async function loadDriver(only?: DriverName): Promise<Driver> {
  for (const name of only === undefined ? DRIVERS : [only]) {
    const driver = name === 'node:sqlite' ? builtIn() : await installed(name)
    if (driver !== null) return driver
  }
  throw new TurnstepError(
    'store-driver-missing',
    `no SQLite driver in Node ${process.versions.node}: use Node 22.13 or newer, or run \`npm install libsql\` (or better-sqlite3)`,
    { data: { tried: only ?? DRIVERS } },
  )
}

/** SQLite's primary result code behind a driver's error, such as 5 for a busy database; null if it is no error of SQLite's. */
export function resultCode(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null
  const { errcode, rawCode, code } = error as { errcode?: unknown; rawCode?: unknown; code?: unknown }
  if (typeof errcode === 'number') return errcode & 0xff
  if (typeof rawCode === 'number') return rawCode & 0xff
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return null
  return RESULT_CODES[code.split('_')[1]!] ?? RESULT.error
}

/** https://www.sqlite.org/rescode.html */
export const RESULT = {
  error: 1,
  perm: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  constraint: 19,
  notadb: 26,
} as const

const RESULT_CODES: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(RESULT).map(([name, code]) => [name.toUpperCase(), code]),
)

interface NodeStatement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint }
  get(...values: readonly SqlValue[]): RawRow | undefined
  all(...values: readonly SqlValue[]): RawRow[]
}

interface NodeDatabase {
  exec(sql: string): void
  prepare(sql: string): NodeStatement
  close(): void
}

function builtIn(): Driver | null {
  const module = process.getBuiltinModule('node:sqlite') as
    | { readonly DatabaseSync: new (path: string) => NodeDatabase }
    | undefined
  if (module === undefined) return null
  return {
    name: 'node:sqlite',
    open(path) {
      const database = new module.DatabaseSync(path)
      return {
        exec: (sql) => database.exec(sql),
        prepare(sql) {
          const statement = database.prepare(sql)
          return {
            run: (values) => Number(statement.run(...values).changes),
            get: (values) => statement.get(...values),
            all: (values) => statement.all(...values),
          }
        },
        close: () => database.close(),
      }
    },
  }
}

/** What better-sqlite3 and libsql have in common. They take positional values as one array. */
interface PackageDatabase {
  exec(sql: string): unknown
  prepare(sql: string): {
    run(values: readonly SqlValue[]): { readonly changes: number }
    get(values: readonly SqlValue[]): RawRow | undefined
    all(values: readonly SqlValue[]): RawRow[]
  }
  close(): unknown
}

async function installed(name: 'better-sqlite3' | 'libsql'): Promise<Driver | null> {
  let Database: new (path: string) => PackageDatabase
  try {
    const module = (await import(/* @vite-ignore */ name)) as { default: typeof Database }
    Database = module.default
  } catch {
    // Not installed, or its native part does not load here: the next driver may do.
    return null
  }
  return {
    name,
    open(path) {
      const database = new Database(path)
      return {
        exec: (sql) => void database.exec(sql),
        prepare(sql) {
          const statement = database.prepare(sql)
          return {
            run: (values) => statement.run(values).changes,
            get: (values) => statement.get(values),
            all: (values) => statement.all(values),
          }
        },
        close: () => void database.close(),
      }
    },
  }
}
