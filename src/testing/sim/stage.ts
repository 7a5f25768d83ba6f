/**
 * Where a run takes place: the client who writes, the processes that work, what is between them and the store. Owns the processes and
 * how they come up; what happens to them is decided by moves.
 */
import { isTurnstepError } from '../../kernel/errors.ts'
import { sessionId, type SessionId } from '../../kernel/ids.ts'
import type { AgentSpec } from '../../runtime/define/agent.ts'
import type { Clock, Store } from '../../runtime/ports.ts'
import type { Session, SessionHandle } from '../../runtime/session.ts'
import type { SyncPoint } from '../../runtime/sync-points.ts'
import { deferred } from '../../util/deferred.ts'
import { messageOf } from '../../util/text.ts'
import type { Chance } from './chance.ts'
import type { Fate } from './fate.ts'
import type { Mortal } from './mortal.ts'
import { pointMoodOf, troubleOf } from './moods/line.ts'
import type { Hanging } from './moods/tools.ts'
import type { SimStage } from './sim.ts'
import { Disk, troubledStore } from './troubled-store.ts'
import type { Body, Witness } from './witness.ts'
import { processName, type Process, type World } from './world.ts'

export const SESSION: SessionId = sessionId('s')

/** What may happen, to all that a run has. */
export interface Action<Params = unknown> {
  readonly name: string
  readonly weight: number
  propose(stage: Stage, chance: Chance): Params | null
  perform(stage: Stage, params: Params): Promise<unknown> | void
}

/** A process that works on the session. */
export interface Worker {
  readonly number: number
  readonly process: Process
  session: Session | null
}

/** How much goes wrong in this run; 0: nothing of the kind. */
export interface Rates {
  readonly store: number
  readonly sync: number
}

export interface StageOptions {
  readonly world: World
  readonly seen: Witness
  readonly fate: Fate
  readonly rates: Rates
  /** The agent as a process opens it. */
  readonly specFor: (worker: Worker, hanging: Hanging) => AgentSpec
}

/** What the ids of followups, steers and notes begin with: these are posted once more by `again`, those of control are not. */
const MESSAGE_PREFIXES: ReadonlySet<string> = new Set(['f', 's', 'n'])

/** A delay that is longer counts as a disturbance. */
const SHORT_MS = 20

export class Stage implements SimStage {
  readonly world: World
  readonly seen: Witness
  readonly disk = new Disk()
  readonly workers: Worker[] = []
  /** Ids of messages that were given out, posted or not. */
  readonly posted: string[] = []
  /** The highest number that a process has had. */
  started = 0
  session!: SessionHandle
  readonly #options: StageOptions
  readonly #hanging: Hanging = new Map()
  /** Troubles that last, each with what ends it, and what takes its timer back. */
  readonly #passing = new Map<() => void, () => void>()
  #ids = 0
  #hasBegun = false

  constructor(options: StageOptions) {
    this.#options = options
    this.world = options.world
    this.seen = options.seen
  }

  get clock(): Clock {
    return this.world.clock
  }

  /** The client attaches to a session that is there. Calm: nothing has happened yet. */
  async begin(): Promise<void> {
    await this.world.store.create(SESSION)
    const client = this.world.start({ line: (store, mortal) => this.#line('client', store, mortal), onError: () => {} })
    this.session = await this.world.within(client.harness.attach(SESSION))
    this.#hasBegun = true
  }

  fresh = (prefix: string): string => {
    const id = `${prefix}${++this.#ids}`
    if (MESSAGE_PREFIXES.has(prefix)) this.posted.push(id)
    return id
  }

  later(ms: number, run: () => void): void {
    this.seen.disturb()
    const due = (): void => {
      this.#passing.delete(due)
      this.seen.disturb()
      run()
    }
    this.#passing.set(due, this.world.clock.after(ms, due))
  }

  /** What was to pass, passes now. */
  mend(): void {
    for (const [due, cancel] of this.#passing) {
      cancel()
      due()
    }
  }

  worker(number: number): Worker | undefined {
    return this.workers.find((worker) => worker.number === number)
  }

  /** Takes it off the stage: it is about to end. */
  takeWorker(number: number): Worker | undefined {
    const at = this.workers.findIndex((worker) => worker.number === number)
    this.seen.disturb()
    return at < 0 ? undefined : this.workers.splice(at, 1)[0]
  }

  startWorker(number: number): Worker | undefined {
    if (this.worker(number) !== undefined) return undefined
    this.started = Math.max(this.started, number)
    const name = processName(number)
    const process = this.world.start({
      name,
      line: (store, mortal) => this.#line(name, store, mortal),
      sync: { reach: (point) => this.#reach(name, number, point) },
      onError: () => {},
    })
    const worker: Worker = { number, process, session: null }
    this.workers.push(worker)
    void process.open(this.#options.specFor(worker, this.#hanging), SESSION).then(
      (session) => (worker.session = session),
      (error: unknown) => this.#notOpened(worker, error),
    )
    return worker
  }

  freeze(number: number, ms: number): void {
    const mortal = this.worker(number)?.process.mortal
    if (mortal === undefined) return
    mortal.freeze()
    this.later(ms, () => mortal.thaw())
  }

  /** Whether it lives, and reaches a store that takes what it writes. */
  isWell(name: string): boolean {
    const worker = this.workers.find(({ process }) => process.name === name)
    if (worker === undefined) return false
    const { isDead, isFrozen, isCut } = worker.process.mortal
    return !isDead && !isFrozen && !isCut && !this.disk.isFull
  }

  /** Some process that has the session open is well. */
  get isAttended(): boolean {
    return this.workers.some(({ process, session }) => session !== null && this.isWell(process.name))
  }

  /** A runner gave its lease back because of a fault: one of ours, or one of those that were made? */
  async inquire(name: string): Promise<void> {
    const worker = this.workers.find(({ process }) => process.name === name)
    await this.world.settle()
    try {
      await worker?.session?.settled()
    } catch (error) {
      this.#judge(name, error)
    }
  }

  /** Bodies that wait to be let go, in processes that are not standing still. */
  get hanging(): Body[] {
    return [...this.#hanging.keys()].filter(({ process }) => this.worker(process)?.process.mortal.isFrozen !== true)
  }

  letGo(at: number): void {
    const body = this.hanging[at]
    if (body !== undefined) this.#hanging.get(body)!.resolve()
  }

  letAllGo(): void {
    for (const end of this.#hanging.values()) end.resolve()
  }

  #line(name: string, store: Store, mortal: () => Mortal): Store {
    const { fate, rates } = this.#options
    const watched: Store = {
      ...store,
      release: (session, fence, how) => {
        if (how.wake.length === 0 && name !== 'client') void this.inquire(name)
        return store.release(session, fence, how)
      },
    }
    return troubledStore(watched, {
      clock: this.world.clock,
      disk: this.disk,
      isNext: ({ fence, tail }) => fence === this.seen.fence && tail === this.seen.log.length,
      die: () => {
        mortal().die()
        this.takeWorker(Number(name.slice(1)))
      },
      trouble: (verb) => {
        if (rates.store === 0 || !this.#hasBegun) return null
        const trouble = troubleOf(fate, name, verb, { rate: rates.store, mayDie: name !== 'client' })
        if (trouble !== null && (!Array.isArray(trouble) || trouble[0] + trouble[1] > SHORT_MS)) this.seen.disturb()
        return trouble
      },
    })
  }

  #reach(name: string, number: number, point: SyncPoint): void | Promise<void> {
    const { fate, rates } = this.#options
    const { mortal } = this.worker(number)?.process ?? {}
    if (rates.sync === 0 || mortal === undefined) return
    const mood = pointMoodOf(fate, name, point, rates.sync)
    if (mood === null) return
    if (mood === 'dies') {
      mortal.die()
      this.takeWorker(number)
      return new Promise(() => {})
    }
    const [kind, ms] = mood
    if (kind === 'freezes') {
      this.freeze(number, ms)
      return mortal.pause() ?? undefined
    }
    this.seen.disturb()
    const end = deferred<void>()
    mortal.clock.after(ms, () => end.resolve())
    return end.promise
  }

  /** Another drives it, or the store failed: it ends, and another may come up. */
  #notOpened(worker: Worker, error: unknown): void {
    this.#judge(worker.process.name, error)
    this.takeWorker(worker.number)
    void worker.process.harness.close()
  }

  /** What passes, or was made to happen here, is no fault; a broken rule, and what nobody knows, is. */
  #judge(name: string, error: unknown): void {
    if (isTurnstepError(error) && error.class === 'retry') return
    if (isTurnstepError(error, 'session-closed')) return
    // One that has lost its lease, and reads what another has torn, before it is mended.
    if (isTurnstepError(error, 'log-damaged') && this.disk.wasTorn) return
    const rule = isTurnstepError(error, 'rule-broken') ? ruleOf(error.message) : 'stopped'
    this.seen.fail(rule, `${name} stops: ${messageOf(error)}`)
  }
}

function ruleOf(message: string): string {
  return /breaks ([A-Z]\d+)/.exec(message)?.[1] ?? 'stopped'
}
