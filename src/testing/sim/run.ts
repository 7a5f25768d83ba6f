/**
 * One run: moves, drawn or read; then calm, rest and a last message; then the log cut short somewhere, and another process that goes on
 * from there. Owns the order of these; stops at the first fault.
 */
import { isTurnstepError, TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { AgentSpec } from '../../runtime/define/agent.ts'
import { PluginHost } from '../../runtime/define/plugin-host.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import type { Json } from '../../util/json.ts'
import { messageOf } from '../../util/text.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { drainPromises, FakeClock } from '../fake-clock.ts'
import { ACTIONS } from './actions/index.ts'
import type { Chance } from './chance.ts'
import { contractChecks } from './checks/index.ts'
import { Fate } from './fate.ts'
import { moodyPlugin } from './moods/hooks.ts'
import { heardModel, moodyModel } from './moods/model.ts'
import { moodyTool, withMoodyTools, type Hanging } from './moods/tools.ts'
import { postLater, seedLog } from './prefix.ts'
import { driveToRest } from './rest.ts'
import type { SimAction, SimDecision, SimFault, SimMove, SimulateOptions, SimWorld } from './sim.ts'
import { SESSION, Stage, type Action, type Worker } from './stage.ts'
import { Witness } from './witness.ts'
import { LEASE_MS, World } from './world.ts'

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
    const first = new Life(this.#options, fate)
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
    const second = new Life(this.#options, this.#fate, log[at]!.at)
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
  async #live(life: Life, live: () => Promise<void>): Promise<Witness['log']> {
    const { seen } = life
    try {
      await life.prepare()
      await life.stage.begin()
      await live()
    } catch (error) {
      seen.fail('rest', messageOf(error))
    }
    this.#faults.push(...seen.faults)
    this.#events += seen.log.length
    if (seen.faults.length === 0)
      for (const left of await life.close()) this.#faults.push({ rule: 'W5', message: left })
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
    seen.moment()
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

/** The life of one session: its world, who sees it, and the agent that is opened in it. */
class Life {
  readonly world: World
  readonly seen: Witness
  readonly stage: Stage
  readonly actions: SimAction[] = []
  readonly #fate: Fate
  readonly #spec: AgentSpec
  readonly #args = new Map<string, (chance: Chance) => NonNullable<unknown>>()
  readonly #has: (mood: string) => boolean

  constructor(options: RunOptions, fate: Fate, startAt?: number) {
    this.#fate = fate
    this.#has = (mood) => options.without?.includes(mood) !== true
    const clock = new FakeClock(startAt, drainPromises)
    const { tell } = options
    const seen = new Witness({
      session: SESSION,
      clock,
      isWell: (name) => this.stage.isWell(name),
      ...(tell === undefined ? {} : { tell: (kind, what) => tell(kind, what, clock.now()) }),
    })
    const store = options.store?.(clock) ?? memoryStore({ clock })
    this.seen = seen
    this.world = new World({ clock, store: seen.over(store), random: this.#jitter() })
    const { agent } = options
    this.#spec = typeof agent === 'function' ? fate.prepare(() => agent(this.#worldFor())) : agent
    const rate = (mood: string): number =>
      this.#has(mood) ? fate.decide(`rate of ${mood}`, 1, (chance) => chance.pick([0, 0.3, 1, 1, 4])) : 0
    this.stage = new Stage({
      world: this.world,
      seen,
      fate,
      rates: { store: rate('store'), sync: rate('sync') },
      specFor: (worker, hanging) => this.#specFor(worker, hanging),
    })
    const tools = new Map((this.#spec.tools ?? []).map((tool) => [tool.name, tool]))
    const toolOf = (name: string): Tool | undefined => tools.get(name)
    seen.checks.unshift(...contractChecks({ limits: this.#spec.limits ?? {}, toolOf, store, session: SESSION }))
  }

  /** Schemas are compiled when they are first needed, which takes real time: it is over before the run begins. */
  async prepare(): Promise<void> {
    const { tools = [], plugins = [] } = this.#spec
    const host = new PluginHost({ parent: null, emit: () => {} })
    for (const plugin of plugins) host.load(plugin)
    for (const tool of [...tools, ...host.tools()]) await tool.validate({})
    await host.unloadAll()
  }

  /** Everything that lives ends, but one process, which brings the session to rest, and answers a last message. */
  async toRest(lastId: string): Promise<void> {
    const { world, stage } = this
    stage.disk.isFull = false
    for (const { process } of stage.workers) {
      process.mortal.thaw()
      process.mortal.cut(false)
    }
    await world.clock.advance(3 * LEASE_MS)
    for (const worker of stage.workers.splice(0)) await world.within(worker.process.harness.close())
    stage.letAllGo()
    await world.clock.advance(2 * LEASE_MS)
    const last = stage.startWorker(stage.started + 1)!
    await world.settle()
    const session = last.session
    if (session === null) return this.seen.fail('W4', 'the session cannot be opened, though nobody drives it any more')
    await driveToRest(world, session)
    const next = await world.within(session.send('and now?', { id: lastId }))
    await driveToRest(world, session)
    await world.within(next.outcome)
  }

  async close(): Promise<string[]> {
    return this.world.closeAll()
  }

  #worldFor(): SimWorld {
    const fate = this.#fate
    const { seen, world, actions } = this
    return {
      clock: world.clock,
      get isCalm() {
        return fate.isCalm
      },
      decide: (key, calm, choose) => fate.decide(key, calm, choose),
      check: (check) => void seen.checks.push(check),
      action: (action) => void actions.push(action),
      args: (tool, draw) => void this.#args.set(tool, draw),
    }
  }

  #specFor(worker: Worker, hanging: Hanging): AgentSpec {
    const { seen } = this
    const fate = this.#fate
    const { clock } = worker.process.mortal
    const tooling = { fate, seen, process: worker.number, hanging, isGood: !this.#has('tools') }
    const { model: given, tools = [], plugins = [] } = this.#spec
    const model =
      typeof given === 'string'
        ? moodyModel({ fate, clock, isGood: !this.#has('model'), args: this.#args as never })
        : given
    const moody = this.#has('hooks') ? [moodyPlugin({ fate, clock })] : []
    return {
      ...this.#spec,
      model: heardModel(model, seen, worker.process.name),
      tools: tools.map((tool) => moodyTool(tool, tooling)),
      plugins: [...plugins.map((plugin) => withMoodyTools(plugin, tooling)), ...moody],
    }
  }

  #jitter(): { next(): number } {
    return { next: () => this.#fate.decide('jitter', 0.5, (chance) => chance.next()) }
  }
}
