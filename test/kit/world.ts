/**
 * Where tests of whole sessions happen: one clock that stands still, one store, and processes on it that live, die and close. After
 * each test everything is closed, and a timer, a watcher, a driver or a listener that is left fails the test, as does an error
 * that nobody expected.
 */
import { afterEach, expect } from 'vitest'
import { nodeIds } from '../../src/host/node.ts'
import type { Event } from '../../src/kernel/events.ts'
import { react } from '../../src/plugins/react/react.ts'
import type { AgentSpec } from '../../src/runtime/define/agent.ts'
import { Harness, type HarnessOptions } from '../../src/runtime/session/harness.ts'
import type { Append, Clock, Ids, Random, Store } from '../../src/runtime/ports.ts'
import type { Session } from '../../src/runtime/session.ts'
import { noSyncPoints, type SyncPoints } from '../../src/runtime/sync-points.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { drainMicrotasks, FakeClock } from '../../src/testing/fake-clock.ts'
import { testPlugins } from '../setup/plugins.ts'
import { Mortal } from './mortal.ts'

export const LEASE_MS = 15_000

export interface WorldOptions {
  /** The store, or what makes it; default: one in memory. */
  readonly store?: Store | ((clock: Clock) => Store)
  /** The clock of a store that is there already. */
  readonly clock?: FakeClock
  readonly random?: Random
  readonly latency?: () => Promise<void>
  /** What ids begin with: what goes on with a log must not begin to count again. */
  readonly idPrefix?: string
  /** Hears of every event in the order in which they became durable, whoever wrote them. */
  readonly onDurable?: (events: readonly Event[]) => void
}

export interface ProcessOptions extends HarnessOptions {
  readonly sync?: SyncPoints
}

/** One process: a harness that can be closed, or killed. */
export class Process {
  readonly mortal: Mortal
  readonly harness: Harness
  /** Faults that were nobody's outcome. A test that expects some takes them out. */
  readonly errors: Error[] = []

  constructor(world: World, name: string, options: ProcessOptions) {
    this.mortal = new Mortal({ clock: world.clock, store: world.store, ...world.latency })
    const { clock, store } = this.mortal
    const ports = {
      store,
      clock,
      ids: world.ids,
      random: world.random,
      loop: react,
      owner: name,
      resolveModel: noModel,
      sync: options.sync ?? noSyncPoints,
    }
    const plugins = [...testPlugins, ...(options.plugins ?? [])]
    this.harness = new Harness(ports, {
      leaseTtlMs: LEASE_MS,
      onError: (error) => this.errors.push(error),
      ...options,
      plugins,
    })
  }

  open(agent: AgentSpec, session = 's'): Promise<Session> {
    return this.harness.open(agent, { session })
  }
}

export class World {
  readonly clock: FakeClock
  readonly store: Store
  readonly ids: Ids
  readonly random: Random
  readonly latency: { readonly latency?: () => Promise<void> }
  readonly processes: Process[] = []

  constructor(options: WorldOptions = {}) {
    this.clock = options.clock ?? new FakeClock()
    const { store: given = (clock: Clock) => memoryStore({ clock }) } = options
    const store = typeof given === 'function' ? given(this.clock) : given
    this.store = options.onDurable === undefined ? store : heard(store, options.onDurable)
    this.ids = countingIds(options.idPrefix ?? 'i')
    this.random = options.random ?? { next: () => 0.5 }
    this.latency = options.latency === undefined ? {} : { latency: options.latency }
  }

  start(options: ProcessOptions = {}): Process {
    const process = new Process(this, `process ${this.processes.length + 1}`, options)
    this.processes.push(process)
    return process
  }

  /** Lets everything run that waits for nothing but promises. */
  settle(): Promise<void> {
    return drainMicrotasks()
  }

  /** Kills a process, and lets its lease run out. */
  async crash(process: Process, downMs = LEASE_MS): Promise<void> {
    process.mortal.die()
    await this.clock.advance(downMs)
  }

  /** Awaits a promise while the clock moves on, at most `limitMs` of it. */
  async within<T>(promise: Promise<T>, limitMs = 600_000): Promise<T> {
    let done = false
    const watched = promise.finally(() => (done = true))
    watched.catch(() => {})
    await drainMicrotasks()
    for (let moved = 0; !done; moved += 250) {
      if (moved >= limitMs) throw new Error(`nothing within ${limitMs} ms of the clock`)
      await this.clock.advance(250)
    }
    return watched
  }

  /** Closes what lives, and looks for what was left behind. */
  async close(): Promise<void> {
    for (const { harness, mortal } of this.processes) if (!mortal.isDead) await this.within(harness.close())
    await this.store.close()
    await drainMicrotasks()
    const living = this.processes.filter(({ mortal }) => !mortal.isDead)
    for (const { harness, mortal, errors } of living) {
      expect(harness.alive, 'left alive').toEqual({ drivers: 0, listeners: 0 })
      expect(mortal.leftovers, 'left behind').toEqual({ timers: 0, watchers: 0 })
      expect(errors, 'errors that nobody expected').toEqual([])
    }
    expect(this.clock.armed, 'timers left armed').toBe(0)
  }
}

/** Makes worlds for the tests of a file, and closes them after each. */
export function useWorlds(): (options?: WorldOptions) => World {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })
  return (options) => {
    const world = new World(options)
    worlds.push(world)
    return world
  }
}

/** Ids in the order of their making: the same run gives the same ids. */
function countingIds(prefix: string): Ids {
  let count = 0
  return { next: () => `${prefix}${++count}`, sha256: (text) => nodeIds.sha256(text) }
}

function heard(store: Store, onDurable: (events: readonly Event[]) => void): Store {
  const append = async (what: Append): ReturnType<Store['append']> => {
    const answer = await store.append(what)
    if (answer.kind === 'appended') onDurable(what.events)
    return answer
  }
  return new Proxy(store, {
    get(target, key) {
      if (key === 'append') return append
      const value = target[key as keyof Store] as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function noModel(name: string): never {
  throw new Error(`no model strings here: "${name}"`)
}
