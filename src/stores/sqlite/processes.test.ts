import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { nodeClock, nodeIds } from '../../host/node.ts'
import type { Event } from '../../kernel/events.ts'
import { inputId } from '../../kernel/ids.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../runtime/ports.ts'
import { drive, LEASE, message, SESSION, write } from '../contract.case.ts'
import { sqliteBench } from './bench.case.ts'
import type { SqliteBench } from './bench.case.ts'
import { sqliteStore } from './store.ts'

const WORKER = fileURLToPath(new URL('fixtures/worker.mjs', import.meta.url))
const DIST = new URL('../../../dist/', import.meta.url)
const BUILT = fileURLToPath(new URL('index.js', DIST))

interface Told {
  readonly put?: string
  readonly appended?: number
  readonly held?: string
  readonly owner?: string
  readonly posted?: boolean
}

interface Worker {
  readonly process: ChildProcess
  readonly told: Told[]
  /** Resolves once the process has ended, with its exit code; null if it was killed. */
  readonly ended: Promise<number | null>
}

/** Waits until it is so; at most half a minute. */
const until = (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> =>
  eventually(isSo, { limitMs: 30_000, what })

/** The log has no gap, each lease wrote from one process only, later leases after earlier ones. Answers who wrote, and what. */
async function proveLog(store: Store): Promise<{ entered: readonly string[]; writers: ReadonlySet<string> }> {
  const { events, tail, damage } = await store.read(SESSION)
  expect([damage, await store.verify(SESSION)]).toEqual([null, null])
  expect(events.map((event) => event.seq)).toEqual(Array.from({ length: tail }, (_, at) => at + 1))
  const noted = events as readonly (Event & { readonly key: string; readonly value: string })[]
  const writers = new Map<number, string>()
  let fence = 0
  for (const event of noted) {
    expect(event.fence).toBeGreaterThanOrEqual(fence)
    expect(writers.get(event.fence) ?? event.key).toBe(event.key)
    writers.set(event.fence, event.key)
    fence = event.fence
  }
  return { entered: noted.map((event) => event.value), writers: new Set(writers.values()) }
}

describe('several processes on one file', { timeout: 60_000 }, () => {
  const benches: SqliteBench[] = []
  const workers: Worker[] = []
  const stores: Store[] = []

  beforeAll(() => {
    if (!existsSync(BUILT)) throw new Error('the workers run the built package: run `npm run build` first')
  })
  afterEach(async () => {
    for (const worker of workers.splice(0)) {
      worker.process.kill('SIGKILL')
      await worker.ended
    }
    for (const store of stores.splice(0)) await store.close()
    for (const bench of benches.splice(0)) await bench.close()
  })

  const open = async (): Promise<{ store: Store; path: string }> => {
    const bench = await sqliteBench()
    benches.push(bench)
    const store = await sqliteStore({ path: bench.path, clock: nodeClock, ids: nodeIds })
    stores.push(store)
    await store.create(SESSION)
    return { store, path: bench.path }
  }

  const start = (mode: string, path: string, name = 'w'): Worker => {
    const child = fork(WORKER, [mode, path, name], { execArgv: [] })
    const told: Told[] = []
    child.on('message', (message) => told.push(message as Told))
    const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
    const worker = { process: child, told, ended }
    workers.push(worker)
    return worker
  }

  const startHolder = async (path: string): Promise<Worker> => {
    const worker = start('hold', path)
    await until(() => worker.told.length > 0, 'a worker that holds the lease')
    expect(worker.told[0]?.held).toBe('acquired')
    return worker
  }

  it('L1, I1, I2, W1, case 090: four processes post and drive at once: no gap, no input lost or doubled, one writer at a time', async () => {
    const { store, path } = await open()
    const four = ['a', 'b', 'c', 'd'].map((name) => start('drive', path, name))
    await until(() => four.every((worker) => worker.told.some((told) => told.posted)), 'four workers that have posted')
    const posted = four.flatMap((worker) => worker.told.flatMap((told) => told.put ?? []))
    expect(posted).toHaveLength(160)
    await until(async () => (await store.pending(SESSION)).length === 0, 'an empty queue')
    for (const worker of four) worker.process.send('stop')
    expect(await Promise.all(four.map((worker) => worker.ended))).toEqual([0, 0, 0, 0])

    const { entered, writers } = await proveLog(store)
    expect(entered.toSorted()).toEqual(posted.toSorted())
    expect(writers.size).toBeGreaterThan(1)
    expect(readdirSync(`${path}-runners`)).toEqual([])
  })

  it('L4: several processes may make the file at the same moment', async () => {
    const { path } = await open()
    const fresh = `${path}.fresh`
    const four = ['a', 'b', 'c', 'd'].map((name) => start('post', fresh, name))
    expect(await Promise.all(four.map((worker) => worker.ended))).toEqual([0, 0, 0, 0])
    const store = await sqliteStore({ path: fresh, clock: nodeClock, ids: nodeIds })
    stores.push(store)
    expect(await store.pending(SESSION)).toHaveLength(4)
  })

  it('W4, I2: drivers killed amid their work cost no input, and none enters twice', async () => {
    const { store, path } = await open()
    const three = ['a', 'b', 'c'].map((name) => start('drive', path, name))
    await until(() => three.every((worker) => worker.told.length > 10), 'three workers amid their posts')
    for (const worker of three.slice(0, 2)) worker.process.kill('SIGKILL')
    const [, , survivor] = three
    await until(() => survivor!.told.some((told) => told.posted === true), 'a survivor that has posted')
    await until(async () => (await store.pending(SESSION)).length === 0, 'an empty queue')
    survivor!.process.send('stop')
    expect(await survivor!.ended).toBe(0)
    const { entered } = await proveLog(store)
    expect(new Set(entered).size).toBe(entered.length)
    const posted = three.flatMap((worker) => worker.told.flatMap((told) => told.put ?? []))
    expect(posted.filter((id) => !entered.includes(id))).toEqual([])
  })

  it('W4: a driver killed with SIGKILL is taken over at once, and its lock file is cleaned up', async () => {
    const { store, path } = await open()
    const worker = await startHolder(path)
    const owner = worker.told[0]!.owner
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy', owner })
    expect(await store.list()).toMatchObject([{ lease: { owner } }])
    expect(await store.due()).toEqual([])
    worker.process.kill('SIGKILL')
    await worker.ended
    expect(await store.due()).toEqual([SESSION])
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired', fence: 2 })
    expect(readdirSync(`${path}-runners`)).toHaveLength(1)
  })

  it('L4: a stopped driver keeps its session; once it is gone another has it', async () => {
    const { store, path } = await open()
    const worker = await startHolder(path)
    worker.process.kill('SIGSTOP')
    await pause(nodeClock, 100)
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'busy' })
    expect(await store.due()).toEqual([])
    expect(await store.put(SESSION, message('i1'))).toEqual({ kind: 'queued' })
    worker.process.kill('SIGKILL')
    await worker.ended
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired' })
  })

  it('W5: a store that is closed with leases leaves them to the next at once', async () => {
    const { store, path } = await open()
    const worker = await startHolder(path)
    worker.process.disconnect()
    expect(await worker.ended).toBe(0)
    expect(await store.acquire(SESSION, LEASE)).toMatchObject({ kind: 'acquired' })
  })

  it('L1, I1: kill -9 amid a stream of appends and posts loses nothing that was acknowledged', async () => {
    const { store, path } = await open()
    for (const time of [1, 2, 3]) {
      const worker = start('stream', path, `r${time}`)
      await until(() => worker.told.length > 60, 'a stream of appends')
      worker.process.kill('SIGKILL')
      await worker.ended
      const appended = Math.max(...worker.told.map((told) => told.appended ?? 0))
      const { events, tail, damage } = await store.read(SESSION)
      expect([damage, await store.verify(SESSION)]).toEqual([null, null])
      expect(tail).toBeGreaterThanOrEqual(appended)
      expect(events).toHaveLength(tail)
      for (const { put } of worker.told) {
        if (put !== undefined) expect(await store.receipt(SESSION, inputId(put))).toEqual({ kind: 'queued' })
      }
      const heir = await drive(store)
      expect(heir.tail).toBe(tail)
      expect(await store.append(write(heir.fence, tail, ['after']))).toMatchObject({ kind: 'appended' })
      await store.release(SESSION, heir.fence, { wake: ['control'] })
    }
  })

  it('L4: a watcher hears of what another process posted', async () => {
    const { store, path } = await open()
    let heard = 0
    const off = store.watch(SESSION, () => heard++)
    const worker = start('post', path)
    expect(await worker.ended).toBe(0)
    await until(() => heard > 0, 'a change made by another process')
    expect(await store.pending(SESSION)).toHaveLength(1)
    off()
  })
})
