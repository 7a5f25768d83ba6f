/** How the demo looks: acts, labelled lines, events, a table. Owns layout, colour and pace; knows nothing of what happens. */
import pc from 'picocolors'
import stringWidth from 'string-width'
import type { Event } from '../../kernel/events.ts'
import { textOf } from '../../kernel/message.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { Checks, CheckName } from './checks.ts'
import { phrase, type Act, type Words } from './words.ts'

/** Where text goes: a terminal, a pipe, a test. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

interface PageOptions {
  readonly output: Output
  readonly words: Words
  readonly color: boolean
  /** Pauses between lines, so that it can be read while it happens. */
  readonly paced: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

type Label = keyof Words['labels']

const EVENT_MS = 50
const LINE_MS = 120
const ACT_MS = 450
const COLUMNS_MIN = 60
const COLUMNS_DEFAULT = 100
const INDENT = '   '
const GAP = '  '
/** Where an event stands: seq, turn and step. */
const PLACE_COLUMNS = INDENT.length + 13

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
    this.#line(this.#paint.bold('turnstep demo'))
    this.#text(this.#options.words.title)
  }

  async act(act: Act): Promise<void> {
    const { title, text } = this.#options.words.acts[act]
    this.#line('')
    this.#line(`${this.#paint.bold(this.#paint.cyan(`${++this.#acts}  ${title}`))}`)
    this.#text(text)
    await this.#pause(ACT_MS)
  }

  /** A line with a word in front that says whose it is. */
  async say(label: Label, text: string): Promise<void> {
    const name = padEnd(this.#options.words.labels[label], this.#labelWidth)
    const width = this.#columns - INDENT.length - this.#labelWidth - GAP.length
    const lines = text
      .trimEnd()
      .split('\n')
      .flatMap((line) => wrap(line, width))
    for (const [at, line] of lines.entries()) {
      const head = at === 0 ? this.#paint.yellow(name) : ' '.repeat(this.#labelWidth)
      this.#line(INDENT + head + GAP + line)
    }
    await this.#pause(LINE_MS)
  }

  async event(event: Event): Promise<void> {
    const tool = this.#toolOf(event)
    if (QUIET.has(event.type)) return
    if (event.type === 'reply.completed' && textOf(event.parts) !== '') await this.say('agent', textOf(event.parts))
    const place = `${INDENT}#${event.seq}  t${event.turn} s${event.step}`
    const text = cut(phrase(this.#options.words, event, tool), this.#columns - PLACE_COLUMNS)
    this.#line(this.#paint.dim(padEnd(place, PLACE_COLUMNS)) + this.#tint(event, text))
    await this.#pause(EVENT_MS)
  }

  /** The whole log, a line per event; `processOf` names who wrote it. */
  timeline(events: readonly Event[], processOf: (event: Event) => string): void {
    const { words } = this.#options
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
      const padded = cells.map((cell, at) => (at < cells.length - 1 ? padStart(cell, widths[at]!) : cell))
      return cut(INDENT + padded.join(GAP), this.#columns)
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

  get #columns(): number {
    return Math.max(COLUMNS_MIN, this.#options.output.columns || COLUMNS_DEFAULT)
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

  #text(text: string): void {
    for (const line of wrap(text, this.#columns - INDENT.length)) this.#line(INDENT + this.#paint.dim(line))
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

function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - stringWidth(text)))
}

function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - stringWidth(text))) + text
}

/** The first cell of each row, made as wide as the widest. */
export function alignFirst(rows: readonly (readonly string[])[]): readonly string[] {
  const width = Math.max(...rows.map(([first = '']) => stringWidth(first)))
  return rows.map(([first = '', ...rest]) => [padEnd(first, width), ...rest].join(GAP))
}

/** At most so many columns, with a mark where something was cut off. */
function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  const [shown = ''] = wrapAnywhere(text, columns - 1)
  return `${shown}…`
}

/** Lines of at most so many columns, broken at spaces where there are some. */
function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((piece) => wrapAnywhere(piece, columns))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && stringWidth(longer) > columns) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

function wrapAnywhere(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const character of text) {
    const more = stringWidth(character)
    if (width + more > columns) {
      lines.push(line)
      line = ''
      width = 0
    }
    line += character
    width += more
  }
  return [...lines, line]
}
