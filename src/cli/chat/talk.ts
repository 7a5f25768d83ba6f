/** What a typed line means: a task, a steer, an answer or a command. Owns that choice; the session does the rest. */
import { inputId, type InputId } from '../../kernel/ids.ts'
import type { Store } from '../../runtime/ports.ts'
import type { Ask, Session, Watched } from '../../runtime/session.ts'
import { openAsks, pickAsk, showAsks } from '../asks.ts'
import { usage, type Cli } from '../cli.ts'
import { hashOf } from '../commands/decide.ts'
import { changeQueue, waitingInputs } from '../commands/queue.ts'
import type { TurnView } from '../turn-view.ts'

interface TalkOptions {
  readonly cli: Cli
  readonly session: Session
  readonly store: Store
  readonly view: TurnView
  /** Inputs whose entering needs no line. */
  readonly own: Set<InputId>
}

type Command = (args: readonly string[]) => Promise<'leave' | void>

export class Talk {
  readonly #options: TalkOptions
  /** Sent, and not in a turn yet: the session is about to work. */
  readonly #awaited = new Set<InputId>()
  readonly #commands: Readonly<Record<string, Command>> = {
    '/next': (args) => this.#next(args.join(' ')),
    '/stop': () => this.#stop(),
    '/queue': ([action, which, ...words]) => this.#queue(action, which, words),
    '/approve': (args) => this.#approve(args),
    '/deny': (args) => this.#deny(args),
    '/answer': (args) => this.#answer(args),
    '/resume': async () => void (await this.#options.session.resume()),
    '/status': () => this.#status(),
    '/help': async () => this.#options.cli.out.result(this.#options.cli.texts.chat.help),
    '/quit': async () => 'leave',
    '/exit': async () => 'leave',
  }

  constructor(options: TalkOptions) {
    this.#options = options
  }

  get isWorking(): boolean {
    return this.#options.view.isWorking || this.#awaited.size > 0
  }

  /** Told of everything after the view has shown it. */
  see(seen: Watched): void {
    const { cli, store, session } = this.#options
    if (seen.kind === 'live') {
      if (seen.live.type === 'stopped' && seen.live.error !== undefined) cli.out.complain(seen.live.error.message)
      return
    }
    const { event } = seen
    if (event.type === 'input.entered' || event.type === 'input.rejected') this.#awaited.delete(event.input)
    if (event.type !== 'call.approval-asked' && event.type !== 'call.deferred' && event.type !== 'turn.limit-asked')
      return
    const ask = async (): Promise<void> => showAsks(cli, await openAsks(store, session.id))
    ask().catch((error: unknown) => cli.out.complain(String(error)))
  }

  /** Throws what the session or the command refuses; the talk goes on. */
  async hear(line: string): Promise<'leave' | void> {
    const text = line.trim()
    if (text === '') return
    if (text.startsWith('/')) return this.#command(text)
    const asks = await this.#asks()
    if (await this.#isAnswer(text, asks)) return
    return this.isWorking ? this.#steer(text, asks) : this.#send(text)
  }

  async #command(text: string): Promise<'leave' | void> {
    const [name = '', ...args] = text.split(/\s+/)
    const command = Object.hasOwn(this.#commands, name) ? this.#commands[name] : undefined
    if (command === undefined) throw usage(this.#options.cli.texts.chat.unknown(name))
    return command(args)
  }

  #asks(): Promise<Ask[]> {
    const { store, session } = this.#options
    return openAsks(store, session.id)
  }

  async #send(text: string): Promise<void> {
    const { cli, session, own } = this.#options
    const id = cli.io.ids.next()
    own.add(inputId(id))
    this.#awaited.add(inputId(id))
    await session.send(text, { id })
  }

  async #steer(text: string, asks: readonly Ask[]): Promise<void> {
    const { cli, session } = this.#options
    await session.steer(text)
    cli.out.progress(`${cli.texts.chat.steered}${asks.length > 0 ? ` (${cli.texts.chat.waits})` : ''}`)
  }

  async #next(text: string): Promise<void> {
    const { cli, session } = this.#options
    if (text === '') throw usage(cli.texts.queue.text)
    if (!this.isWorking) return this.#send(text)
    await session.send(text)
    cli.out.progress(cli.texts.chat.next((await waitingInputs(session)).length))
  }

  async #stop(): Promise<void> {
    const { cli, session } = this.#options
    if (!this.isWorking) throw usage(cli.texts.chat.notWorking)
    await session.abort()
  }

  async #queue(action: string | undefined, which: string | undefined, words: readonly string[]): Promise<void> {
    const { cli, session } = this.#options
    await changeQueue(cli, session, {
      ...(action === undefined ? {} : { action }),
      ...(which === undefined ? {} : { which }),
      words,
    })
  }

  /** A bare yes or no to the one question that is open, or the text that the one open call waits for. */
  async #isAnswer(text: string, asks: readonly Ask[]): Promise<boolean> {
    const { cli, session } = this.#options
    const [only] = asks
    if (only === undefined) return false
    const decision = YES.test(text) ? 'yes' : NO.test(text) ? 'no' : null
    if (decision !== null && asks.length > 1) {
      showAsks(cli, asks)
      throw usage(cli.texts.severalAsks(asks.length))
    }
    if (asks.length > 1) return false
    // What other calls wait for is no person's to say in passing (A5): `/answer` says it.
    if (only.kind === 'deferred') {
      if (only.tool !== 'ask_user') return false
      await session.answer(only.call, text)
    } else if (decision === 'yes') await session.approve(only.call, hashOf(only))
    else if (decision === 'no') await session.deny(only.call, hashOf(only))
    else return false
    return true
  }

  async #approve(args: readonly string[]): Promise<void> {
    const always = args.at(-1) === 'always'
    const [which] = always ? args.slice(0, -1) : args
    const ask = await this.#pick(which)
    if (ask.kind === 'deferred') throw usage(this.#options.cli.texts.notAnApproval(ask.call))
    await this.#options.session.approve(ask.call, { always, ...hashOf(ask) })
  }

  async #deny(args: readonly string[]): Promise<void> {
    const [ask, rest] = await this.#pickFirst(args)
    if (ask.kind === 'deferred') throw usage(this.#options.cli.texts.notAnApproval(ask.call))
    const reason = rest.join(' ')
    await this.#options.session.deny(ask.call, { ...(reason === '' ? {} : { reason }), ...hashOf(ask) })
  }

  async #answer(args: readonly string[]): Promise<void> {
    const { cli, session } = this.#options
    const [ask, rest] = await this.#pickFirst(args)
    if (ask.kind !== 'deferred') throw usage(cli.texts.notAnAnswer(ask.call))
    await session.answer(ask.call, rest.join(' '))
  }

  async #pick(which: string | undefined): Promise<Ask> {
    const { cli, session } = this.#options
    return pickAsk(cli, session.id, await this.#asks(), which)
  }

  /** The first word names a question if it is a number or an id of one; else the only one is meant. */
  async #pickFirst(args: readonly string[]): Promise<readonly [ask: Ask, rest: readonly string[]]> {
    const [first, ...rest] = args
    const asks = await this.#asks()
    const isName = first !== undefined && (/^\d+$/.test(first) || asks.some((ask) => ask.call === first))
    return isName ? [await this.#pick(first), rest] : [await this.#pick(undefined), args]
  }

  async #status(): Promise<void> {
    const { cli, session } = this.#options
    const { out, texts } = cli
    const status = await session.status()
    const { kind } = status
    out.result(kind === 'running' ? texts.chat.running(status.turn, status.step) : texts.sessions.state[kind])
    const asks = await this.#asks()
    if (asks.length > 0) showAsks(cli, asks)
    const waiting = await waitingInputs(session)
    if (waiting.length > 0) await changeQueue(cli, session, {})
  }
}

const YES = /^(y|yes|是)$/i
const NO = /^(n|no|否)$/i
