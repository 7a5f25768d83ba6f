/** What every scenario is run with: a ledger, a folder, chance, and processes to start and kill. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Chance } from '../src/testing/sim/chance.ts'
import { inLanes } from '../src/util/lanes.ts'
import type { Options } from './options.ts'
import type { Ledger } from './outside.ts'
import { Talker } from './process.ts'
import type { Findings } from './report.ts'
import type { Job, LedgerMoment, Line, LineOf, ScenarioName } from './talk.ts'

/** A scenario: what its agent process does, and how it is run and judged. */
export interface Scenario {
  /** One life, in a process of its own. */
  live(job: Job): Promise<void>
  run(rig: Rig): Promise<Findings>
}

/** When a process is killed: so many milliseconds after its `start`, or when its payment has come so far. */
export type Moment = { readonly kind: 'slice'; readonly afterMs: number } | { readonly kind: LedgerMoment }

/** The moments of a payment, each of which a kill may hit. */
export const PAYMENT: readonly Moment[] = [{ kind: 'arrived' }, { kind: 'recorded' }, { kind: 'answered' }]

/** The moment in words. */
export const nameOf = (moment: Moment): string =>
  moment.kind === 'slice' ? `${moment.afterMs.toFixed(1)} ms after its start` : `when its payment ${HAD[moment.kind]}`

const HAD: Readonly<Record<LedgerMoment, string>> = {
  arrived: 'had arrived',
  recorded: 'was recorded',
  answered: 'was answered',
}

const CHILD = join(import.meta.dirname, 'child.js')

export class Rig {
  readonly options: Options
  readonly ledger: Ledger
  readonly chance: Chance
  /** Sessions that could not be run to their end. */
  readonly broken: string[] = []
  readonly #folder: string
  readonly #progress: (text: string) => void
  #sessions = 0

  constructor(parts: {
    readonly options: Options
    readonly ledger: Ledger
    readonly folder: string
    readonly progress: (text: string) => void
  }) {
    this.options = parts.options
    this.ledger = parts.ledger
    this.chance = new Chance(parts.options.seed)
    this.#folder = parts.folder
    this.#progress = parts.progress
  }

  /** The first life of a session of its own, with its own file and its own order. */
  firstJob(scenario: ScenarioName, variant?: string): Job {
    const order = `${scenario}${++this.#sessions}`
    const folder = join(this.#folder, order)
    mkdirSync(folder)
    const { effect } = this.options
    return {
      scenario,
      db: join(folder, 'sessions.db'),
      ledger: this.ledger.url,
      order,
      effect,
      life: 1,
      sends: true,
      seed: this.chance.below(2 ** 31),
      ...(variant === undefined ? {} : { variant }),
    }
  }

  start(job: Job): Talker<Line> {
    return new Talker<Line>(CHILD, [JSON.stringify(job)])
  }

  /** One moment in each of so many equal slices of a time. */
  slices(count: number, spanMs: number): Moment[] {
    return Array.from({ length: count }, (_, at) => ({
      kind: 'slice',
      afterMs: ((at + this.chance.next()) / count) * spanMs,
    }))
  }

  /** Runs a life and kills it at that moment. What its payment had begun, the ledger finishes after its death. */
  async kill(job: Job, moment: Moment): Promise<Talker<Line>> {
    const { kind } = moment
    if (kind === 'arrived' || kind === 'recorded') await this.ledger.hold(job.order, kind)
    const process = this.start({ ...job, stays: true })
    if (kind === 'slice') {
      await process.says('start')
      await wait(moment.afterMs)
    } else {
      // A life that rests without having paid is as wrong as one that fails: neither may keep us waiting.
      await Promise.race([this.ledger.reached(job.order, kind), restedUnpaid(process, kind)])
    }
    if (!(await process.kill())) throw new Error(`it ended before it was killed: ${process.toString()}`)
    if (kind === 'arrived' || kind === 'recorded') await this.ledger.go(job.order)
    return process
  }

  /** Runs a life to its end. */
  async finish(job: Job): Promise<Talker<Line>> {
    const process = this.start(job)
    await process.ends()
    return process
  }

  /** How long a life takes from its start until it rests, if nobody kills it: the median of some, run as many at a time as those that are killed. */
  async span(lives: () => Promise<Job>): Promise<number> {
    const spans = await this.inLanes(Array.from({ length: 2 * this.options.jobs + 1 }), async () => {
      const process = await this.finish(await lives())
      return (await process.says('rest')).t - (await process.says('start')).t
    })
    const median = spans.toSorted((one, other) => one - other)[Math.floor(spans.length / 2)]
    if (median === undefined) throw new Error(`not even an undisturbed life ends: ${this.broken.join('; ')}`)
    return median
  }

  /** Runs so many sessions, as many at a time as the options say; results in order. One that breaks leaves the others alone. */
  async inLanes<Task, Result>(tasks: readonly Task[], run: (task: Task) => Promise<Result>): Promise<Result[]> {
    const results: (readonly [Result] | undefined)[] = []
    let done = 0
    await inLanes([...tasks.entries()], this.options.jobs, async ([at, task]) => {
      try {
        results[at] = [await run(task)]
      } catch (error) {
        this.broken.push(`${JSON.stringify(task)}: ${(error as Error).message}`)
      }
      this.#progress(`${++done} of ${tasks.length}`)
    })
    return results.flatMap((result) => result ?? [])
  }

  /** Nothing was wrong with it: its file need not be kept. */
  forget({ db }: Job): void {
    rmSync(join(db, '..'), { recursive: true, force: true })
  }
}

async function restedUnpaid(process: Talker<Line>, kind: LedgerMoment): Promise<never> {
  await process.says('rest')
  throw new Error(`it rests, and no payment of it has ${kind}: ${process.toString()}`)
}

/** What the lives of a session have said of one kind. */
export function saidIn<What extends Line['what']>(lives: readonly Talker<Line>[], what: What): LineOf<What>[] {
  return lives.flatMap((life) => life.said(what)) as LineOf<What>[]
}
