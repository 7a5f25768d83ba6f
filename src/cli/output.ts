/**
 * What is written where: results on stdout, everything else on stderr; with `--json` all of it as JSON lines on stdout. What comes
 * from outside is written to a terminal without its control characters, so that no text can move the cursor or pass for ours.
 */
import pc from 'picocolors'
import { JSONL_VERSION, type JsonlBody, type JsonlLine } from '../protocol/jsonl.ts'
import type { Io } from './io.ts'

type Tone = 'plain' | 'dim' | 'warn' | 'bad' | 'ask'

export interface OutputOptions {
  readonly json: boolean
  /** Nothing but results, questions and errors. */
  readonly quiet: boolean
}

/** A line that is being typed below what is printed. */
export interface InputLine {
  hide(): void
  show(): void
  /** The first piece of the text that fills a row of the terminal, or null if it does not. */
  fullRow(text: string): string | null
}

export class Output {
  readonly json: boolean
  readonly quiet: boolean
  readonly #io: Io
  readonly #tint: Record<Tone, (text: string) => string>
  /** The cursor stands behind unfinished text on the terminal. */
  #midLine = false
  #input: InputLine | null = null
  /** Streamed text that waits to be a whole row: only rows go above a line that is being typed. */
  #row = ''

  constructor(io: Io, { json, quiet }: OutputOptions) {
    this.#io = io
    this.json = json
    this.quiet = quiet
    const { red, yellow, cyan, dim } = pc.createColors(isColoured(io))
    this.#tint = { plain: String, dim, warn: yellow, bad: red, ask: cyan }
  }

  /** Whether the result is read by a person, as it comes. */
  get isStreaming(): boolean {
    return !this.json && this.#io.stdout.isTTY === true
  }

  /** Prints around a line that is being typed, from now on; null: nobody types. */
  typeBelow(input: InputLine | null): void {
    this.endLine()
    this.#input = input
  }

  /** A line of the result. */
  result(text: string): void {
    if (this.json) return
    this.endLine()
    this.#print(this.#io.stdout, `${this.#safe(text, this.#io.stdout)}\n`)
  }

  /** Text of the result as it comes, without a line break of its own. */
  stream(text: string): void {
    if (this.json || text === '') return
    const safe = this.#safe(text, this.#io.stdout)
    if (this.#input !== null) return this.#streamRows(this.#input, safe)
    this.#io.stdout.write(safe)
    this.#midLine = !text.endsWith('\n')
  }

  #streamRows(input: InputLine, text: string): void {
    const lines = (this.#row + text).split('\n')
    this.#row = lines.pop()!
    let rows = lines.map((line) => `${line}\n`).join('')
    for (let row = input.fullRow(this.#row); row !== null; row = input.fullRow(this.#row)) {
      rows += `${row}\n`
      this.#row = this.#row.slice(row.length).trimStart()
    }
    if (rows !== '') this.#print(this.#io.stdout, rows)
  }

  /** Ends unfinished text. */
  endLine(): void {
    const row = this.#row
    this.#row = ''
    if (row !== '') this.#print(this.#io.stdout, `${row}\n`)
    if (this.#midLine) this.#io.stdout.write('\n')
    this.#midLine = false
  }

  /** One JSON line; nothing without `--json`. */
  line(body: JsonlBody): void {
    if (!this.json) return
    const line: JsonlLine = { v: JSONL_VERSION, ...body }
    this.#io.stdout.write(`${JSON.stringify(line)}\n`)
  }

  /** What goes on, for people; silent with `--json`, where events tell it, and with `--quiet`. */
  progress(text: string, tone: Tone = 'dim'): void {
    if (!this.json && !this.quiet) this.#tell(text, tone)
  }

  /** Something a person, or a script, should know. */
  notice(code: string, text: string, tone: Tone = 'warn'): void {
    if (this.json) this.line({ type: 'notice', code, message: text })
    else if (!this.quiet || tone === 'bad') this.#tell(text, tone)
  }

  /** A question, for people; with `--json` its own line asks it. */
  question(text: string): void {
    if (!this.json) this.#tell(text, 'ask')
  }

  /** An error's text; with `--json` its line is written by whoever knows its code. */
  complain(text: string): void {
    if (!this.json) this.#tell(text, 'bad')
  }

  #tell(text: string, tone: Tone): void {
    if (this.isStreaming) this.endLine()
    this.#print(this.#io.stderr, `${this.#tint[tone](this.#safe(text, this.#io.stderr))}\n`)
  }

  #print(to: Io['stdout'], text: string): void {
    this.#input?.hide()
    to.write(text)
    this.#input?.show()
  }

  #safe(text: string, to: { readonly isTTY?: boolean }): string {
    return to.isTTY === true ? text.replaceAll('\r\n', '\n').replace(CONTROLS, '\u{FFFD}') : text
  }
}

/** All but tab and line feed. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROLS = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g

function isColoured({ env, stderr }: Io): boolean {
  if (env('NO_COLOR') !== undefined) return false
  if (env('FORCE_COLOR') !== undefined && env('FORCE_COLOR') !== '0') return true
  return stderr.isTTY === true && env('TERM') !== 'dumb'
}
