/**
 * One run: moves, drawn or read; then calm, rest and a last message; then the log cut short somewhere, and another process that goes on
 * from there. Owns the order of these; stops at the first fault.
 */
import { isTurnstepError, TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { Json } from '../../util/json.ts'
import { messageOf } from '../../util/text.ts'
import { ACTIONS } from './actions/index.ts'
import type { Chance } from './chance.ts'
import { Fate } from './fate.ts'
import { Life } from './life.ts'
import { postLater, seedLog } from './prefix.ts'
import type { SimDecision, SimFault, SimMove, SimulateOptions } from './sim.ts'
import { SESSION, type Action, type Stage } from './stage.ts'
import { LEASE_MS } from './world.ts'

/** What a run is made of: a seed, or what was written down. */
export interface RunOptions extends Pick<SimulateOptions, 'agent' | 'store' | 'moves' | 'without'> {
  readonly seed: number
  /** Instead of the seed. */
  readonly written?: { readonly moves: readonly SimMove[]; readonly decisions: readonly SimDecision[] }
  /** Whether moves and decisions are written down. */
  readonly records?: boolean
  /** It ends there. Default: behind the last phase. */
  readonly upTo?: Phase
  /** Hears of each thing as it happens. */
  readonly tell?: (kind: Told, what: unknown, now: number) => void
}

/** What there is to tell. */
export type Told = 'move' | 'decided' | 'calm' | 'cut' | 'events' | 'body' | 'lease' | 'fault'

/** The parts of a run, in order. */
export type Phase = 'moves' | 'rest' | 'cut'

/** What came of a run. */
export interface Ran {
  /** Where it ended. */
  readonly phase: Phase
  readonly events: number
  readonly faults: readonly SimFault[]
  readonly moves: readonly SimMove[]
  readonly decisions: readonly SimDecision[]
}

const MOODS = ['model', 'tools', 'hooks', 'store', 'sync', 'prefix']

/** What may be left out of a run, by name: moves and moods. */
export const KINDS: readonly string[] = [...ACTIONS.map(({ name }) => name), ...MOODS]

const MOVES = 80
const WEIGHTS = [0, 0.3, 1, 1, 3]

const PHASES: readonly Phase[] = ['moves', 'rest', 'cut']

export async function runOnce(options: RunOptions): Promise<Ran> {
  const run = new Run(options)
  await run.all()
  return run.ran
}

class Run {
  readonly #options: RunOptions
  readonly #fate: Fate
  readonly #moves: SimMove[] = []
  readonly #faults: SimFault[] = []
  #events = 0
  #phase: Phase = 'moves'

  constructor(options: RunOptions) {
    const { seed, records = false, written } = options
    this.#options = options
    const { tell } = options
    this.#fate = new Fate({
      seed,
      records,
      ...(written === undefined ? {} : { decisions: written.decisions }),
      ...(tell === undefined ? {} : { onDecided: (decision) => tell('decided', decision, 0) }),
    })
  }

  get ran(): Ran {
    const { decisions } = this.#fate
    return { phase: this.#phase, events: this.#events, faults: this.#faults, moves: this.#moves, decisions }
  }

  async all(): Promise<void> {
    const fate = this.#fate
    const cut = this.#has('prefix')
      ? fate.decide('cut', null as number | null, (chance) => chance.below(1_000_000))
      : null
    const first = this.#lifeFrom()
    const log = await this.#live(first, async () => {
      await this.#move(first)
      if (!this.#goesOn('rest', first)) return
      this.#tell('calm', null, first)
      fate.calmDown()
      await first.toRest('last')
      await first.seen.end()
    })
    if (cut === null || log.length === 0 || !this.#goesOn('cut', first)) return
    await this.#cutShort(log, cut % log.length)
  }

  /** The same agent, after a crash behind one of the events. */
  async #cutShort(log: readonly Event[], at: number): Promise<void> {
    const second = this.#lifeFrom(log[at]!.at)
    this.#tell('cut', at, second)
    await this.#live(second, async () => {
      const { seen, world } = second
      seen.isSeeding = true
      await seedLog(world, SESSION, log.slice(0, at))
      await postLater(world, SESSION, log.slice(at))
      seen.isSeeding = false
      await second.toRest('last of all')
      await seen.end()
    })
  }

  #lifeFrom(startAt?: number): Life {
    const { agent, store, tell } = this.#options
    const life: Life = new Life({
      agent,
      store,
      fate: this.#fate,
      has: (mood) => this.#has(mood),
      ...(startAt === undefined ? {} : { startAt }),
      tell: tell === undefined ? undefined : (kind, what) => tell(kind, what, life.world.clock.now()),
    })
    return life
  }

  /** Whether the next phase begins. */
  #goesOn(phase: Phase, { seen }: Life): boolean {
    const { upTo = 'cut' } = this.#options
    if (seen.faults.length > 0 || this.#faults.length > 0 || PHASES.indexOf(phase) > PHASES.indexOf(upTo)) return false
    this.#phase = phase
    return true
  }

  #tell(kind: Told, what: unknown, { world }: Life): void {
    this.#options.tell?.(kind, what, world.clock.now())
  }

  /** Lives a life to its end, whatever becomes of it, and takes down what was seen. */
  async #live(life: Life, live: () => Promise<void>): Promise<readonly Event[]> {
    const { seen } = life
    await life.prepare()
    try {
      await life.stage.begin()
      await live()
    } catch (error) {
      // The scenario is wrong, and not what it plays.
      if (isTurnstepError(error, 'usage-invalid')) throw error
      const work = life.atWork.length === 0 ? '' : `; still at work: ${life.atWork.join(', ')}`
      seen.fail('W3', `it does not come to rest: ${messageOf(error)}${work}`)
    }
    if (seen.faults.length === 0) await life.close()
    this.#faults.push(...seen.faults)
    this.#events += seen.log.length
    return seen.log
  }

  #has(mood: string): boolean {
    return this.#options.without?.includes(mood) !== true
  }

  async #move(life: Life): Promise<void> {
    const { written, moves = MOVES } = this.#options
    const actions = new Map(
      [...ACTIONS, ...(life.actions as unknown as Action[])].map((action) => [action.name, action]),
    )
    if (written !== undefined) {
      for (const move of written.moves) if (!(await this.#do(move, life, actions))) return
      return
    }
    const table = this.#weighed([...actions.values()])
    let number = 0
    for (let made = 0; made < moves; made++) {
      const { chance } = this.#fate
      const [name, params] = this.#propose(table, life.stage) ?? ['wait', waitMs(life, chance)]
      if (!(await this.#do([++number, name, params], life, actions))) return
      if (chance.is(0.7) && !(await this.#do([++number, 'wait', waitMs(life, chance)], life, actions))) return
    }
  }

  /** Each seed leaves some of it out, and does more of another. Nothing happens without processes and messages. */
  #weighed(actions: readonly Action[]): (readonly [number, Action])[] {
    const { chance } = this.#fate
    const plain = chance.is(0.5)
    return actions
      .filter(({ name }) => this.#has(name))
      .map((action) => {
        const factor = plain || action.name === 'start' || action.name === 'send' ? 1 : chance.pick(WEIGHTS)
        return [action.weight * factor, action] as const
      })
  }

  #propose(table: readonly (readonly [number, Action])[], stage: Stage): readonly [string, Json] | null {
    const { chance } = this.#fate
    for (let tries = 0; tries < 10; tries++) {
      const action = chance.weighted(table)
      const params = action.propose(stage, chance)
      if (params !== null) return [action.name, params as Json]
    }
    return null
  }

  /** False: something is broken, or the world is. */
  async #do(move: SimMove, { stage, seen, world }: Life, actions: ReadonlyMap<string, Action>): Promise<boolean> {
    const [number, name, params] = move
    this.#fate.behind(number)
    if (this.#options.records === true) this.#moves.push(move)
    this.#options.tell?.('move', move, world.clock.now())
    if (name === 'wait') await world.clock.advance(params as number)
    else {
      const action = actions.get(name)
      if (action === undefined)
        throw new TurnstepError(
          'usage-invalid',
          `the scenario has a move "${name}"; known: wait, ${[...actions.keys()].join(', ')}`,
        )
      perform(action, params, stage)
      await world.settle()
    }
    await seen.moment()
    return seen.faults.length === 0
  }
}

/** It goes on beside what comes next. That the session moved on, or the store failed, is what it says, and no fault. */
function perform(action: Action, params: Json, stage: Stage): void {
  const blame = (error: unknown): void => {
    if (!isTurnstepError(error) || error.class === 'bug')
      stage.seen.fail('verb', `"${action.name}" throws ${String(error)}`)
  }
  try {
    void Promise.resolve(action.perform(stage, params)).catch(blame)
  } catch (error) {
    blame(error)
  }
}

/** Mostly moments, sometimes a while, seldom so long that the session has gone stale; the lease of a dead one is often waited for. */
function waitMs({ seen, stage }: Life, chance: Chance): number {
  if (seen.held !== null && !stage.isWell(seen.held.owner) && chance.is(0.3)) return LEASE_MS
  if (chance.is(0.01)) return 11 * 60_000
  return chance.below(
    chance.weighted([
      [35, 60],
      [57, 1_500],
      [8, 20_000],
    ]),
  )
}
