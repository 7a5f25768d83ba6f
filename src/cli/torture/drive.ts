/**
 * One process of a run: drives the session of a torture to its rest, as a program of the user's would, and writes down what it sees. All
 * that it posts has an id of its own, so that a process after a kill says it all again and nothing is said twice (I1).
 */
import { relative } from 'node:path'
import { nodeClock, nodeIds } from '../../host/node.ts'
import { sessionId } from '../../kernel/ids.ts'
import { createHarness } from '../../presets/harness.ts'
import { pause } from '../../runtime/pause.ts'
import type { Store } from '../../runtime/ports.ts'
import type { Ask, Session, SessionHandle, SessionStatus } from '../../runtime/session.ts'
import type { Harness } from '../../runtime/session/harness.ts'
import { overStore } from '../../stores/over-store.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { messageOf } from '../../util/text.ts'
import { Bodies } from './bodies.ts'
import { drivenIn } from './files.ts'
import { countHandles, moreThan, type Handles } from './handles.ts'
import { Hits } from './hits.ts'
import { entriesOf, readJournal, type Journal } from './journal.ts'
import { runPaths, SESSION, type Job } from './job.ts'
import { loadAgent, type Loaded } from './load.ts'

export async function drive(job: Job, root: string, journal: Journal): Promise<void> {
  const paths = runPaths(root)
  const loaded = await loadAgent(job, nodeClock)
  const opened = drivenIn([paths.work, paths.temp]).map((path) => relative(paths.work, path))
  const before = await countHandles(nodeClock)
  const hits = new Hits(journal, job.hit)
  const store = tapped(await sqliteStore({ path: paths.database, clock: nodeClock, ids: nodeIds }), hits)
  const { tail } = await store.read(sessionId(SESSION), { limit: 0 })
  const { spec, model, hasCheck: check } = loaded
  journal.write({ what: 'started', agent: spec.name ?? 'agent', tail, model, check, opened })
  let isClosed = false
  const harness = await createHarness({
    store,
    sync: hits,
    owner: `torture, process ${job.process}`,
    locale: loaded.locale,
    pollMs: POLL_MS,
    onError(error) {
      // What comes home later finds everything closed: that it is late is said by other means.
      if (!isClosed) journal.write({ what: 'fault', problem: error.message })
    },
  })
  const driven = new Driven({ job, loaded, journal, hits, harness, journalPath: paths.journal })
  const status = await driven.toRest()
  await harness.close()
  isClosed = true
  const bodies = [...driven.bodies.atWork]
  journal.write({ what: 'rested', status, bodies, handles: await leftAlive(before) })
}

const POLL_MS = 100

/** Every put is a commit, of an input or of what the runtime posts itself. */
function tapped(store: Store, hits: Hits): Store {
  const put: Store['put'] = async (...args) => {
    hits.pass('before-put')
    const posted = await store.put(...args)
    hits.pass('after-put')
    return posted
  }
  return overStore(store, { put })
}

/** How long what the agent started may take to end, once nothing is left to do. */
const GRACE_MS = 1_500

async function leftAlive(before: Handles): Promise<ReturnType<typeof moreThan>> {
  const until = nodeClock.now() + GRACE_MS
  for (;;) {
    const more = moreThan(before, await countHandles(nodeClock))
    if (more.length === 0 || nodeClock.now() >= until) return more
    await pause(nodeClock, 20)
  }
}

interface DrivenOptions {
  readonly job: Job
  readonly loaded: Loaded
  readonly journal: Journal
  readonly hits: Hits
  readonly harness: Harness
  readonly journalPath: string
}

class Driven {
  readonly bodies: Bodies
  readonly #options: DrivenOptions
  readonly #steered = new Set<number>()
  readonly #decided = new Set<string>()
  #isStopping = false

  constructor(options: DrivenOptions) {
    const { journal, hits, journalPath } = options
    this.#options = options
    const begun = new Map<string, number>()
    for (const { call } of entriesOf(readJournal(journalPath), 'begun')) begun.set(call, (begun.get(call) ?? 0) + 1)
    this.bodies = new Bodies({
      journal,
      hits,
      clock: nodeClock,
      begun,
      onBody: (nth) => this.#steer(nth - 1),
      onStop: (how) => void this.#stop(how),
    })
  }

  /** Answers how the session stands when nothing is left to do: its status, or `stopped` if this process was told to stop. */
  async toRest(): Promise<string> {
    const { harness, loaded, journal } = this.#options
    try {
      const session = await harness.open(this.bodies.wrapAgent(loaded.spec), { session: SESSION })
      journal.write({ what: 'tools', tools: this.bodies.tools })
      for (const [index, text] of loaded.messages.entries())
        await this.#post('followup', `message-${index + 1}`, (id) => session.send(text, { id }))
      return (await this.#settle(session)).kind
    } catch (error) {
      // What was going on was stopped by us, and says so.
      if (this.#isStopping) return 'stopped'
      throw error
    }
  }

  async #settle(session: Session): Promise<SessionStatus> {
    for (;;) {
      const status = await session.settled()
      const hasMore = await this.#goOn(session, status)
      if (!hasMore) return status
    }
  }

  /** Does whatever would be done by those who use the session. False: nothing is left to do. */
  async #goOn(session: Session, status: SessionStatus): Promise<boolean> {
    const asks = status.kind === 'waiting' ? status.asks.filter(({ call }) => !this.#decided.has(call)) : []
    for (const ask of asks) await this.#decide(session, ask)
    if (asks.length > 0) return true
    // It rests until a time comes, or until what was said is heard.
    if (status.kind === 'running' || status.kind === 'waiting') {
      await pause(nodeClock, POLL_MS)
      return true
    }
    const waiting = (await session.queue.list()).some(({ lane }) => lane === 'followup' || lane === 'steer')
    if (status.kind === 'held' && waiting) {
      await session.resume()
      return true
    }
    const unsaid = this.#options.job.steers.findIndex((_text, index) => !this.#steered.has(index))
    if (unsaid === -1) return false
    await this.#steer(unsaid)
    return true
  }

  async #decide(session: Session, { call, kind, argsHash }: Ask): Promise<void> {
    const { approve, answer } = this.#options.job
    const bound = argsHash === null ? {} : { argsHash }
    this.#decided.add(call)
    await this.#post('control', `answer-${call}`, (id) => {
      if (kind === 'deferred') return session.answer(call, answer, { id })
      return approve ? session.approve(call, { id, ...bound }) : session.deny(call, { id, ...bound })
    })
  }

  async #steer(index: number): Promise<void> {
    const text = this.#options.job.steers[index]
    if (text === undefined || this.#steered.has(index)) return
    this.#steered.add(index)
    const handle = await this.#attach()
    await this.#post('steer', `steer-${index + 1}`, (id) => handle.steer(text, { id }))
  }

  async #post(lane: string, id: string, post: (id: string) => Promise<unknown>): Promise<void> {
    await post(id)
    this.#options.journal.write({ what: 'posted', input: id, lane })
  }

  async #stop(how: 'abort' | 'stop'): Promise<void> {
    try {
      if (how === 'abort')
        await (await this.#attach()).abort({ id: 'abort', reason: 'torture', graceMs: ABORT_GRACE_MS })
      else {
        this.#isStopping = true
        await this.#options.harness.close()
      }
    } catch (error) {
      this.#options.journal.write({ what: 'fault', problem: messageOf(error) })
    }
  }

  #attach(): Promise<SessionHandle> {
    return this.#options.harness.attach(SESSION)
  }
}

/** How long the calls of an aborted turn get to end: a tool that listens needs none of it. */
const ABORT_GRACE_MS = 1_000
