/** The life of one session. Owns its world, who sees it, and how the agent is opened in it; what happens is decided by moves. */
import type { Clock, Store } from '../../runtime/ports.ts'
import type { AgentSpec } from '../../runtime/define/agent.ts'
import { PluginHost } from '../../runtime/define/plugin-host.ts'
import type { Args, Tool } from '../../runtime/define/tool.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { drainPromises, FakeClock } from '../fake-clock.ts'
import type { Chance } from './chance.ts'
import { contractChecks } from './checks/index.ts'
import type { Fate } from './fate.ts'
import { moodyPlugin } from './moods/hooks.ts'
import { heardModel, moodyModel } from './moods/model.ts'
import { moodyTool, withMoodyTools, type Hanging } from './moods/tools.ts'
import { driveToRest } from './rest.ts'
import { Running } from './running.ts'
import type { SimAction, SimulateOptions, SimWorld } from './sim.ts'
import { SESSION, Stage, type Worker } from './stage.ts'
import { Witness, type WitnessOptions } from './witness.ts'
import { LEASE_MS, World } from './world.ts'

/** What a closed process still does has so long to end. */
const END_WITHIN_MS = 600_000

export interface LifeOptions {
  readonly agent: SimulateOptions['agent']
  readonly fate: Fate
  readonly has: (mood: string) => boolean
  readonly store?: ((clock: Clock) => Store) | undefined
  /** When it begins. Default: whenever the clock does. */
  readonly startAt?: number
  /** Hears of each thing as it happens. */
  readonly tell?: WitnessOptions['tell']
}

export class Life {
  readonly world: World
  readonly seen: Witness
  readonly stage: Stage
  readonly actions: SimAction[] = []
  readonly #options: LifeOptions
  readonly #spec: AgentSpec
  readonly #args = new Map<string, (chance: Chance) => Args>()
  readonly #running = new Running()

  constructor(options: LifeOptions) {
    const { agent, fate, startAt, tell } = options
    this.#options = options
    const clock = new FakeClock(startAt, drainPromises)
    const store = options.store?.(clock) ?? memoryStore({ clock })
    this.seen = new Witness({ session: SESSION, clock, isWell: (name) => this.stage.isWell(name), tell })
    const jitter = (): number => fate.decide('jitter', 0.5, (chance) => chance.next())
    this.world = new World({ clock, store: this.seen.over(store), random: { next: jitter } })
    this.#spec = typeof agent === 'function' ? fate.prepare(() => agent(this.#worldOf())) : agent
    this.stage = new Stage({
      world: this.world,
      seen: this.seen,
      fate,
      rates: fate.prepare(() => ({ store: this.#rate('store'), sync: this.#rate('sync') })),
      specFor: (worker, hanging) => this.#specFor(worker, hanging),
    })
    this.#check(store)
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
    stage.mend()
    await world.clock.advance(LEASE_MS)
    for (const worker of stage.workers.splice(0)) await world.within(worker.process.harness.close())
    stage.letAllGo()
    await world.clock.advance(LEASE_MS)
    const last = stage.startWorker(stage.started + 1)!
    await world.settle()
    const session = last.session
    if (session === null) return this.seen.fail('W4', 'the session cannot be opened, though nobody drives it any more')
    await driveToRest(world, session)
    const next = await world.within(session.send('and now?', { id: lastId }))
    await driveToRest(world, session)
    await world.within(next.outcome)
  }

  /** Code of the agent that has not come back, where its process lives: of one that died nothing is expected any more. */
  get atWork(): readonly string[] {
    const living = new Set(this.world.living.map(({ name }) => name))
    const atWork = this.#running.all.filter(({ process }) => living.has(process))
    return [...new Set(atWork.map(({ what, process }) => `${what} in ${process}`))]
  }

  /**
   * The processes that live are closed, and what the agent still does in them has time to end. What never does, is told as the agent's
   * fault; what else is left behind, as ours.
   */
  async close(): Promise<void> {
    const { world, seen } = this
    await world.end()
    if (this.atWork.length > 0) await world.clock.advance(END_WITHIN_MS)
    const minutes = END_WITHIN_MS / 60_000
    for (const what of this.atWork)
      seen.fail(
        'still running',
        `${what} is still at work ${minutes} minutes after its process was closed; let it end when its signal aborts`,
      )
    if (this.atWork.length === 0) for (const left of world.left) seen.fail('W5', left)
  }

  /** 0: nothing of the kind goes wrong. */
  #rate(mood: string): number {
    if (!this.#options.has(mood)) return 0
    return this.#options.fate.decide(`rate of ${mood}`, 1, (chance) => chance.pick([0, 0.3, 1, 1, 4]))
  }

  #check(store: Store): void {
    const { limits = {}, tools = [] } = this.#spec
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    const toolOf = (name: string): Tool | undefined => byName.get(name)
    const isAttended = (): boolean => this.stage.isAttended
    this.seen.checks.unshift(...contractChecks({ limits, toolOf, store, session: SESSION, isAttended }))
  }

  #worldOf(): SimWorld {
    const { fate } = this.#options
    return {
      clock: this.world.clock,
      get isCalm() {
        return fate.isCalm
      },
      decide: (question, calm, choose) => fate.decide(question, calm, choose),
      check: (check) => void this.seen.checks.push(check),
      action: (action) => void this.actions.push(action),
      args: (tool, draw) => void this.#args.set(tool, draw),
    }
  }

  #specFor(worker: Worker, hanging: Hanging): AgentSpec {
    const { seen } = this
    const running = this.#running
    const { fate, has } = this.#options
    const { clock } = worker.process.mortal
    const tooling = { fate, seen, running, process: worker.number, hanging, isGood: !has('tools') }
    const { model: given, tools = [], plugins = [] } = this.#spec
    const model =
      typeof given === 'string'
        ? moodyModel({ fate, clock, isGood: !has('model'), args: this.#args })
        : running.over(given, worker.process.name)
    const moody = has('hooks') ? [moodyPlugin({ fate, clock })] : []
    return {
      ...this.#spec,
      model: heardModel(model, seen, worker.process.name),
      tools: tools.map((tool) => moodyTool(tool, tooling)),
      plugins: [...plugins.map((plugin) => withMoodyTools(plugin, tooling)), ...moody],
    }
  }
}
