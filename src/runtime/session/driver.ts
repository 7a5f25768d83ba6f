/**
 * Drives one session in this process whenever it is due (W3): takes the lease, runs a runner to its rest, looks again. Owns when;
 * what happens in between is the runner's. May be late, doubled or wrong without harm: safety is the store's.
 */
import { isTurnstepError, TurnstepError } from '../../kernel/errors.ts'
import type { Draft, Event } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import { releaseSoonDue } from '../runner/lease.ts'
import { deferred } from '../../util/deferred.ts'
import { AbortScope } from '../../util/signal.ts'
import type { LiveAgent } from '../define/agent.ts'
import type { Acquired, QueueMark } from '../ports.ts'
import { Runner } from '../runner/runner.ts'
import type { Granted, RunnerOptions } from '../runner/runner-options.ts'
import { Stragglers } from '../runner/stragglers.ts'
import type { Live } from '../session.ts'
import type { WarmStates } from './warm-states.ts'

/** What drivers have in common: one object for all sessions of a harness, so that a session at rest costs little. */
export interface DriverHost extends Pick<
  RunnerOptions,
  'store' | 'clock' | 'ids' | 'random' | 'sync' | 'leaseTtlMs' | 'locale' | 'fairShare'
> {
  /** Who we are, for those who are told that the session is busy. */
  readonly owner: string
  readonly warm: WarmStates
  /** The agent that a session names, or the one it was opened with. */
  agentOf(session: SessionId, name: string | null): LiveAgent
  publish(session: SessionId, live: Live): void
  onDurable(session: SessionId, events: readonly Event[]): void
  report(session: SessionId, error: Error): void
  /** Asked before a lease is taken. */
  mayWake(session: SessionId, scope: AbortScope): Promise<boolean>
}

/** The arrival of the last input that is pending, and how far the queue was read. */
interface QueueEnd {
  readonly arrival: number
  readonly mark: QueueMark
}

/** After a fault that may pass, the session is due again so much later. */
const RETRY_AFTER_MS = 5_000

/** Faults of an unknown kind in a row, after which only new input is a reason to try again. */
const UNKNOWN_FAULTS_MAX = 5

export class Driver {
  readonly session: SessionId
  readonly #host: DriverHost
  readonly #stragglers: Stragglers
  readonly #unwatch: () => void
  #running: Promise<void> | null = null
  /** The last look ended in a run. */
  #drove = false
  #again = false
  readonly #closing = new AbortScope()
  /** What plugins want to have written, until it is. */
  readonly #facts: Draft[] = []
  #runner: Runner | null = null
  #error: Error | null = null
  #unknownFaults = 0
  /** Where the queue ended when a runner stopped on a fault: what comes after it is a reason to try again. */
  #endAtFault: QueueEnd | null = null
  /** Takes back the next try to release a lease that the store would not take. */
  #cancelRelease: (() => void) | null = null

  constructor(host: DriverHost, session: SessionId) {
    this.#host = host
    this.session = session
    this.#stragglers = new Stragglers(host.clock)
    this.#unwatch = host.store.watch(session, (what) => {
      if (what === 'inbox') this.hint()
    })
  }

  get isRunning(): boolean {
    return this.#runner !== null
  }

  /** Takes the lease and drives. Answers `busy`, and does nothing, if somebody else holds it. */
  open(): Promise<Exclude<Acquired, { kind: 'acquired' }> | { readonly kind: 'open' }> {
    const opened = deferred<Exclude<Acquired, { kind: 'acquired' }> | { readonly kind: 'open' }>()
    this.#run(async () => {
      try {
        const acquired = await this.#acquire()
        if (acquired.kind !== 'acquired') return opened.resolve(acquired)
        opened.resolve({ kind: 'open' })
        await this.#drive(acquired)
      } catch (error) {
        if (opened.settled) throw error
        opened.reject(error)
      }
    })
    return opened.promise
  }

  /** Something may be due: looks, and drives if it is. */
  hint(): void {
    if (this.#closed) return
    if (this.#running !== null) this.#again = true
    else this.#run(() => this.#driveIfDue())
  }

  /** Resolves when nothing is left to do here. Rejects with what stopped the runner. */
  async settled(): Promise<void> {
    for (let looks = 0; ; looks++) {
      while (this.#running !== null) await this.#running
      if (this.#error !== null) throw this.#error
      // It was due and was not driven here: a hook has it wait, or somebody else was faster.
      if (looks > 0 && !this.#drove) return
      if (this.#closed || !(await this.#isDue())) return
      if (this.#running === null) this.#run(() => this.#driveIfDue())
    }
  }

  emit(draft: Draft): void {
    this.#facts.push(draft)
    this.#runner?.factsCame()
  }

  /** Parks the session. Bodies and model calls that are still at work after `graceMs` are left behind. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort()
    this.#unwatch()
    this.#cancelRelease?.()
    this.#runner?.park()
    const closed = new TurnstepError(
      'session-closed',
      `session "${this.session}" was closed here while it was at work; open it again to go on`,
    )
    const cancel = this.#host.clock.after(graceMs, () => this.#runner?.kill(closed))
    await this.#running
    cancel()
    this.#stragglers.clear()
  }

  #run(work: () => Promise<unknown>): void {
    // Begun only when it is known to run: the store tells of a lease while it is being taken, and that hint must find us at work.
    this.#running = Promise.resolve()
      .then(work)
      .then(
        (drove) => void (this.#drove = drove === true),
        (error: unknown) => this.#stopped(error as Error),
      )
      .finally(() => {
        this.#running = null
        if (!this.#again || this.#closed) return
        this.#again = false
        this.#run(() => this.#driveIfDue())
      })
  }

  get #closed(): boolean {
    return this.#closing.aborted
  }

  async #isDue(): Promise<boolean> {
    if ((await this.#host.store.due([this.session])).length > 0) return true
    // After a fault that does not pass nothing makes the session due by itself, but a new input is a new reason (W3).
    return this.#endAtFault !== null && (await this.#queueEnd(this.#endAtFault)).arrival > this.#endAtFault.arrival
  }

  /** Where the queue ends, as far as something changed since `since`. */
  async #queueEnd(since: QueueEnd | null): Promise<QueueEnd> {
    const { pending, mark } = await this.#host.store.pendingSince(this.session, since?.mark ?? null)
    return { arrival: pending.at(-1)?.arrival ?? -Infinity, mark }
  }

  /** True: it was due, and driven. */
  async #driveIfDue(): Promise<boolean> {
    if (this.#closed || !(await this.#isDue()) || !(await this.#host.mayWake(this.session, this.#closing))) return false
    const acquired = await this.#acquire()
    if (acquired.kind !== 'acquired') return false
    await this.#drive(acquired)
    return true
  }

  #acquire(): Promise<Acquired> {
    const { store, owner, leaseTtlMs } = this.#host
    return store.acquire(this.session, { owner, ttlMs: leaseTtlMs })
  }

  async #drive(lease: Granted): Promise<void> {
    this.#error = null
    this.#endAtFault = null
    const runner = new Runner(this.#runnerOptions(lease))
    this.#runner = runner
    try {
      if (this.#closed) runner.park()
      if ((await runner.run()) === 'rested') this.#host.warm.keep(this.session, runner.warm)
      this.#unknownFaults = 0
    } catch (error) {
      this.#endAtFault = await this.#queueEnd(null).catch(() => null)
      await this.#letGo(lease.fence, error)
      throw error
    } finally {
      this.#runner = null
    }
  }

  #runnerOptions(lease: Granted): RunnerOptions {
    const host = this.#host
    const { session } = this
    const { store, clock, ids, random, sync, leaseTtlMs, locale, fairShare } = host
    return {
      session,
      store,
      clock,
      ids,
      random,
      sync,
      leaseTtlMs,
      locale,
      lease,
      fairShare,
      stragglers: this.#stragglers,
      warm: host.warm.take(session),
      facts: this.#facts,
      agentOf: (name) => host.agentOf(session, name),
      publish: (live) => host.publish(session, live),
      onDurable: (events) => host.onDurable(session, events),
      report: (error) => host.report(session, error),
    }
  }

  #stopped(error: Error): void {
    this.#error = error
    this.#host.publish(this.session, { type: 'stopped', error })
  }

  /**
   * A runner that stopped on a fault gives the lease back, so that the session is not locked until this process ends. A store that
   * cannot even take that is asked again for as long as the session is open here (a disk that is full, case 054).
   */
  async #letGo(fence: number, error: unknown, afterMs = RETRY_AFTER_MS): Promise<void> {
    if (isTurnstepError(error, 'lease-lost')) return
    const { store, clock } = this.#host
    // What nobody knows may pass as well, but not for ever.
    const passes = isTurnstepError(error) ? error.class === 'retry' : ++this.#unknownFaults <= UNKNOWN_FAULTS_MAX
    try {
      if (isTurnstepError(error, 'session-closed')) await releaseSoonDue(store, this.session, fence)
      else await store.release(this.session, fence, { wake: [], ...(passes ? { until: store.now() + afterMs } : {}) })
    } catch {
      // The store is what failed, and said so to whoever waits for the session. Once it takes this it has had its time to come back.
      if (!this.#closed)
        this.#cancelRelease = clock.after(RETRY_AFTER_MS, () => void this.#letGo(fence, error, 1), { unref: true })
    }
  }
}
