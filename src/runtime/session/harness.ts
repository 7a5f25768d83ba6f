/**
 * Many sessions over one store: opens, attaches, drives, closes. Owns the agents and the plugins; each session is driven by at most
 * one driver here, and by at most one runner anywhere (W1).
 */
import type { Loop } from '../../kernel/effects.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import { sessionId, type SessionId } from '../../kernel/ids.ts'
import { agent as checkedAgent, LiveAgent, type AgentSpec } from '../define/agent.ts'
import { askHook } from '../ask-hook.ts'
import { refuseUnknown, type Known } from '../borders.ts'
import type { AbortScope } from '../../util/signal.ts'
import { FairShare } from '../runner/fair-share.ts'
import { Driver, type DriverHost } from './driver.ts'
import { LiveBus } from './live.ts'
import { PluginHost, type Emit } from '../define/plugin-host.ts'
import type { Plugin } from '../define/plugin.ts'
import type { Clock, Ids, Model, Random, SessionRow, Store } from '../ports.ts'
import { missingSession, StoredSession, type HandleOptions } from './session-handle.ts'
import { WarmStates } from './warm-states.ts'
import type { Session, SessionHandle, SessionStatus } from '../session.ts'
import { noSyncPoints, type SyncPoints } from '../sync-points.ts'
import type { Locale } from '../wording.ts'

/** Everything that a harness takes from outside. */
export interface HarnessPorts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  /** The loop of agents that name none. */
  readonly loop: Loop
  /** Who we are, for those who are told that a session is busy. */
  readonly owner: string
  readonly resolveModel: (name: string) => Model
  readonly sync?: SyncPoints
}

/** What a harness is told beside its ports: agents, plugins, language, and how often it looks. */
export interface HarnessOptions {
  /** Agents by name, for `open('name')` and for sessions that are resumed. */
  readonly agents?: readonly AgentSpec[]
  /** Loaded for every agent. */
  readonly plugins?: readonly Plugin[]
  /** Language of what models and people are told. Default `en`. */
  readonly locale?: Locale
  /** Faults that are nobody's outcome: a hook that threw, a straggler that could not report. Default: nobody hears them. */
  readonly onError?: (error: Error, session: SessionId) => void
  /** Time to live of a lease, where the store has one. Default 15,000. */
  readonly leaseTtlMs?: number
  /** How often sessions that are open here are looked at, beside the hints of the store. Default 500. */
  readonly pollMs?: number
}

/** Which session is opened, and what for. */
export interface OpenOptions {
  /** The session's name; a fresh one if omitted. */
  readonly session?: string
  /** Reads only: resumes nothing, drives nothing (L4). */
  readonly readonly?: boolean
}

/** The names of what a harness is told. */
export const HARNESS_OPTIONS: Known<HarnessOptions> = {
  agents: true,
  plugins: true,
  locale: true,
  onError: true,
  leaseTtlMs: true,
  pollMs: true,
}

/** The names of what opening is told. */
export const OPEN_OPTIONS: Known<OpenOptions> = { session: true, readonly: true }

const CLOSE_GRACE_MS = 5_000
const SESSION_ID = /^[\p{L}\p{N}_][\p{L}\p{N}_.:@-]{0,127}$/u

/** Many sessions over one store. Made by `createHarness`; close it when done: that parks what runs and closes the store. */
export class Harness {
  readonly #ports: HarnessPorts
  readonly #host: DriverHost
  readonly #options: HarnessOptions
  readonly #bus = new LiveBus()
  readonly #root: PluginHost
  readonly #agents = new Map<AgentSpec, LiveAgent>()
  readonly #drivers = new Map<SessionId, Driver>()
  /** With what each session that is open here was opened. */
  readonly #specs = new Map<SessionId, AgentSpec>()
  readonly #handles = new Set<StoredSession>()
  /** The session that this harness was made for, and closes with. */
  #only: Session | StoredSession | null = null
  /** A plugin's fact goes to the runner of its session; while nobody runs there is nobody to write it. */
  readonly #emit: Emit = (session, type, data) => this.#drivers.get(session)?.emit({ type, data })
  #cancelPoll: (() => void) | null = null
  #closed = false

  constructor(ports: HarnessPorts, options: HarnessOptions = {}) {
    this.#ports = ports
    this.#options = options
    this.#host = this.#hostOf(ports)
    this.#root = new PluginHost({ parent: null, emit: this.#emit })
    for (const plugin of options.plugins ?? []) this.#root.load(plugin)
  }

  /**
   * Opens a session for work: creates it if it is new, resumes what it owes. Throws `session-busy`, naming who and since when, if
   * somebody else drives it now; `attach` still reaches it.
   */
  async open(agent: AgentSpec | string, options: OpenOptions = {}): Promise<Session> {
    this.#throwIfClosed()
    refuseUnknown(options, OPEN_OPTIONS, 'harness.open')
    const spec = typeof agent === 'string' ? this.#specOf(agent) : agent
    const session = checkedId(options.session ?? this.#ports.ids.next())
    if (options.readonly === true) return this.#openReadonly(session)
    await this.#ports.store.create(session)
    // It may have been closed meanwhile: what came up now would drive the session, and nobody would ever end it.
    this.#throwIfClosed()
    if (this.#drivers.has(session))
      throw new TurnstepError(
        'session-busy',
        `session "${session}" is open here already; use that object, or close it first`,
      )
    this.#liveAgent(spec)
    this.#specs.set(session, spec)
    const driver = new Driver(this.#host, session)
    this.#drivers.set(session, driver)
    const opened = await this.#openDriver(driver)
    if (opened.kind !== 'open') {
      await this.#forget(driver)
      if (opened.kind === 'missing') throw missingSession(session)
      throw busy(session, opened.owner, opened.since)
    }
    this.#poll()
    return this.#track(new DrivenSession(this.#handleOptions(session), driver, this.#forget))
  }

  /** Opens a session that this harness was made for: closing it closes the harness too. Throws as `open` does. */
  async openOnly(agent: AgentSpec | string, options: OpenOptions = {}): Promise<Session> {
    const session = await this.open(agent, options)
    this.#only = session
    return session
  }

  async #openDriver(driver: Driver): ReturnType<Driver['open']> {
    try {
      return await driver.open()
    } catch (error) {
      await this.#forget(driver)
      throw error
    }
  }

  async #openReadonly(session: SessionId): Promise<Session> {
    await this.#throwIfMissing(session)
    this.#throwIfClosed()
    return this.#track(new ReadonlySession({ ...this.#handleOptions(session), readonly: true }))
  }

  /** Reaches a session that exists, whoever drives it: posts, reads, waits; drives nothing. Throws `session-missing`. */
  async attach(session: string): Promise<SessionHandle> {
    this.#throwIfClosed()
    const id = checkedId(session)
    await this.#throwIfMissing(id)
    this.#throwIfClosed()
    return this.#track(new StoredSession(this.#handleOptions(id)))
  }

  list(): Promise<readonly SessionRow[]> {
    return this.#ports.store.list()
  }

  /** Deletes a session for good; it is closed here, if it is open. Throws `session-busy` while somebody drives it. */
  async remove(session: string): Promise<void> {
    const removed = await this.#ports.store.remove(checkedId(session))
    if (removed === 'missing') throw missingSession(session)
    if (removed === 'busy')
      throw new TurnstepError('session-busy', `session "${session}" is being driven; close it there first`)
    const driver = this.#drivers.get(checkedId(session))
    if (driver !== undefined) await this.#forget(driver)
  }

  /** Parks what runs, closes what is open here, unloads the plugins. The store is closed too: it was given to this harness. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#cancelPoll?.()
    const { drivers, handles, agents } = {
      drivers: [...this.#drivers.values()],
      handles: [...this.#handles],
      agents: [...this.#agents.values()],
    }
    // Each step is taken whatever became of those before it: a plugin that cannot unload must not keep the store open.
    const results = [...(await Promise.allSettled(drivers.map((driver) => this.#forget(driver))))]
    this.#host.fairShare.end()
    for (const step of [
      ...handles.map((handle) => () => handle.close()),
      ...agents.map((agent) => () => agent.plugins.unloadAll()),
      () => this.#root.unloadAll(),
      () => this.#ports.store.close(),
    ]) {
      results.push(...(await Promise.allSettled([step()])))
    }
    const failed = results.find((result) => result.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** What is alive here: a test counts it down to nothing. */
  get alive(): { readonly drivers: number; readonly listeners: number } {
    return { drivers: this.#drivers.size, listeners: this.#bus.size }
  }

  async #throwIfMissing(session: SessionId): Promise<void> {
    // Any log at all says that it exists; only a session without one is looked for among all.
    if ((await this.#ports.store.read(session, { limit: 0 })).tail > 0) return
    if (!(await this.list()).some((row) => row.session === session)) throw missingSession(session)
  }

  #track<Handle extends StoredSession>(handle: Handle): Handle {
    this.#handles.add(handle)
    return handle
  }

  #specOf(name: string): AgentSpec {
    const known = this.#options.agents ?? []
    const spec = known.find((agent) => (agent.name ?? 'agent') === name)
    if (spec !== undefined) return spec
    throw new TurnstepError(
      'config-invalid',
      `there is no agent "${name}"; known: ${known.map((agent) => agent.name ?? 'agent').join(', ') || 'none'}`,
    )
  }

  #liveAgent(spec: AgentSpec): LiveAgent {
    const known = this.#agents.get(spec)
    if (known !== undefined) return known
    // It need not have come from `agent()`: what is wrong in it is said before anything runs.
    checkedAgent(spec)
    const model = typeof spec.model === 'string' ? this.#ports.resolveModel(spec.model) : spec.model
    const live = new LiveAgent(spec, {
      model,
      loop: spec.loop ?? this.#ports.loop,
      parent: this.#root,
      emit: this.#emit,
      ids: this.#ports.ids,
    })
    this.#agents.set(spec, live)
    return live
  }

  /** What every driver here works with. */
  #hostOf(ports: HarnessPorts): DriverHost {
    const { store, clock, ids, random, owner, sync = noSyncPoints } = ports
    const { locale = 'en', leaseTtlMs = 15_000, onError } = this.#options
    return {
      store,
      clock,
      ids,
      random,
      owner,
      sync,
      locale,
      leaseTtlMs,
      warm: new WarmStates(),
      fairShare: new FairShare(clock),
      agentOf: (session, name) => this.#agentOf(session, name),
      publish: (session, live) => this.#bus.publish(session, live),
      onDurable: (session, events) => this.#bus.settle(session, events),
      report: (session, error) => onError?.(error, session),
      mayWake: (session, scope) => this.#mayWake(session, scope),
    }
  }

  #agentOf(session: SessionId, name: string | null): LiveAgent {
    const own = this.#liveAgent(this.#specs.get(session)!)
    return name === null || name === own.name || !this.#hasAgent(name) ? own : this.#liveAgent(this.#specOf(name))
  }

  /** One `false` keeps the session asleep; a hook that fails or does not answer has no say. */
  async #mayWake(session: SessionId, scope: AbortScope): Promise<boolean> {
    for (const { hook, plugin, timeoutMs } of this.#agentOf(session, null).plugins.hooks('decideWake')) {
      const answer = await askHook(() => hook({ session }), {
        clock: this.#ports.clock,
        timeoutMs,
        plugin,
        scope,
        onControl: () => () => {},
      })
      if (answer.kind === 'failed') this.#options.onError?.(answer.error, session)
      if (answer.kind === 'control' || (answer.kind === 'answer' && answer.value === false)) return false
    }
    return true
  }

  #hasAgent(name: string): boolean {
    return (this.#options.agents ?? []).some((agent) => (agent.name ?? 'agent') === name)
  }

  /** Closes a driver, if it is still the one of its session: an old handle that is closed again must not end a new one. */
  readonly #forget = async (driver: Driver): Promise<void> => {
    const { session } = driver
    if (this.#drivers.get(session) !== driver) return
    await driver.close(CLOSE_GRACE_MS)
    if (this.#drivers.get(session) !== driver) return
    this.#drivers.delete(session)
    this.#host.warm.forget(session)
    for (const agent of this.#agents.values()) for (const fold of agent.plugins.folds()) fold.forget(session)
    if (this.#drivers.size === 0) {
      this.#cancelPoll?.()
      this.#cancelPoll = null
    }
    // Last: a plugin may fail to unload.
    await this.#unloadUnused(session)
  }

  /** An agent that was made for a session goes with the last session that uses it: a service may make one for each. */
  async #unloadUnused(session: SessionId): Promise<void> {
    const spec = this.#specs.get(session)
    this.#specs.delete(session)
    if (spec === undefined || this.#options.agents?.includes(spec) === true) return
    for (const other of this.#specs.values()) if (other === spec) return
    const agent = this.#agents.get(spec)
    this.#agents.delete(spec)
    await agent?.plugins.unloadAll()
  }

  #handleOptions(session: SessionId): HandleOptions {
    const { store, clock, ids } = this.#ports
    return { session, store, clock, ids, bus: this.#bus, onClose: this.#onClosed }
  }

  readonly #onClosed = async (handle: StoredSession): Promise<void> => {
    this.#handles.delete(handle)
    if (handle === this.#only) await this.close()
  }

  /** Timers that came due and drivers elsewhere that died give no hint: they are looked for (W3, W4). */
  #poll(): void {
    if (this.#cancelPoll !== null || this.#closed) return
    const look = async (): Promise<void> => {
      try {
        const idle = [...this.#drivers.values()].filter((driver) => !driver.isRunning)
        const due = new Set(idle.length === 0 ? [] : await this.#ports.store.due(idle.map((driver) => driver.session)))
        for (const driver of idle) if (due.has(driver.session)) driver.hint()
      } catch (error) {
        for (const session of this.#drivers.keys()) this.#options.onError?.(error as Error, session)
      }
      if (this.#cancelPoll !== null) arm()
    }
    const arm = (): void => {
      this.#cancelPoll = this.#ports.clock.after(this.#options.pollMs ?? 500, () => void look(), { unref: true })
    }
    arm()
  }

  #throwIfClosed(): void {
    if (this.#closed) throw new TurnstepError('session-closed', 'this harness is closed; create another one')
  }
}

class DrivenSession extends StoredSession implements Session {
  readonly #driver: Driver
  readonly #forget: (driver: Driver) => Promise<void>

  constructor(options: HandleOptions, driver: Driver, forget: (driver: Driver) => Promise<void>) {
    super(options)
    this.#driver = driver
    this.#forget = forget
  }

  async settled(): Promise<SessionStatus> {
    await this.#driver.settled()
    return this.status()
  }

  override async close(): Promise<void> {
    try {
      await this.#forget(this.#driver)
    } finally {
      await super.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** Reads, and refuses to write. */
class ReadonlySession extends StoredSession implements Session {
  settled(): Promise<SessionStatus> {
    return this.status()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** Session names are safe in file names, shells and URLs, and may be Chinese. */
function checkedId(text: string): SessionId {
  if (SESSION_ID.test(text)) return sessionId(text)
  throw new TurnstepError(
    'session-id-invalid',
    `"${text}" is no session name; use letters, digits, "_", "-", ".", ":" or "@", at most 128, not starting with a sign`,
  )
}

function busy(session: SessionId, owner: string, since: number): TurnstepError {
  return new TurnstepError(
    'session-busy',
    `session "${session}" is being driven by ${owner}; you can still send, steer and watch it`,
    {
      data: { session, owner, since },
    },
  )
}
