/**
 * A session told as commands, one at a time. Owns the world of one scenario and what is printed: events as they become durable
 * (`seq turn.step type facts`), bodies that begin or are told to stop (`~`), a new fence (`--`), and what went wrong (`!`).
 */
import { isTurnstepError } from '../../../src/kernel/errors.ts'
import type { Event } from '../../../src/kernel/events.ts'
import { scriptedModel, type ScriptStep } from '../../../src/models/scripted/index.ts'
import { agent, type AgentLimits } from '../../../src/runtime/define/agent.ts'
import type { Session, SessionHandle } from '../../../src/runtime/session.ts'
import type { Locale } from '../../../src/runtime/wording.ts'
import { lineOf } from '../../../src/testing/sim/facts.ts'
import { Tools } from '../tools.ts'
import { World, type Process, type WorldOptions } from '../world.ts'
import { COMMANDS } from './commands.ts'
import { Rules } from './rules.ts'
import { splitWord } from './words.ts'

export class Scenario {
  readonly world: World
  readonly tools: Tools
  readonly rules = new Rules()
  readonly steps: ScriptStep[] = []
  readonly lines: string[] = []
  limits: AgentLimits = {}
  locale: Locale = 'en'
  /** Steps of the script that were given up on the way: an aborted call does not count as played. */
  skipped = 0
  /** The process that drives the session; null while there is none. */
  process: Process | null = null
  readonly #front: Process
  readonly #model: ReturnType<typeof scriptedModel>
  #handle: SessionHandle | null = null
  #fence = 0
  #asked = 0

  constructor(options: Pick<WorldOptions, 'idPrefix' | 'store' | 'clock'> = {}) {
    this.world = new World({ ...options, onDurable: (events) => events.forEach((event) => this.#print(event)) })
    this.#front = this.world.start()
    this.tools = new Tools({
      began: (run) => this.lines.push(`~ ${run.tool} ${run.call} ${JSON.stringify(run.args)}`),
      told: (run) => this.lines.push(`~ ${run.tool} ${run.call} is told to stop`),
    })
    const { clock } = this.world
    this.#model = scriptedModel((_request, { position }) => this.#stepAt(position), {
      clock: { now: () => clock.now(), after: (...args) => (this.process?.mortal.clock ?? clock).after(...args) },
    })
  }

  /** Does one command; what it printed is in `lines`. */
  async run(command: string, body: readonly string[]): Promise<void> {
    const [name, rest] = splitWord(command)
    const run = COMMANDS[name]
    if (run === undefined) throw new Error(`"${name}" is no command; there are ${Object.keys(COMMANDS).join(', ')}`)
    try {
      await run(this, rest, body)
    } catch (error) {
      if (!isTurnstepError(error)) throw error
      this.lines.push(`! ${error.code}`)
    }
    await this.world.settle()
  }

  /** The session as somebody elsewhere has it: it posts and reads, and drives nothing. */
  async handle(): Promise<SessionHandle> {
    if (this.#handle === null && this.process === null) await this.open()
    this.#handle ??= await this.#front.harness.attach('s')
    return this.#handle
  }

  /** Starts a process and opens the session in it. */
  async open(): Promise<Session> {
    const process = this.world.start({
      plugins: this.rules.used ? [this.rules.plugin] : [],
      locale: this.locale,
      onError: (error) => this.lines.push(`! ${error.message}`),
    })
    this.process = process
    const session = await process.open(agent({ model: this.#model, tools: this.tools.all, limits: this.limits }))
    void this.#listen(session)
    return session
  }

  /** Closes everything. The script must have been played to its last step. */
  async end(): Promise<void> {
    await this.world.close()
    if (this.#asked < this.steps.length) throw new Error(`step ${this.#asked + 1} of the script was never asked for`)
  }

  #stepAt(position: number): ScriptStep | null {
    const at = position + this.skipped
    this.#asked = Math.max(this.#asked, at + 1)
    return this.steps[at] ?? null
  }

  #print(event: Event): void {
    if (this.#fence > 0 && event.fence !== this.#fence) this.lines.push(`-- fence ${event.fence}`)
    this.#fence = event.fence
    this.lines.push(lineOf(event))
  }

  async #listen(session: Session): Promise<void> {
    for await (const seen of session.watch()) {
      if (seen.kind !== 'live' || seen.live.type !== 'stopped' || seen.live.error === undefined) continue
      this.lines.push(`! stopped: ${seen.live.error.message}`)
    }
  }
}
