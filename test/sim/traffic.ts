/**
 * One session under random traffic: followups, steers, notes, changes of the queue, aborts, answers, tools that fail and hang,
 * processes that die, freeze, lose the store and take over. The same seed gives the same run. At the end everything that lives is
 * closed but one process, which brings the session to rest; then nothing may be lost, doubled, run twice or left open.
 */
import type { EffectClass } from '../../src/kernel/events.ts'
import { isTurnstepError } from '../../src/kernel/errors.ts'
import { sessionId } from '../../src/kernel/ids.ts'
import type { MessageLane } from '../../src/kernel/input.ts'
import { agent, type AgentLimits, type AgentSpec } from '../../src/runtime/define/agent.ts'
import type { Store } from '../../src/runtime/ports.ts'
import type { Session, SessionHandle } from '../../src/runtime/session.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { balanceFaults, bodyFaults, callFaults, foldLog, inputFaults } from '../kit/invariants.ts'
import { Chance } from '../kit/random.ts'
import { driveToRest } from '../kit/rest.ts'
import type { SpyModel } from '../kit/spy-model.ts'
import { Tools, type Behaviour } from '../kit/tools.ts'
import { LEASE_MS, World, type Process } from '../kit/world.ts'
import { Watchman } from './checks.ts'
import { moodyModel } from './model.ts'
import { moodyPlugin } from './plugin.ts'

const SESSION = sessionId('s')
const EFFECTS: Readonly<Record<string, EffectClass>> = {
  look: 'read',
  peek: 'read',
  put: 'idempotent',
  save: 'write',
  pay: 'write',
  order: 'write',
}

export interface TrafficOptions {
  readonly seed: number
  readonly actions: number
}

export class Traffic {
  readonly world: World
  readonly #chance: Chance
  readonly #watchman = new Watchman()
  readonly #tools: Tools
  readonly #models: SpyModel[] = []
  readonly #posted: string[] = []
  readonly #actions: number
  readonly #limits: AgentLimits
  readonly #refusals: string[] = []
  #calm = false
  #workers: Process[] = []
  #handle!: SessionHandle

  constructor({ seed, actions }: TrafficOptions) {
    this.#chance = new Chance(seed)
    this.#actions = actions
    this.world = new World({
      random: new Chance(seed + 1),
      latency: () => this.#latency(),
      store: (clock) => this.#watched(memoryStore({ clock })),
      onDurable: (events) => this.#watchman.durable(events),
    })
    this.#tools = new Tools({
      choose: (tool) => (this.#calm ? { kind: 'returns', text: 'calm' } : this.#behaviour(tool)),
      began: (run) => this.#watchman.began(run, EFFECTS[run.tool]!),
    })
    this.#addTools()
    this.#limits = {
      steps: 2 + this.#chance.below(6),
      atSteps: this.#chance.pick(['error', 'summary', 'handback', 'ask'] as const),
      followups: this.#chance.pick(['one', 'all'] as const),
      graceMs: 500 + this.#chance.below(3_000),
      pool: 1 + this.#chance.below(4),
    }
  }

  /** Runs to the end, and answers with what is broken. */
  async run(): Promise<string[]> {
    await this.world.store.create(SESSION)
    this.#handle = await this.world.within(this.world.start().harness.attach(SESSION))
    for (let done = 0; done < this.#actions; done++) {
      await this.#act()
      if (this.#chance.is(0.7))
        await this.world.clock.advance(this.#chance.below(this.#chance.is(0.1) ? 20_000 : 1_500))
    }
    return [
      ...(await this.#bringToRest()),
      ...this.#watchman.faults,
      ...this.#refusals,
      ...this.#models.flatMap((model) => model.complaints),
    ]
  }

  // ── what may happen ────────────────────────────────────────────────────────────────────────────────────────────────

  async #act(): Promise<void> {
    if (this.#chance.is(0.01)) await this.world.clock.advance(11 * 60_000)
    const act = this.#chance.weighted<() => Promise<unknown> | void>([
      [10, () => this.#post('followup')],
      [12, () => this.#post('steer')],
      [5, () => this.#post('note')],
      [6, () => this.#changeQueue()],
      [
        4,
        () =>
          this.#handle.abort({
            pending: this.#chance.pick(['keep', 'return', 'drop'] as const),
            graceMs: this.#chance.below(2_000),
          }),
      ],
      [3, () => this.#handle.resume()],
      [20, () => this.#settleBody()],
      [18, () => this.#answer()],
      [25, () => this.#startWorker()],
      [7, () => this.#kill()],
      [3, () => this.#freeze()],
      [3, () => this.#cut()],
      [2, () => this.#close()],
    ])
    try {
      await this.world.within(Promise.resolve(act()))
    } catch (error) {
      // The session may have moved on meanwhile, or be driven by another: that is what it says, and no fault.
      if (!isTurnstepError(error)) this.#refusals.push(`${String(error)} in ${String(act)}`)
    }
  }

  async #post(lane: MessageLane): Promise<void> {
    const id = `input ${this.#posted.length + 1}`
    this.#posted.push(id)
    const expiry = this.#chance.is(0.1) ? { expiresInMs: this.#chance.below(5_000) } : {}
    if (lane === 'followup') await this.#handle.send(`text of ${id}`, { id, ...expiry })
    else if (lane === 'note') await this.#handle.note(`text of ${id}`, { id, ...expiry })
    else
      await this.#handle.steer(`text of ${id}`, {
        id,
        ...expiry,
        promptness: this.#chance.pick(['gate', 'now'] as const),
      })
    // The same once more is the same input (I1).
    if (this.#chance.is(0.1)) await this.#handle.send('another text', { id })
  }

  async #changeQueue(): Promise<void> {
    const pending = (await this.#handle.queue.list()).filter((input) => input.lane !== 'control')
    if (pending.length === 0) return
    const { id } = this.#chance.pick(pending)
    const { queue } = this.#handle
    await this.#chance.pick([
      () => queue.edit(id, `another text of ${id}`),
      () => queue.withdraw(id),
      () => queue.move(id),
      () => queue.move(id, { before: this.#chance.pick(pending).id }),
      () => queue.convert(id, this.#chance.pick(['followup', 'steer', 'note'] as const)),
    ])()
  }

  #settleBody(): void {
    const hanging = this.#tools.runs.filter((run) => !run.settled)
    if (hanging.length === 0) return
    const kind = this.#chance.pick(['returns', 'returns', 'throws', 'retryable', 'defers'] as const)
    this.#chance.pick(hanging).settle({ kind, text: `by hand ${this.#chance.below(100)}` })
  }

  async #answer(): Promise<void> {
    const status = await this.#handle.status()
    const asks = status.kind === 'waiting' ? status.asks : []
    if (asks.length === 0 && !this.#chance.is(0.05)) return
    const call =
      asks.length > 0
        ? this.#chance.pick(asks).call
        : `t${1 + this.#chance.below(3)}s${1 + this.#chance.below(3)}c${1 + this.#chance.below(3)}`
    await this.#chance.pick([
      () => this.#handle.approve(call, { always: this.#chance.is(0.1) }),
      () => this.#handle.deny(call, { reason: 'no' }),
      () => this.#handle.answer(call, 'an answer'),
    ])()
  }

  // ── processes ──────────────────────────────────────────────────────────────────────────────────────────────────────

  async #startWorker(): Promise<void> {
    if (this.#workers.length >= 2) return
    const worker = this.world.start({ onError: () => {} })
    this.#workers.push(worker)
    await worker.open(this.#spec(worker))
  }

  #spec(worker: Process): AgentSpec {
    const isCalm = (): boolean => this.#calm
    const { clock } = worker.mortal
    const model = moodyModel({ chance: this.#chance, clock, tools: Object.keys(EFFECTS), isCalm })
    this.#models.push(model)
    return agent({
      model,
      tools: this.#tools.all,
      limits: this.#limits,
      plugins: [moodyPlugin(this.#chance, clock, isCalm)],
    })
  }

  #kill(): void {
    if (this.#workers.length > 0) this.#take().mortal.die()
  }

  #freeze(): void {
    if (this.#workers.length === 0) return
    const { mortal } = this.#chance.pick(this.#workers)
    mortal.freeze()
    this.world.clock.after(1 + this.#chance.below(2 * LEASE_MS), () => mortal.thaw())
  }

  #cut(): void {
    if (this.#workers.length === 0) return
    const { mortal } = this.#chance.pick(this.#workers)
    mortal.cut(true)
    this.world.clock.after(1 + this.#chance.below(2 * LEASE_MS), () => mortal.cut(false))
  }

  async #close(): Promise<void> {
    if (this.#workers.length > 0) await this.#take().harness.close()
  }

  #take(): Process {
    return this.#workers.splice(this.#chance.below(this.#workers.length), 1)[0]!
  }

  // ── the end ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #bringToRest(): Promise<string[]> {
    const { world } = this
    this.#calm = true
    await world.clock.advance(3 * LEASE_MS)
    for (const worker of this.#workers.splice(0)) await world.within(worker.harness.close())
    for (const run of this.#tools.runs) if (!run.settled) run.settle({ kind: 'returns', text: 'at last' })
    await world.clock.advance(2 * LEASE_MS)
    const last = world.start()
    const session = await world.within(last.open(this.#spec(last)))
    await driveToRest(world, session)
    return this.#judge(session)
  }

  async #judge(session: Session): Promise<string[]> {
    const { world } = this
    const next = await world.within(session.send('and now?', { id: 'afterwards' }))
    await driveToRest(world, session)
    const outcome = await world.within(next.outcome)
    const log = await world.within(session.history())
    const { state, broken } = foldLog(log)
    return [
      ...broken,
      ...balanceFaults(state),
      ...callFaults(log),
      ...bodyFaults(log, this.#tools.runs),
      ...(await inputFaults(world.store, SESSION, log, [...this.#posted, 'afterwards'])),
      ...(outcome.kind === 'completed' ? [] : [`the last message ended ${outcome.kind}`]),
    ]
  }

  // ── the world ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #addTools(): void {
    const one = (name: string): readonly { readonly name: string; readonly mode: 'write' }[] => [
      { name, mode: 'write' },
    ]
    const common = { timeoutMs: 6_000 }
    this.#tools.add('look', CALM, { effect: 'read', ...common })
    this.#tools.add('peek', CALM, { effect: 'read', resources: [{ name: 'a', mode: 'read' }], ...common })
    this.#tools.add('put', CALM, { effect: 'idempotent', resources: one('b'), ...common })
    this.#tools.add('save', CALM, { effect: 'write', resources: one('a'), ...common })
    this.#tools.add('pay', CALM, { effect: 'write', approval: true, ...common })
    this.#tools.add('order', CALM, { effect: 'write', resources: one('c'), reconcile: 'found out', ...common })
  }

  #behaviour(tool: string): Behaviour {
    return this.#chance.weighted<Behaviour>([
      [tool === 'order' ? 0 : 40, { kind: 'returns', text: `result ${this.#chance.below(50)}` }],
      [10, { kind: 'throws', text: 'failed' }],
      [5, { kind: 'retryable', text: 'busy' }],
      [
        tool === 'order' ? 40 : 2,
        { kind: 'defers', text: 'waits', ...(this.#chance.is(0.3) ? { expiresInMs: 4_000 } : {}) },
      ],
      [20, { kind: 'hangs' }],
      [20, { kind: 'obeys' }],
    ])
  }

  /** Most verbs of the store take a moment, before and after. */
  #latency(): Promise<void> {
    if (this.#calm || this.#chance.is(0.5)) return Promise.resolve()
    return new Promise((resolve) => this.world.clock.after(this.#chance.below(4), resolve))
  }

  #watched(store: Store): Store {
    const watchman = this.#watchman
    return new Proxy(store, {
      get(target, key) {
        const value = target[key as keyof Store] as unknown
        if (key === 'acquire') {
          return async (...args: Parameters<Store['acquire']>) => {
            const answer = await store.acquire(...args)
            if (answer.kind === 'acquired') watchman.acquired(answer.fence)
            return answer
          }
        }
        if (key === 'put') {
          return async (...args: Parameters<Store['put']>) => {
            const answer = await store.put(...args)
            if (answer.kind === 'queued') watchman.posted(args[1].id, (await store.read(args[0], { limit: 0 })).tail)
            return answer
          }
        }
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
}

const CALM: Behaviour = { kind: 'returns', text: 'calm' }
