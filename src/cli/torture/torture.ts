/**
 * The order of a torture: undisturbed twice, then one run for each moment, in lanes, then second kills. Owns its folder; what happens in a
 * run is the run's, what is wrong with it the judge's.
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { TurnstepError, type ErrorCode, ERRORS } from '../../kernel/errors.ts'
import type { TortureComplaint, TortureResult } from '../../protocol/torture.ts'
import type { Clock } from '../../runtime/ports.ts'
import { inLanes } from '../../util/lanes.ts'
import { compare, yardstick, type Yardstick } from './compare.ts'
import { gather, type Evidence } from './evidence.ts'
import { runPaths, type Settings } from './job.ts'
import { entriesOf, readJournal, type Entry } from './journal.ts'
import { hitsIn, isMissed, judge } from './judge.ts'
import { hitsOf, isKill, kindOf, pick, placeOf, sample } from './moments.ts'
import { askCheck, execute } from './run.ts'

export interface TortureOrder {
  readonly settings: Settings
  /** An empty folder. */
  readonly root: string
  readonly seed: number
  readonly jobs: number
  /** At most so many moments; null: all of them. */
  readonly kills: number | null
  /** These alone; empty: whatever the undisturbed run has. */
  readonly only: readonly string[]
  /** Once more with a second kill, in the process that goes on. */
  readonly twice: boolean
  /** Nothing is removed. */
  readonly keep: boolean
}

export interface TortureWatch {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called as each run ends; `of` may grow. */
  progress(done: { readonly runs: number; readonly of: number; readonly failed: number; readonly moment: string }): void
}

/** A run, and what is wrong with it. */
export type Judged = Omit<TortureResult, 'findings'> & { readonly complaints: readonly TortureComplaint[] }

export interface Tortured {
  readonly undisturbed: {
    readonly evidence: Evidence
    readonly ms: number
    readonly alike: boolean
    readonly complaints: readonly TortureComplaint[]
  }
  /** Moments that the undisturbed run has. */
  readonly moments: number
  readonly results: readonly Judged[]
  readonly kills: number
}

/** Throws what kept the undisturbed run from coming to its rest; with nobody to compare with there is nothing to torture. */
export async function torture(order: TortureOrder, watch: TortureWatch): Promise<Tortured> {
  return new Torture(order, watch).run()
}

interface Ran {
  readonly evidence: Evidence
  readonly ms: number
  readonly folder: string
}

class Torture {
  readonly #order: TortureOrder
  readonly #watch: TortureWatch
  /** How long bodies take undisturbed at least, by `tool/nth` and by tool. */
  readonly #bodyMs = new Map<string, number>()
  readonly #results = new Map<string, Judged>()
  /** What the process that went on after a kill passed, by the moment of that kill. */
  readonly #seconds = new Map<string, readonly string[]>()
  #kills = 0
  #of = 0

  constructor(order: TortureOrder, watch: TortureWatch) {
    this.#order = order
    this.#watch = watch
  }

  async run(): Promise<Tortured> {
    const [first, second] = await this.#undisturbed()
    const stick = yardstick(first.evidence, second.evidence)
    const moments = momentsIn(first.evidence.entries, 1)
    const { only, kills, seed, twice } = this.#order
    const chosen = only.length > 0 ? only : sample(moments, kills ?? moments.length, seed)
    await this.#hitAll(chosen, stick)
    if (twice) await this.#hitAll(this.#twice(chosen), stick)
    const complaints = [...judge(first.evidence), ...openedOnLoad(first.evidence), ...idleTools(first.evidence)]
    const results = [...chosen, ...[...this.#results.keys()].filter((moment) => !chosen.includes(moment))]
      .map((moment) => this.#results.get(moment))
      .filter((result) => result !== undefined)
    return {
      undisturbed: { evidence: first.evidence, ms: first.ms, alike: stick.alike, complaints },
      moments: moments.length,
      results: this.#keepOneFailure(results),
      kills: this.#kills,
    }
  }

  async #undisturbed(): Promise<readonly [Ran, Ran]> {
    const names = ['undisturbed-1', 'undisturbed-2']
    const ran: Ran[] = []
    await inLanes(names, this.#order.jobs, async (name) => {
      ran.push(await this.#one(name, null))
    })
    const [first, second] = ran
    this.#watch.signal.throwIfAborted()
    throwIfNotAtRest(first!)
    for (const { evidence } of ran) this.#learn(evidence.entries)
    for (const { folder } of ran) this.#remove(folder)
    return [first!, second!]
  }

  #learn(entries: readonly Entry[]): void {
    for (const { tool, nth, ms } of entriesOf(entries, 'inside'))
      for (const name of [`${tool}/${nth}`, tool]) this.#bodyMs.set(name, Math.min(ms, this.#bodyMs.get(name) ?? ms))
  }

  async #hitAll(moments: readonly string[], stick: Yardstick): Promise<void> {
    this.#of += moments.length
    await inLanes(moments, this.#order.jobs, async (moment) => {
      if (this.#watch.signal.aborted) return
      const ran = await this.#hit(moment)
      // It was broken off by us: it says nothing.
      if (this.#watch.signal.aborted) return
      const judged = this.#judge(moment, ran, stick)
      this.#results.set(moment, judged)
      if (judged.verdict !== 'failed') this.#remove(ran.folder)
      const failed = [...this.#results.values()].filter(({ verdict }) => verdict === 'failed').length
      this.#watch.progress({ runs: this.#results.size, of: this.#of, failed, moment })
    })
  }

  #judge(moment: string, { evidence, ms, folder }: Ran, stick: Yardstick): Judged {
    const own = judge(evidence)
    // A run that was not brought to its rest has no story to compare.
    const isWhole = !own.some(({ kind }) => kind === 'not-resumed' || kind === 'not-at-rest')
    const complaints = isWhole ? [...own, ...compare(evidence, stick)] : own
    const isFailed = complaints.some((complaint) => weightOf(complaint) === 'fault')
    const hits = hitsIn(evidence)
    this.#kills += hits.filter((hit) => isKill(hit.moment)).length
    this.#seconds.set(moment, momentsIn(evidence.entries, 2).filter(isKill))
    return {
      moment,
      verdict: isFailed ? 'failed' : isMissed(evidence) ? 'missed' : 'passed',
      hits,
      complaints,
      again: evidence.calls.filter(({ begun }) => begun > 1).length,
      ms,
      folder: isFailed || this.#order.keep ? folder : null,
    }
  }

  /** For each moment that was survived once, one in the process that survived it. */
  #twice(moments: readonly string[]): readonly string[] {
    return moments.flatMap((moment) => {
      if (moment.includes('+') || this.#results.get(moment)?.verdict !== 'passed') return []
      const second = pick(this.#seconds.get(moment) ?? [], this.#order.seed)
      return second === null ? [] : [`${moment}+${second}`]
    })
  }

  /** A body may be faster than it was undisturbed: then it is hit sooner after its begin, in the end right after it. */
  async #hit(moment: string): Promise<Ran> {
    const name = moment.replaceAll('/', '-')
    for (let share = 1 / 2; ; share = share > 1 / 8 ? share / 2 : 0) {
      const ran = await this.#one(name, moment, share)
      const isInBody = hitsOf(moment).some((hit) => ['inside', 'abort', 'stop'].includes(placeOf(hit) ?? ''))
      const isDone = share === 0 || !isInBody || !isMissed(ran.evidence)
      if (isDone || this.#watch.signal.aborted) return ran
      rmSync(ran.folder, { recursive: true, force: true, maxRetries: 3 })
    }
  }

  async #one(name: string, moment: string | null, share = 0): Promise<Ran> {
    const { settings, root } = this.#order
    const insideMs = (hit: string): number => Math.floor(this.#msOf(hit) * share)
    const end = await execute({ settings, root: join(root, name), moment, insideMs }, this.#watch)
    const evidence = await gather(moment, end)
    const hasCheck = settings.check !== null || entriesOf(evidence.entries, 'started').some(({ check }) => check)
    const ran = { evidence, ms: end.ms, folder: end.paths.root }
    if (!hasCheck || this.#watch.signal.aborted) return ran
    const { calls, events } = evidence
    const job = { ...settings, process: end.ends.length + 1, hit: null }
    await askCheck(end.paths, { folder: end.paths.work, moment, calls, events }, job, this.#watch)
    return { ...ran, evidence: { ...evidence, entries: readJournal(end.paths.journal), isChecked: true } }
  }

  #msOf(hit: string): number {
    const [, tool = '', nth = ''] = hit.split('/')
    return this.#bodyMs.get(`${tool}/${nth}`) ?? this.#bodyMs.get(tool) ?? 0
  }

  #remove(folder: string): void {
    if (!this.#order.keep) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }

  /** The others can be seen again by their moment. */
  #keepOneFailure(results: readonly Judged[]): readonly Judged[] {
    const first = results.findIndex(({ verdict }) => verdict === 'failed')
    return results.map((result, index) => {
      if (result.folder === null || index === first || this.#order.keep) return result
      this.#remove(result.folder)
      return { ...result, folder: null }
    })
  }
}

/** What for people, what a run fails for: a file may be there for good reasons, and a tool that never ran is the script's doing. */
export function weightOf({ kind, ...complaint }: TortureComplaint): 'fault' | 'note' {
  if (kind === 'never-ran' || kind === 'opened-on-load') return 'note'
  return kind === 'file-left' && !('path' in complaint && complaint.path.startsWith('store/')) ? 'note' : 'fault'
}

/** The moments that a process passed, in order, and those inside its bodies. */
function momentsIn(entries: readonly Entry[], process: number): readonly string[] {
  return entries
    .filter((entry) => entry.process === process)
    .flatMap((entry) => {
      if (entry.what === 'reached') return [entry.moment]
      if (entry.what !== 'inside') return []
      // What takes no time ends before it could hear that it is to stop.
      const places = entry.ms > 0 ? ['inside', 'abort', 'stop'] : ['inside']
      return places.map((place) => `${place}/${entry.tool}/${entry.nth}`)
    })
}

function throwIfNotAtRest({ evidence: { entries, ends }, folder }: Ran): void {
  // What a check throws is a complaint like any other; one that cannot be loaded is not.
  const failed = entriesOf(entries, 'failed').find(({ process, code }) => process <= ends.length || code !== null)
  if (failed !== undefined) {
    const code = failed.code !== null && failed.code in ERRORS ? (failed.code as ErrorCode) : 'config-invalid'
    throw new TurnstepError(code, failed.problem)
  }
  const [rested] = entriesOf(entries, 'rested')
  if (rested !== undefined) return
  const said = readFileSync(runPaths(folder).output, 'utf8').trim().slice(-OUTPUT_CHARS_MAX)
  throw new UndisturbedFailed(ends[0]?.isLate === true ? 'late' : 'ended', said)
}

const OUTPUT_CHARS_MAX = 1_000

/** The undisturbed run ended by itself, or took too long. */
export class UndisturbedFailed extends Error {
  readonly how: 'late' | 'ended'

  /** `said`: the end of what it printed. */
  constructor(how: 'late' | 'ended', said: string) {
    super(said)
    this.how = how
  }
}

/** Sessions that are the module's own: they are opened again by every process, and nothing looks at them. */
function openedOnLoad({ entries }: Evidence): TortureComplaint[] {
  const opened = entriesOf(entries, 'started').flatMap((entry) => entry.opened)
  return [...new Set(opened)].map((path) => ({ kind: 'opened-on-load', path }))
}

/** Tools of which no body ran. */
function idleTools({ entries, calls }: Evidence): TortureComplaint[] {
  const begun = new Set(entriesOf(entries, 'begun').map(({ tool }) => tool))
  const tools = entriesOf(entries, 'tools').flatMap((line) => line.tools)
  return tools
    .filter(({ name }) => !begun.has(name))
    .map(({ name: tool }) => ({
      kind: 'never-ran',
      tool,
      why: calls.find((call) => call.tool === tool)?.outcome ?? 'not-called',
    }))
}

/** By the words before the count: what the table has a row for. Bodies go by their tool, whatever the place. */
export function rowOf(moment: string): string {
  const [first = ''] = moment.split('+')
  const row = placeOf(first) === null ? kindOf(first) : first.split('/')[1]!
  return moment.includes('+') ? `${row}+` : row
}
