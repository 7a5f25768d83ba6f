/**
 * Where whole sessions happen in a test: one clock that stands still, one store, and processes on it that live, die and close. Owns
 * the processes; who makes a world closes it, and is told what was left behind.
 */
import { nodeIds } from '../../host/node.ts'
import type { Event } from '../../kernel/events.ts'
import { react } from '../../plugins/react/react.ts'
import type { AgentSpec } from '../../runtime/define/agent.ts'
import type { Append, Appended, Clock, Ids, Random, Store } from '../../runtime/ports.ts'
import { Harness, type HarnessOptions } from '../../runtime/session/harness.ts'
import type { Session } from '../../runtime/session.ts'
import { noSyncPoints, type SyncPoints } from '../../runtime/sync-points.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { after } from '../../util/maybe.ts'
import { FakeClock } from '../fake-clock.ts'
import { Mortal } from './mortal.ts'
import { layerOver } from './store-layer.ts'

export const LEASE_MS = 15_000

/** What a process of a simulation is called. */
export const processName = (number: number): string => `p${number}`

export interface WorldOptions {
  /** The store, or what makes it; default: one in memory. */
  readonly store?: Store | ((clock: Clock) => Store)
  /** The clock of a store that is there already. */
  readonly clock?: FakeClock
  readonly random?: Random
  /** What ids begin with: what goes on with a log must not begin to count again. */
  readonly idPrefix?: string
  /** Hears of every event in the order in which they became durable, whoever wrote them. */
  readonly onDurable?: (events: readonly Event[]) => void
}

export interface ProcessOptions extends HarnessOptions {
  /** Default: `process` and a number. */
  readonly name?: string
  readonly sync?: SyncPoints
  /** What lies between this process and the store. */
  readonly line?: (store: Store, mortal: () => Mortal) => Store
}

/** One process: a harness that can be closed, or killed. */
export class Process {
  readonly name: string
  readonly mortal: Mortal
  readonly harness: Harness
  /** Faults that were nobody's outcome. A test that expects some takes them out. */
  readonly errors: Error[] = []

  constructor(world: World, name: string, options: ProcessOptions) {
    this.name = name
    const { line } = options
    const store = line === undefined ? world.store : line(world.store, () => this.mortal)
    this.mortal = new Mortal({ clock: world.clock, store })
    const ports = {
      store: this.mortal.store,
      clock: this.mortal.clock,
      ids: world.ids,
      random: world.random,
      loop: react,
      owner: name,
      resolveModel: noModel,
      sync: options.sync ?? noSyncPoints,
    }
    this.harness = new Harness(ports, {
      leaseTtlMs: LEASE_MS,
      onError: (error) => this.errors.push(error),
      ...options,
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
  readonly processes: Process[] = []

  constructor(options: WorldOptions = {}) {
    this.clock = options.clock ?? new FakeClock()
    const { store: given = (clock: Clock) => memoryStore({ clock }) } = options
    const store = typeof given === 'function' ? given(this.clock) : given
    this.store = options.onDurable === undefined ? store : heard(store, options.onDurable)
    this.ids = countingIds(options.idPrefix ?? 'i')
    this.random = options.random ?? { next: () => 0.5 }
  }

  start(options: ProcessOptions = {}): Process {
    const process = new Process(this, options.name ?? `process ${this.processes.length + 1}`, options)
    this.processes.push(process)
    return process
  }

  /** Lets everything run that waits for nothing but promises. */
  settle(): Promise<void> {
    return this.clock.settle()
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
    await this.settle()
    for (let moved = 0; !done; moved += 250) {
      if (moved >= limitMs) throw new Error(`nothing within ${limitMs} ms of the clock`)
      await this.clock.advance(250)
    }
    return watched
  }

  /** Those that have not died, closed or not. */
  get living(): readonly Process[] {
    return this.processes.filter(({ mortal }) => !mortal.isDead)
  }

  /** What was left behind, or went wrong and nobody expected. */
  get left(): string[] {
    const left = this.living.flatMap(leftBehind)
    return this.clock.armed === 0 ? left : [...left, `timers left armed: ${this.clock.armed}`]
  }

  /** Closes what lives, and the store. */
  async end(): Promise<void> {
    for (const { harness } of this.living) await this.within(harness.close())
    await this.store.close()
    await this.settle()
  }

  /** Closes what lives. Answers with what was left behind, or went wrong and nobody expected. */
  async closeAll(): Promise<string[]> {
    await this.end()
    return this.left
  }
}

function leftBehind({ name, harness, mortal, errors }: Process): string[] {
  const { drivers, listeners } = harness.alive
  const { timers, watchers } = mortal.leftovers
  const counts = { drivers, listeners, timers, watchers }
  const left = Object.entries(counts).filter(([, count]) => count > 0)
  return [
    ...left.map(([what, count]) => `left by ${name}: ${count} ${what}`),
    ...errors.map((error) => `nobody expected, in ${name}: ${String(error)}`),
  ]
}

/** Ids in the order of their making: the same run gives the same ids. */
function countingIds(prefix: string): Ids {
  let count = 0
  return { next: () => `${prefix}${++count}`, sha256: (text) => nodeIds.sha256(text) }
}

function heard(store: Store, onDurable: (events: readonly Event[]) => void): Store {
  return layerOver(store, (verb, args, run) =>
    after(run(), (answer) => {
      if (verb === 'append' && (answer as Appended).kind === 'appended') onDurable((args[0] as Append).events)
      return answer
    }),
  )
}

function noModel(name: string): never {
  throw new Error(`no model strings here: "${name}"`)
}
