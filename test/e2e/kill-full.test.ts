/** A disk that is full in the middle of a turn: a real file that may not grow, and then may again. */
import { execFileSync, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { owedWrites, proveWhole, readLog, withStore } from './aftermath.ts'
import type { Scene, Worker } from './processes.ts'
import { useScenes } from './processes.ts'

const scene = useScenes()
const job = { scenario: 'long', send: 'go', stay: true } as const
const hasLimits = spawnSync('prlimit', ['--version']).status === 0

describe('case 054: a disk that is full', () => {
  it.skipIf(!hasLimits)(
    'loses nothing that was acknowledged, and the turn goes on in the same process when there is room',
    async () => {
      const one = scene()
      const worker = one.start({ ...job, delayMs: 20 })
      await worker.until(() => worker.lines.filter((line) => line.what === 'effect').length >= 4)
      // From here on no file of this process may grow beyond what the write-ahead log has now: not even the lease can be given back.
      limitFiles(worker, String(statSync(`${one.db}-wal`).size))
      const fault = await worker.says('fell')
      expect(fault.code).toMatch(/^store-/)
      const before = await readLog(one, ['go'])
      expect(before.receipts['go']).toMatchObject({ kind: 'entered' })
      expect(before.damage).toBeNull()
      expect(one.effects().length).toBeLessThan(10)
      expect(await leaseOf(one)).toMatchObject({ owner: `worker ${worker.pid}` })

      const owed = new Set(owedWrites(before))
      limitFiles(worker, 'unlimited')
      expect(await worker.says('ended')).toMatchObject({ kind: 'completed' })
      await worker.kill()
      const log = await readLog(one, ['go'])
      expect(log.events.slice(0, before.events.length)).toEqual(before.events)
      proveWhole(one, log, owed, 'full and not full')
    },
    30_000,
  )

  function limitFiles(worker: Worker, bytes: string): void {
    execFileSync('prlimit', ['--pid', String(worker.pid), `--fsize=${bytes}:unlimited`])
  }

  const leaseOf = (one: Scene) => withStore(one, async (store) => (await store.list())[0]?.lease)

  it.skipIf(!hasLimits)(
    'killed while it is full, another process goes on',
    async () => {
      const one = scene()
      const worker = one.start(job, ['bash', '-c', 'ulimit -S -f 500; exec "$0" "$@"'])
      await worker.says('fell')
      await worker.kill()
      const owed = new Set(owedWrites(await readLog(one)))
      const next = one.start({ ...job, stay: false })
      await next.says('idle')
      proveWhole(one, await readLog(one, ['go']), owed, 'killed while full')
    },
    30_000,
  )
})
