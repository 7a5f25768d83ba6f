/**
 * Who is alive. Every store that drives something holds, for its lifetime, an exclusive lock on a small file of its own,
 * `<database>-runners/<incarnation>.lock`. The operating system drops the lock the moment its process dies, and not while it is
 * merely stopped; so whoever can read-lock the file knows that its holder is dead.
 * Invariants: a name is used by one store once; a store that came to hold a lock on a file that was taken away meanwhile gives it
 * up and takes another name, so that removing the file of a dead store can never hide a living one.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { TurnstepError } from '../../kernel/errors.ts'
import type { Ids } from '../../runtime/ports.ts'
import { makeFolder } from '../folder.ts'
import { RESULT, resultCode } from './driver.ts'
import type { Connection, Driver } from './driver.ts'

export class Presence {
  // Only `exec` is used on lock files: libsql closes a file that has had a prepared statement when that was collected, not before.
  readonly #driver: Driver
  readonly #ids: Ids
  readonly #folder: string
  #own: { readonly incarnation: string; readonly lock: Connection } | null = null

  constructor(driver: Driver, ids: Ids, databasePath: string) {
    this.#driver = driver
    this.#ids = ids
    this.#folder = `${databasePath}-runners`
  }

  /** The incarnation of this store; from the first call on it is present. `isTaken` says that a lease names it already. */
  hold(isTaken: (incarnation: string) => boolean): string {
    if (this.#own !== null) return this.#own.incarnation
    this.#clean()
    for (let attempt = 0; attempt < 10; attempt++) {
      const incarnation = this.#ids.next()
      if (isTaken(incarnation) || existsSync(this.#file(incarnation))) continue
      const lock = this.#lock(incarnation)
      if (lock === null) continue
      this.#own = { incarnation, lock }
      return incarnation
    }
    throw new TurnstepError(
      'store-failed',
      `no fresh name for this runner in ${this.#folder} after 10 attempts: is the folder writable, and does the id source give new ids?`,
    )
  }

  /** Whether its store lives. The file of a dead one is removed. What cannot be found out counts as living. */
  isAlive(incarnation: string): boolean {
    if (incarnation === this.#own?.incarnation) return true
    const file = this.#file(incarnation)
    if (!existsSync(file)) return false
    let probe: Connection | null = null
    try {
      probe = this.#driver.open(file)
      // Takes a shared lock only, so that two who ask at once do not take each other for the holder.
      probe.exec('pragma busy_timeout = 0')
      probe.exec('begin; select count(*) from sqlite_master')
      // Under the lock, so that nobody can come to hold it between the two.
      remove(file)
      return false
    } catch {
      // Busy: it lives. Anything else (no permission, a file system without locks) is not a proof of death either.
      return true
    } finally {
      probe?.close()
    }
  }

  /** Gives the lock up: from now on this store counts as dead. */
  release(): void {
    if (this.#own === null) return
    const { incarnation, lock } = this.#own
    this.#own = null
    remove(this.#file(incarnation))
    lock.close()
    remove(this.#file(incarnation))
  }

  #lock(incarnation: string): Connection | null {
    const lock = this.#driver.open(this.#file(incarnation))
    try {
      lock.exec('pragma busy_timeout = 0')
      // Keeps the lock file alone: no journal beside it.
      lock.exec('pragma journal_mode = memory')
      lock.exec('begin exclusive')
      if (existsSync(this.#file(incarnation))) return lock
    } catch (error) {
      if (resultCode(error) !== RESULT.busy) throw error
    }
    lock.close()
    return null
  }

  /** Removes what dead stores left behind, if it is not too much for once. */
  #clean(): void {
    makeFolder(this.#folder)
    for (const name of readdirSync(this.#folder).slice(0, 100)) {
      if (name.endsWith(SUFFIX)) this.isAlive(name.slice(0, -SUFFIX.length))
    }
  }

  #file(incarnation: string): string {
    return join(this.#folder, incarnation + SUFFIX)
  }
}

const SUFFIX = '.lock'

function remove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // Swallows a refusal to remove an open file (Windows): an unlocked file left behind says "dead" just as well.
  }
}
