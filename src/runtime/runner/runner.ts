/**
 * The runner: one lease of one session, from load to release. Asks the loop what to do, does it, writes down what happened.
 * Owns the order of things and nothing else: what may happen is the fold's, what should is the loop's, how is its parts'.
 * Invariants: all recording happens within its loop, by one effect or landing at a time; it sleeps only after a flush, and only if nothing
 * arrived since it last looked; a runner that is not sure of its lease stops (W2).
 */
import { assertNever } from '../../util/assert.ts'
import { AbortScope } from '../../util/signal.ts'
import { after, type Maybe } from '../../util/maybe.ts'
import type { Effect } from '../../kernel/effects.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import { FORMAT, type Event } from '../../kernel/events.ts'
import { limitAskId, type SessionId } from '../../kernel/ids.ts'
import type { TurnOutcome } from '../../kernel/outcome.ts'
import type { State } from '../../kernel/state.ts'
import type { Json } from '../../util/json.ts'
import { absorbControl } from './absorb.ts'
import type { LiveAgent } from '../define/agent.ts'
import type { AskOptions } from '../ask-hook.ts'
import { CallPool } from './call-pool.ts'
import { requestCall, sleepUntil } from './code-steps.ts'
import { ControlWatch } from './control-watch.ts'
import { recordDamage } from './damage.ts'
import { endTurn, stopTurn } from './ending.ts'
import { ensureEpoch } from './epoch.ts'
import { passGate, rejectExpired } from './gate.ts'
import { Grace } from './grace.ts'
import { Inbox } from './inbox.ts'
import { Inference, type Begun } from './inference.ts'
import { InputsGone, Journal } from './journal.ts'
import { Judge } from './judge.ts'
import { Lease, releaseSoonDue } from './lease.ts'
import { damagedLog, foldOwn, loadState } from './load.ts'
import type { HookContext } from '../define/plugin.ts'
import type { RegisteredHook } from '../define/plugin-host.ts'
import type { Clock, Ids, Random, Store } from '../ports.ts'
import type { Run } from './run.ts'
import { observe } from './run-hooks.ts'
import type { Granted, RunEnd, RunnerOptions, Warm } from './runner-options.ts'
import type { Live } from '../session.ts'
import { settleCalls } from './settle.ts'
import { Sleep } from './sleep.ts'
import { Snapshots } from './snapshots.ts'
import { StallWatch } from './stall.ts'
import { statusOf } from './status.ts'
import { Viewpoint } from './view.ts'
import type { SyncPoints } from '../sync-points.ts'
import { WORDINGS, type Wording } from '../wording.ts'

export class Runner implements Run {
  readonly session: SessionId
  readonly fence: number
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  readonly sync: SyncPoints
  readonly inbox: Inbox
  agent: LiveAgent
  journal!: Journal
  wording: Wording

  readonly #options: RunnerOptions
  readonly #lease: Lease
  readonly #stop = new AbortScope()
  readonly #inference: Inference
  readonly #judge: Judge
  readonly #pool: CallPool
  readonly #control: ControlWatch
  readonly #viewpoint: Viewpoint
  readonly #sleeping: Sleep
  readonly #grace: Grace
  readonly #snapshots: Snapshots
  #turn: AbortScope
  #landings: (() => void)[] = []
  #parking = false

  constructor(options: RunnerOptions) {
    this.#options = options
    this.session = options.session
    this.fence = options.lease.fence
    this.store = options.store
    this.clock = options.clock
    this.ids = options.ids
    this.random = options.random
    this.sync = options.sync
    this.wording = WORDINGS[options.locale]
    this.agent = options.agentOf(null)
    this.inbox = new Inbox(options.store, options.session)
    this.#control = new ControlWatch(this.inbox, (error) => this.report(error))
    this.#turn = new AbortScope(this.#stop)
    this.#inference = new Inference(this)
    this.#judge = new Judge(this)
    this.#pool = new CallPool(this, this.#judge, options.stragglers)
    this.#sleeping = new Sleep(options.clock)
    this.#snapshots = new Snapshots(this)
    this.#grace = new Grace(options.clock, () => this.#sleeping.wake())
    this.#viewpoint = new Viewpoint({
      run: this,
      inference: this.#inference,
      judge: this.#judge,
      pool: this.#pool,
      grace: this.#grace,
    })
    this.#lease = new Lease({ ...options, fence: this.fence, onLost: (error) => this.kill(error) })
  }

  get state(): State {
    return this.journal.state
  }

  get stopScope(): AbortScope {
    return this.#stop
  }

  get turnScope(): AbortScope {
    return this.#turn
  }

  /** Drives the session until it rests. Throws if the lease is lost or the store fails: whoever comes next reads the log. */
  async run(): Promise<RunEnd> {
    const unwatch = this.store.watch(this.session, (what) => this.#onChange(what))
    const unlisten = this.#options.stragglers.listen(() => this.#sleeping.wake())
    this.#lease.start()
    const cancelKeepAlive = this.#sleeping.keepAlive()
    try {
      const { warm, lease } = this.#options
      if (warm !== null && isCurrent(warm, lease)) this.#goOnFrom(warm)
      else await this.#load()
      await this.#open()
      return await this.#drive()
    } finally {
      unwatch()
      unlisten()
      this.#lease.stop()
      cancelKeepAlive()
      this.#grace.end()
      this.#stop.abort()
      this.#turn.leave()
      this.#inference.drop()
      this.#pool.letAllGo()
    }
  }

  /** Parks the session where it stands: nothing new starts, what runs may end until `graceMs` are over, then the lease is let go. */
  park(): void {
    this.#parking = true
    this.#sleeping.wake()
  }

  /** Ends the run at once, without a release: the lease is lost, or nobody may wait any longer. */
  kill(error: Error): void {
    // First, so that a body that obeys the signal is known to have stopped for this.
    this.#pool.letAllGo()
    this.#stop.abort(error)
    this.#sleeping.wake()
  }

  /** There are facts to append: see to it. */
  factsCame(): void {
    this.#sleeping.wake()
  }

  land(record: () => void): void {
    this.#landings.push(record)
    this.#sleeping.wake()
  }

  publish(live: Live): void {
    for (const { hook } of this.agent.plugins.hooks('onDelta'))
      observe(this, () => hook(live, { session: this.session }))
    this.#options.publish(live)
  }

  report(error: Error): void {
    this.#options.report(error)
  }

  holdsLease(): boolean {
    return this.#lease.holds()
  }

  hookContext(scope: AbortScope): HookContext {
    const { state, session } = this
    return {
      session,
      state,
      turn: state.turn?.n ?? 0,
      step: state.step?.n ?? state.turn?.steps ?? 0,
      signal: scope.signal,
    }
  }

  askOptions(hook: Pick<RegisteredHook, 'plugin' | 'timeoutMs'>): AskOptions {
    return {
      clock: this.clock,
      timeoutMs: hook.timeoutMs,
      plugin: hook.plugin,
      scope: this.#turn,
      onControl: (run) => this.#control.onControl(run),
    }
  }

  async #load(): Promise<void> {
    const { session, store, fence } = this
    const { state, damage, folded } = await loadState(store, session, this.agent.plugins.folds())
    if (damage !== null) throw damagedLog(session, damage)
    // Taken over before it had read a line: whatever it recorded would be illegal, and none of its business (W1).
    if (state.fence > fence) throw leaseLost(session)
    this.#goOnWith(state, state.seq - folded)
    if (state.created !== null) await this.#adopt(this.#options.agentOf(state.agent))
  }

  /** The log ends where the last run here left it: its state is the state, and plugins have folded all of it. */
  #goOnFrom({ state, agent, snapshotAt }: Warm): void {
    this.agent = agent
    this.#goOnWith(state, snapshotAt)
  }

  /** What this runner leaves to the next one here, once it rests. */
  get warm(): Warm {
    const { life, fence } = this.#options.lease
    const { version } = this.agent.plugins
    return { state: this.state, agent: this.agent, version, life, fence, snapshotAt: this.#snapshots.at }
  }

  #goOnWith(state: State, snapshotAt: number): void {
    const { session, store, fence } = this
    this.#snapshots.at = snapshotAt
    this.journal = new Journal({
      store,
      session,
      fence,
      state,
      sync: this.sync,
      onDurable: (events) => this.#onDurable(events),
    })
    // A session that waited for people was not down, however long it took them (A3, C4).
    const rested = state.seq === 0 || statusOf(state).kind === 'waiting'
    this.#viewpoint.owed = { seq: state.seq, downMs: rested ? 0 : Math.max(0, store.now() - state.at) }
    this.#judge.forget()
    this.#viewpoint.gated = false
    this.inbox.reset()
  }

  /** Goes on as this agent. Plugins that only it has fold the log as far as it is durable; the rest reaches them as it becomes so. */
  async #adopt(agent: LiveAgent): Promise<void> {
    const known = new Set(this.agent.plugins.folds())
    this.agent = agent
    await foldOwn(
      this.store,
      this.session,
      agent.plugins.folds().filter((fold) => !known.has(fold)),
    )
  }

  /** A claim came to nothing: the state is what the store says, and what plugins had to say is still to be said. */
  async #reload(): Promise<void> {
    this.#options.facts.unshift(...this.journal.unwrittenFacts())
    await this.#load()
  }

  /** What must be in the log before anything else: that it exists, what was lost of it, and which agent goes on. */
  async #open(): Promise<void> {
    const { locale, lease } = this.#options
    if (this.state.created === null) {
      this.journal.record({ type: 'session.created', format: FORMAT, agent: this.agent.name, locale })
    } else {
      this.wording = WORDINGS[this.state.created.locale === 'zh' ? 'zh' : 'en']
    }
    if (lease.repaired !== null) recordDamage(this, lease.repaired)
    await this.journal.flush()
    if (this.state.turn?.abort != null) this.#abortTurn()
  }

  async #drive(): Promise<RunEnd> {
    const stall = new StallWatch()
    for (;;) {
      this.#sleeping.beginToLook()
      this.#stop.throwIfAborted()
      if (this.inbox.isStale) await this.inbox.refresh()
      this.#consumeKnown()
      this.#recordLandings()
      try {
        if (this.#parking && (await this.#parked())) return 'parked'
        const seq = this.state.seq
        const effect = this.agent.loop.next(this.#viewpoint.look())
        if (effect.kind === 'rest') {
          if (await this.#rest(effect)) return 'rested'
        } else {
          // Nothing new is begun while parking: wait for what is live, or for the grace to end.
          const waits = this.#parking && effect.kind !== 'wait' && effect.kind !== 'absorb'
          const doing = waits ? this.#sleep() : this.#perform(effect)
          if (doing !== undefined) await doing
        }
        const live = this.#inference.live || this.#pool.isBusy
        stall.saw(this.agent.loop.name, effect, { changed: this.state.seq !== seq, live })
      } catch (error) {
        if (!(error instanceof InputsGone)) throw error
        await this.#reload()
      }
      const pause = this.#options.fairShare.pause()
      if (pause !== undefined) await pause
    }
  }

  /** An id that the log has settled, though the store does not know it (a log that was imported), is the same input again (I1). */
  #consumeKnown(): void {
    const read = this.inbox.takeRead()
    if (read.length === 0) return
    const known = read.filter((input) => this.state.settled.has(input.id))
    for (const input of known) this.journal.consume(input, { kind: 'rejected', reason: 'duplicate' })
    this.inbox.drop(known)
  }

  #recordLandings(): void {
    if (this.#landings.length > 0) for (const record of this.#landings.splice(0)) record()
    const { facts } = this.#options
    if (facts.length > 0) for (const draft of facts.splice(0)) this.journal.record(draft)
  }

  #perform(effect: Exclude<Effect, { kind: 'rest' }>): Maybe<void> {
    switch (effect.kind) {
      case 'absorb':
        return this.#absorb()
      case 'begin':
        return this.#begin(effect.trigger)
      case 'claim':
        return this.#claim(effect)
      case 'infer':
        return this.#infer()
      case 'settle-request':
        return this.#settleRequest(effect.reason)
      case 'judge':
        return this.#judge.judge(effect.calls)
      case 'execute':
        return this.#pool.start(effect.calls)
      case 'settle':
        return settleCalls(this, this.#pool, effect.calls, effect.as)
      case 'end-step':
        return void this.journal.record({ type: 'step.ended' })
      case 'stopping':
        return this.#stopTurn(effect.outcome)
      case 'end-turn':
        return this.#endTurn(effect.outcome)
      case 'ask-limit':
        return void this.journal.record({ type: 'turn.limit-asked', ask: limitAskId(this.state.turn!.n) })
      case 'switch':
        return this.#switch(effect)
      case 'call':
        return requestCall(this, effect)
      case 'sleep':
        return sleepUntil(this, effect)
      case 'note':
        return void this.journal.record({ type: 'loop.noted', key: effect.key, value: effect.value as Json })
      case 'wait':
        return this.#sleep(effect.until)
      case 'compact':
      case 'spawn':
        throw new TurnstepError(
          'effect-unsupported',
          `loop "${this.agent.loop.name}" asked for "${effect.kind}", which this version cannot do`,
        )
      default:
        assertNever(effect, 'effect')
    }
  }

  async #stopTurn(outcome: TurnOutcome): Promise<void> {
    await this.#again(await stopTurn(this, outcome), 'ended')
  }

  async #endTurn(outcome: TurnOutcome): Promise<void> {
    await this.#again(await endTurn(this, outcome), 'ended')
  }

  async #absorb(): Promise<void> {
    if (await absorbControl(this)) this.#abortTurn()
    this.#pool.letEndedGo()
  }

  #begin(trigger: 'input' | 'go-on'): void {
    // What nobody wants any more starts no turn, and holds up nothing that waits behind it.
    if (trigger === 'input' && rejectExpired(this) > 0) return
    this.#turn.leave()
    this.#turn = new AbortScope(this.#stop)
    ensureEpoch(this)
    this.journal.record({ type: 'turn.started', trigger, limits: this.agent.settings.turn })
  }

  #claim(effect: Extract<Effect, { kind: 'claim' }>): Maybe<void> {
    if (this.state.step === null) ensureEpoch(this)
    return after(passGate(this, effect), (passed) => void (this.#viewpoint.gated = passed))
  }

  #infer(): Maybe<void> {
    const beginning = this.#inference.begin()
    return beginning instanceof Promise ? beginning.then((begun) => this.#inferred(begun)) : this.#inferred(beginning)
  }

  #inferred(begun: Begun): Maybe<void> {
    const again = this.#again(begun, 'begun')
    if (again !== undefined) return again
    // While the model thinks there is time for it, and everything recorded is durable.
    if (this.#snapshots.isDue && this.#inference.live && this.journal.isClean) return this.#snapshots.write()
  }

  /** A conditional effect that did not come true: the inbox is looked at again, or the state is loaded anew. */
  #again<Answer extends string>(answer: Answer | 'again' | 'gone', done: Answer): Maybe<void> {
    if (answer === 'gone') return this.#reload()
    if (answer === done) this.#viewpoint.gated = false
    else this.inbox.touch()
  }

  async #settleRequest(reason: 'crashed' | 'aborted' | 'superseded'): Promise<void> {
    if (reason === 'crashed' || !this.#inference.live)
      await this.#inference.closeOrphan(reason === 'aborted' ? 'aborted' : 'crashed')
    else this.#inference.abandon(reason)
  }

  async #switch(effect: Extract<Effect, { kind: 'switch' }>): Promise<void> {
    this.journal.record({ type: 'agent.switched', to: effect.to, by: effect.by })
    await this.#adopt(this.#options.agentOf(effect.to))
    ensureEpoch(this, 'switched')
  }

  #abortTurn(): void {
    const abort = this.state.turn!.abort!
    this.#grace.begin(abort, this.store.now())
    this.#turn.abort(new Error(abort.reason))
  }

  /** Flushes, then sleeps until something lands or arrives, or until `until`. */
  #sleep(until?: number): Maybe<void> {
    return after(this.journal.flush(), () => {
      if (!this.#sleeping.isWoken && !this.inbox.isStale)
        return this.#sleeping.till(until === undefined ? undefined : until - this.store.now())
    })
  }

  /** True: the lease is released. False: something is due already (W3). */
  async #rest(rest: Extract<Effect, { kind: 'rest' }>): Promise<boolean> {
    await this.journal.flush()
    if (this.#snapshots.isDue) await this.#snapshots.write()
    // A plugin may have had something to say about what was just written.
    if (this.#options.facts.length > 0) return false
    await this.sync.reach('before-release')
    const { wake, until, since } = rest
    // A loop may not let go of what is at work here.
    if (this.#inference.live || this.#pool.isBusy) {
      await this.#sleep(until)
      return false
    }
    const answer = await this.store.release(this.session, this.fence, {
      wake,
      ...(until === undefined ? {} : { until }),
      ...(since === undefined ? {} : { since }),
    })
    if (answer.kind === 'lost') throw leaseLost(this.session)
    await this.sync.reach('after-release')
    if (answer.kind === 'released') return true
    // The store knows of something that we do not: all of the queue is read again, not what changed in it.
    this.inbox.reset()
    return false
  }

  /** True: nothing is live any more, and the session is due for whoever opens it next. */
  async #parked(): Promise<boolean> {
    await this.journal.flush()
    if (this.#inference.live || this.#pool.isBusy) return false
    await releaseSoonDue(this.store, this.session, this.fence)
    return true
  }

  #onChange(what: 'log' | 'inbox'): void {
    if (what === 'log') return
    this.inbox.touch()
    this.#sleeping.wake()
    this.#control.arrived()
  }

  #onDurable(events: readonly Event[]): void {
    for (const fold of this.agent.plugins.folds()) for (const event of events) fold.apply(this.session, event)
    for (const { hook } of this.agent.plugins.hooks('onEvent'))
      for (const event of events) observe(this, () => hook(event, { session: this.session }))
    this.#options.onDurable(events)
  }
}

/** Nobody had the lease since, so nobody wrote and nobody mended (W1); and no plugin came that has still to fold. */
function isCurrent({ state, agent, version, life, fence }: Warm, lease: Granted): boolean {
  const isNext = life === lease.life && lease.fence === fence + 1 && lease.repaired === null
  return isNext && state.seq === lease.tail && version === agent.plugins.version
}

function leaseLost(session: SessionId): TurnstepError {
  return new TurnstepError('lease-lost', `the lease on session "${session}" was lost; whoever holds it now goes on`)
}
