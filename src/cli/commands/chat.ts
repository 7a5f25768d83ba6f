/** `turnstep chat`: a session, line by line. */
import { sessionId, type InputId } from '../../kernel/ids.ts'
import { isTurnstepError } from '../../kernel/errors.ts'
import type { State } from '../../kernel/state.ts'
import { loadState } from '../../runtime/runner/load.ts'
import type { Session } from '../../runtime/session.ts'
import { openAsks, showAsks } from '../asks.ts'
import { openKeyboard, type Keyboard } from '../chat/keyboard.ts'
import { Talk } from '../chat/talk.ts'
import type { Cli } from '../cli.ts'
import { announceModel, chooseAgent, modelName, type AgentFlags } from '../default-agent.ts'
import { EXIT, exitOfOutcome } from '../exit.ts'
import { EXITS, type Stop } from '../io.ts'
import { withHarnessAt, type Opened } from '../open.ts'
import { namedOrNewSession, type SessionFlags } from '../session-name.ts'
import { findPlace, type PlaceFlags } from '../settings.ts'
import { showError } from '../show-error.ts'
import { TurnView } from '../turn-view.ts'
import { watch, type Watching } from '../watching.ts'
import { refuseForeignTurn } from '../foreign.ts'
import { waitingInputs } from './queue.ts'

export interface ChatFlags extends PlaceFlags, AgentFlags, SessionFlags {}

export async function chat(cli: Cli, flags: ChatFlags): Promise<number> {
  const place = await findPlace(cli, flags)
  const agent = chooseAgent(cli, place, flags)
  return withHarnessAt(cli, place, { mustExist: false }, async (opened) => {
    const name = await namedOrNewSession(cli, opened.store, flags)
    cli.out.line({ type: 'session', session: name, model: modelName(agent) })
    const { state } = await loadState(opened.store, sessionId(name))
    refuseForeignTurn(cli, name, state, agent)
    const session = await opened.harness.open(agent, { session: name })
    announceModel(cli, agent)
    cli.out.progress(cli.texts.started(name, modelName(agent)))
    cli.out.progress(cli.texts.chat.hello)
    return new Chat(cli, opened, session, state).run()
  })
}

class Chat {
  readonly #cli: Cli
  readonly #opened: Opened
  readonly #session: Session
  readonly #view: TurnView
  readonly #talk: Talk
  #keyboard: Keyboard | null = null
  /** Ctrl-C was pressed in this turn. */
  #isAborting = false
  /** The code to leave with, once a signal told us to. */
  #exit: number | null = null

  constructor(cli: Cli, opened: Opened, session: Session, before: State) {
    const own = new Set<InputId>()
    this.#cli = cli
    this.#opened = opened
    this.#session = session
    this.#view = new TurnView(cli, before, own)
    this.#talk = new Talk({ cli, session, store: opened.store, view: this.#view, own })
  }

  async run(): Promise<number> {
    const { io, out, texts } = this.#cli
    const off = io.onStop((stop) => this.#onStop(stop))
    await this.#takeUp()
    const watching = watch(this.#cli, this.#opened.store, {
      session: this.#session,
      view: this.#view,
      onSeen: (seen) => {
        if (seen.kind === 'event' && seen.event.type === 'turn.ended') this.#isAborting = false
        this.#talk.see(seen)
      },
    })
    this.#keyboard = openKeyboard(io, out, texts.chat.prompt, () => this.#onStop('SIGINT'))
    try {
      const how = await this.#listen(this.#keyboard)
      if (how === 'ended' && !this.#keyboard.isTerminal) await this.#settle(watching)
      return this.#exit ?? (await this.#leave(how))
    } finally {
      this.#keyboard.close()
      off()
      await watching.stop()
    }
  }

  /** What the session stands in the middle of, if it does. */
  async #takeUp(): Promise<void> {
    const { out, texts } = this.#cli
    const { id } = this.#session
    const status = await this.#session.status()
    const asks = await openAsks(this.#opened.store, id)
    if (asks.length > 0) showAsks(this.#cli, asks)
    const waiting = await waitingInputs(this.#session)
    if (status.kind === 'held' && waiting.length > 0) out.notice('held', texts.held(waiting.length, id))
  }

  async #listen({ lines }: Keyboard): Promise<'left' | 'ended'> {
    for await (const line of lines) {
      try {
        if ((await this.#talk.hear(line)) === 'leave') return 'left'
      } catch (error) {
        if (!isTurnstepError(error)) throw error
        if (this.#exit === null) showError(this.#cli, error, null)
      }
    }
    return 'ended'
  }

  /** Nobody types any more, and nobody watches: what was asked for is done, then the process ends. */
  async #settle(watching: Watching): Promise<void> {
    try {
      await this.#session.settled()
      await watching.caughtUp()
    } catch (error) {
      if (this.#exit === null) throw error
    }
  }

  async #leave(how: 'left' | 'ended'): Promise<number> {
    const { out, texts } = this.#cli
    const { id } = this.#session
    const status = await this.#session.status()
    if (status.kind === 'running') out.notice('parked', texts.parked(id))
    if (status.kind === 'waiting') out.question(texts.howToAnswer(id))
    const { outcome, text, usage } = this.#view
    const exit =
      how === 'left'
        ? EXIT.ok
        : status.kind === 'waiting'
          ? EXIT.waiting
          : outcome === null
            ? EXIT.ok
            : exitOfOutcome(outcome)
    out.line({ type: 'result', session: id, status: status.kind, outcome, text, usage, exit })
    return exit
  }

  /** Ctrl-C aborts the turn and stays; pressed again, or with nothing at work, it leaves. Other signals park. */
  #onStop(stop: Stop): void {
    const { io, out, texts } = this.#cli
    if (this.#exit !== null) io.exit(EXITS[stop])
    if (stop !== 'SIGINT') {
      this.#exit = EXITS[stop]
      out.notice('parked', texts.parked(this.#session.id))
      return this.#closeAfter(this.#session.close())
    }
    if (this.#isAborting) io.exit(EXITS.SIGINT)
    const stays = this.#keyboard?.isTerminal === true
    if (!stays || !this.#talk.isWorking) this.#exit = EXITS.SIGINT
    if (!this.#talk.isWorking) return this.#keyboard?.close()
    this.#isAborting = true
    out.notice('aborting', texts.aborting)
    const aborted = this.#session.abort({ reason: 'Ctrl-C' })
    if (stays) aborted.catch((error: unknown) => out.complain(String(error)))
    else this.#closeAfter(aborted.then(() => this.#session.settled()))
  }

  /** Ends the listening when the promise is settled. */
  #closeAfter(promise: Promise<unknown>): void {
    promise.catch((error: unknown) => this.#cli.out.complain(String(error))).finally(() => this.#keyboard?.close())
  }
}
