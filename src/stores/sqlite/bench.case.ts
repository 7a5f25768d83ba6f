/** What the tests of the SQLite store share. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeIds } from '../../host/node.ts'
import type { Store } from '../../runtime/ports.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import type { StoreBench } from '../contract.case.ts'
import { loadDriver } from './driver.ts'
import type { Connection, Driver, DriverName } from './driver.ts'
import { sqliteStore } from './store.ts'

/** The drivers that this Node and this checkout have. */
export async function presentDrivers(): Promise<readonly DriverName[]> {
  const present: DriverName[] = []
  for (const name of ['node:sqlite', 'better-sqlite3', 'libsql'] as const) {
    const found = await loadDriver(name).then(
      () => true,
      () => false,
    )
    if (found) present.push(name)
  }
  return present
}

export interface SqliteBench extends StoreBench {
  readonly path: string
  readonly driver: Driver
  /** A connection past the store, closed with the bench: to damage the file, or to look at it. */
  raw(): Connection
}

/** A store in a fresh folder. */
export async function sqliteBench(name?: DriverName): Promise<SqliteBench> {
  const folder = mkdtempSync(join(tmpdir(), 'turnstep-store-'))
  const path = join(folder, 'sessions.db')
  const clock = new FakeClock()
  const driver = await loadDriver(name)
  const open = (): Promise<Store> => sqliteStore({ path, clock, ids: nodeIds, busyTimeoutMs: 500, driver: driver.name })
  const closing: (() => Promise<void> | void)[] = []
  const another = async (): Promise<Store> => {
    const store = await open()
    closing.push(() => store.close())
    return store
  }
  return {
    store: await another(),
    clock,
    path,
    driver,
    another,
    raw() {
      const connection = driver.open(path)
      closing.push(() => connection.close())
      return connection
    },
    // A store that was closed without releasing its leases looks to the others exactly like one whose process died.
    kill: (store) => store.close(),
    async close() {
      for (const close of closing.splice(0)) await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
