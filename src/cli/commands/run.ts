/** `turnstep run`: one task, headless. */
import type { Session, SessionStatus } from '../../runtime/session.ts'
import { inputId, sessionId, type InputId } from '../../kernel/ids.ts'
import type { State } from '../../kernel/state.ts'
import { loadState } from '../../runtime/runner/load.ts'
import { openAsks, showAsks } from '../asks.ts'
import { usage, type Cli } from '../cli.ts'
import { announceModel, chooseAgent, modelName, type AgentFlags } from '../default-agent.ts'
import { EXIT, exitOfOutcome } from '../exit.ts'
import { withHarnessAt, type Opened } from '../open.ts'
import { namedOrNewSession, namedSession, type SessionFlags } from '../session-name.ts'
import { findPlace, type PlaceFlags } from '../settings.ts'
import { stopping, type Stopping } from '../stopping.ts'
import { readStdin } from '../stdin.ts'
import { waitingInputs } from './queue.ts'
import { TurnView } from '../turn-view.ts'
import { watch, type Watching } from '../watching.ts'
import { refuseForeignTurn } from '../foreign.ts'

export interface RunFlags extends PlaceFlags, AgentFlags, SessionFlags {
  readonly resume?: boolean
  readonly wait?: boolean
}

/** Answers the exit code. */
export async function run(cli: Cli, prompt: string | undefined, flags: RunFlags): Promise<number> {
  const task = await taskOf(cli, prompt, flags)
  const place = await findPlace(cli, flags)
  const agent = chooseAgent(cli, place, flags)
  return withHarnessAt(cli, place, { mustExist: task === null }, async (opened) => {
    const { store, harness } = opened
    const name = task === null ? await namedSession(cli, store, flags) : await namedOrNewSession(cli, store, flags)
    cli.out.line({ type: 'session', session: name, model: modelName(agent) })
    // Opening makes what is missing; there is nothing to go on with in a session that is not there.
    if (task === null) await (await harness.attach(name)).close()
    const { state } = await loadState(store, sessionId(name))
    refuseForeignTurn(cli, name, state, agent)
    const session = await harness.open(agent, { session: name })
    announceModel(cli, agent)
    cli.out.progress(cli.texts.started(name, modelName(agent)))
    return new Run(cli, opened, session, state).drive(task, flags)
  })
}

/** Null: go on with what is there. */
async function taskOf(cli: Cli, prompt: string | undefined, flags: RunFlags): Promise<string | null> {
  const { io, texts } = cli
  if (flags.resume === true) {
    if (prompt !== undefined) throw usage(texts.promptAndResume)
    return null
  }
  if (prompt === undefined ? io.stdin.isTTY === true : prompt.trim() === '') throw usage(texts.noPrompt)
  if (prompt !== undefined && prompt !== '-') return prompt
  const text = await readStdin(io)
  if (text.trim() === '') throw usage(prompt === undefined ? texts.noPrompt : texts.emptyStdin)
  return text
}

class Run {
  readonly #cli: Cli
  readonly #opened: Opened
  readonly #session: Session
  readonly #own = new Set<InputId>()
  readonly #view: TurnView

  constructor(cli: Cli, opened: Opened, session: Session, before: State) {
    this.#cli = cli
    this.#opened = opened
    this.#session = session
    this.#view = new TurnView(cli, before, this.#own)
  }

  async drive(task: string | null, flags: RunFlags): Promise<number> {
    const session = this.#session
    const stop = stopping(this.#cli, session)
    const watching = watch(this.#cli, this.#opened.store, {
      session,
      view: this.#view,
      onSeen: (seen) => stop.see(seen),
    })
    try {
      await this.#begin(task)
      const status = await this.#settle(watching, stop, flags)
      return stop.exit ?? (await this.#finish(status, task))
    } catch (error) {
      // A session that was parked because we were told to leave says that it is closed: that is no fault.
      if (stop.exit === null) throw error
      return stop.exit
    } finally {
      stop.off()
      await watching.stop()
    }
  }

  async #begin(task: string | null): Promise<void> {
    if (task !== null) {
      const id = this.#cli.io.ids.next()
      this.#own.add(inputId(id))
      await this.#session.send(task, { id })
    } else if ((await this.#session.status()).kind === 'held') await this.#session.resume()
  }

  async #settle(watching: Watching, stop: Stopping, flags: RunFlags): Promise<SessionStatus> {
    for (let asked = ''; ;) {
      const status = await this.#session.settled()
      await watching.caughtUp()
      if (flags.wait !== true || status.kind !== 'waiting' || stop.exit !== null) return status
      const now = status.asks.map((ask) => ask.call).join()
      if (now !== asked) showAsks(this.#cli, status.asks)
      asked = now
      if (!(await watching.next())) return status
    }
  }

  async #finish(status: SessionStatus, task: string | null): Promise<number> {
    const { out, texts } = this.#cli
    const view = this.#view
    const { id } = this.#session
    if (view.outcome === null && status.kind === 'idle' && task === null) out.notice('nothing-owed', texts.nothingOwed)
    if (status.kind === 'waiting') {
      showAsks(this.#cli, await openAsks(this.#opened.store, id))
      out.question(texts.howToAnswer(id))
    }
    const pending = await waitingInputs(this.#session)
    if (status.kind === 'waiting' && pending.length > 0) out.notice('queued', texts.behind(pending.length))
    if (status.kind === 'held' && pending.length > 0) out.notice('held', texts.held(pending.length, id))
    const exit = exitOf(status, view)
    const { outcome, text, usage } = view
    out.line({ type: 'result', session: id, status: status.kind, outcome, text, usage, exit })
    return exit
  }
}

/** A session that is at rest and still `running` waits for a time to come. */
function exitOf(status: SessionStatus, { outcome }: TurnView): number {
  if (status.kind === 'waiting' || status.kind === 'running') return EXIT.waiting
  return outcome === null ? EXIT.ok : exitOfOutcome(outcome)
}
