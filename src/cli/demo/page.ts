/** How the demo looks: acts, labelled lines, events, a table. Owns layout, colour and pace; knows nothing of what happens. */
import pc from 'picocolors'
import stringWidth from 'string-width'
import type { Event } from '../../kernel/events.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { Checks, CheckName } from './checks.ts'
import { phrase, type Act, type Words } from './words.ts'

/** Where text goes: a terminal, a pipe, a test. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface PageOptions {
  readonly output: Output
  readonly words: Words
  readonly color: boolean
  /** Pauses between lines, so that it can be read while it happens. */
  readonly paced: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

type Label = keyof Words['labels']

const EVENT_MS = 110
const LINE_MS = 250
const ACT_MS = 700
const COLUMNS_MIN = 60
const COLUMNS_DEFAULT = 100
const INDENT = '   '

/** Events that say little by themselves are left to the table. */
const QUIET: ReadonlySet<string> = new Set([
  'session.created',
  'epoch.started',
  'step.started',
  'step.ended',
  'model.requested',
])

export class Page {
  readonly #options: PageOptions
  readonly #paint: ReturnType<typeof pc.createColors>
  readonly #labelWidth: number
  readonly #tools = new Map<string, string>()
  #acts = 0

  constructor(options: PageOptions) {
    this.#options = options
    this.#paint = pc.createColors(options.color)
    this.#labelWidth = Math.max(...Object.values(options.words.labels).map((label) => stringWidth(label)))
  }

  title(): void {
    this.#line(`${this.#paint.bold('turnstep demo')}  ${this.#options.words.title}`)
  }

  async act(act: Act): Promise<void> {
    const { title, text } = this.#options.words.acts[act]
    this.#line('')
    this.#line(`${this.#paint.bold(this.#paint.cyan(`${++this.#acts}  ${title}`))}`)
    this.#line(INDENT + this.#paint.dim(text))
    await this.#pause(ACT_MS)
  }

  /** A line with a word in front that says whose it is. */
  async say(label: Label, text: string): Promise<void> {
    const lines = text.trimEnd().split('\n')
    const name = padEnd(this.#options.words.labels[label], this.#labelWidth)
    for (const [at, line] of lines.entries()) {
      const head = at === 0 ? this.#paint.yellow(name) : ' '.repeat(this.#labelWidth)
      this.#line(`${INDENT}${head}  ${line}`)
    }
    await this.#pause(LINE_MS)
  }

  async event(event: Event): Promise<void> {
    const tool = this.#toolOf(event)
    if (QUIET.has(event.type)) return
    const place = `${String(event.seq).padStart(INDENT.length + 3)}  ${event.turn}.${event.step}`
    this.#line(`${this.#paint.dim(place)}  ${this.#tint(event, phrase(this.#options.words, event, tool))}`)
    await this.#pause(EVENT_MS)
  }

  /** The whole log, a line per event; `processOf` names who wrote it. */
  timeline(events: readonly Event[], processOf: (event: Event) => string): void {
    const { words, output } = this.#options
    const width = Math.max(COLUMNS_MIN, output.columns ?? COLUMNS_DEFAULT)
    const rows = events.map((event) => [
      String(event.seq),
      event.turn === 0 ? '·' : String(event.turn),
      event.step === 0 ? '·' : String(event.step),
      processOf(event),
      phrase(words, event, this.#toolOf(event)),
    ])
    const widths = words.columns.map((head, at) =>
      Math.max(...[head, ...rows.map((row) => row[at]!)].map((cell) => stringWidth(cell))),
    )
    const show = (cells: readonly string[]): string => {
      const padded = cells.map((cell, at) => (at < 4 ? padStart(cell, widths[at]!) : cell))
      return cut(INDENT + padded.join('  '), width)
    }
    this.#line(this.#paint.dim(show(words.columns)))
    for (const [at, row] of rows.entries()) this.#line(this.#tint(events[at]!, show(row)))
  }

  checks(checks: Checks): void {
    for (const [name, holds] of Object.entries(checks) as [CheckName, boolean][]) {
      const mark = holds ? this.#paint.green('✓') : this.#paint.red('✗')
      this.#line(`${INDENT}${mark} ${this.#options.words.checks[name]}`)
    }
  }

  ending(text: string, isGood: boolean): void {
    const { bold, green, red } = this.#paint
    this.#line('')
    this.#line(INDENT + bold(isGood ? green(text) : red(text)))
  }

  note(text: string): void {
    this.#line(INDENT + this.#paint.dim(text))
  }

  #toolOf(event: Event): string {
    if (event.type === 'reply.completed') for (const { id, name } of event.calls) this.#tools.set(id, name)
    return event.type === 'call.started' || event.type === 'call.ended'
      ? (this.#tools.get(event.call) ?? event.call)
      : ''
  }

  #tint(event: Event, text: string): string {
    const { magenta, red, green } = this.#paint
    if (event.type === 'input.entered') return magenta(text)
    if (event.type === 'model.failed') return red(text)
    if (event.type === 'call.ended' && event.outcome.kind !== 'ok') return red(text)
    return event.type === 'turn.ended' ? green(text) : text
  }

  #line(text: string): void {
    this.#options.output.write(`${text}\n`)
  }

  async #pause(ms: number): Promise<void> {
    const { paced, clock, signal } = this.#options
    if (!paced || signal.aborted) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = clock.after(ms, end)
      signal.addEventListener('abort', end, { once: true })
    })
  }
}

/** Columns, not units: a Chinese character takes two. */
export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - stringWidth(text))) + text
}

/** At most so many columns, with a mark where something was cut off. */
function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let shown = ''
  let width = 1
  for (const character of text) {
    width += stringWidth(character)
    if (width > columns) break
    shown += character
  }
  return `${shown}…`
}
