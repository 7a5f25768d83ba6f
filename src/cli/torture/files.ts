/** The files of a run: which of them count, and what they tell of the stores that were opened beside the run's own. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The files below a folder, as paths from there, sorted. Those that SQLite keeps beside a database while it is open are left out: when
 * they go is up to its driver, and libsql closes a file no sooner than the statements of it were collected.
 */
export function filesIn(folder: string): readonly string[] {
  const all = pathsIn(folder, '')
  const present = new Set(all)
  return all.filter((path) => !/-(?:shm|wal)$/.test(path) || !present.has(path.slice(0, -'-wal'.length))).toSorted()
}

/** The databases below these folders in which a session is driven, or was by a process that died. */
export function drivenIn(folders: readonly string[]): readonly string[] {
  const locks = folders.flatMap((folder) => pathsIn(folder, '').map((path) => join(folder, path)))
  const driven = locks.flatMap((path) => /^(.+)-runners[/\\][^/\\]+\.lock$/.exec(path)?.[1] ?? [])
  return [...new Set(driven)]
}

function pathsIn(folder: string, below: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? pathsIn(join(folder, entry.name), `${below}${entry.name}/`) : [`${below}${entry.name}`],
  )
}
