/**
 * Reads a log from bytes: lines of JSON, a header first if there is one. Owns what a line is and where a file breaks off; what stands in a
 * line is judged by `log-check.ts`. Invariants: any bytes at all get a report; nothing is thrown; the memory that is used depends on the
 * longest line, not on how many there are.
 */
import { FORMAT } from '../kernel/events.ts'
import { isPlainObject } from '../util/json.ts'
import { messageOf, quoted } from '../util/text.ts'
import type { LogHeader } from './jsonl.ts'
import { EventCheck, type Fault } from './log-check.ts'
import { misfit } from './shape-check.ts'
import { count, named, oneOf, ordinal, record, text, wholeTime } from './shape.ts'

/** What a file was found to be. */
export interface LogReport {
  readonly header: LogHeader | null
  /** How many events are sound: all of them, or those before the fault. */
  readonly events: number
  /** How many of them are of a type that is not known here. */
  readonly skipped: number
  readonly fault: FileFault | null
}

export interface FileFault extends Fault {
  /** From 1. */
  readonly line: number
}

export const LOG_HEADER = named(
  'LogHeader',
  record<LogHeader>({
    type: oneOf<LogHeader['type']>({ 'turnstep.log': true }),
    format: ordinal,
    session: text,
    events: count,
    exportedAt: wholeTime,
  }),
)

/** Far more than any event has, and less than what a text can hold. */
const LINE_BYTES_MAX = 64 * 1024 * 1024

type Finding = Omit<Fault, 'seq'>

/** Takes the bytes of one file, in pieces as they come, and then tells what it is. */
export class LogFileCheck {
  readonly #check = new EventCheck()
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  readonly #lineBytesMax: number
  #header: LogHeader | null = null
  #fault: FileFault | null = null
  /** The line that is being read. */
  #line = 1
  #pieces: Uint8Array[] = []
  #pieceBytes = 0
  /** The first of the empty lines that were read last; 0: there is none. */
  #blankLine = 0

  constructor(lineBytesMax = LINE_BYTES_MAX) {
    this.#lineBytesMax = lineBytesMax
  }

  /** False: a fault was found, more bytes change nothing. */
  push(bytes: Uint8Array): boolean {
    let from = 0
    for (let end = bytes.indexOf(LF); end !== -1 && this.#fault === null; end = bytes.indexOf(LF, from)) {
      this.#takeLine(this.#joined(bytes.subarray(from, end)), true)
      this.#line++
      from = end + 1
    }
    if (this.#fault === null && from < bytes.length) this.#keep(bytes.slice(from))
    return this.#fault === null
  }

  /** To be called once, after the last piece. */
  end(): LogReport {
    if (this.#fault === null && this.#pieceBytes > 0) this.#takeLine(this.#joined(EMPTY), false)
    const { events, skipped } = this.#check
    if (this.#fault === null) this.#endFault(events)
    return { header: this.#header, events, skipped, fault: this.#fault }
  }

  #endFault(events: number): void {
    if (this.#header !== null && events < this.#header.events)
      this.#found(of('count', 'L5', `the header promises ${this.#header.events} events, there are ${events}`))
    else if (this.#header === null && events === 0) this.#found(of('empty', 'L1', 'there is no event'))
  }

  #keep(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#pieceBytes += piece.length
    if (this.#pieceBytes <= this.#lineBytesMax) return
    const foreign = this.#line === 1 ? foreignFile(this.#joined(EMPTY)) : null
    this.#found(foreign ?? of('long', 'L5', `the line has more than ${this.#lineBytesMax} bytes`))
  }

  #joined(last: Uint8Array): Uint8Array {
    if (this.#pieces.length === 0) return last
    const line = new Uint8Array(this.#pieceBytes + last.length)
    let at = 0
    for (const piece of [...this.#pieces, last]) {
      line.set(piece, at)
      at += piece.length
    }
    this.#pieces = []
    this.#pieceBytes = 0
    return line
  }

  #takeLine(bytes: Uint8Array, isEnded: boolean): void {
    const finding = this.#judge(bytes, isEnded)
    if (finding !== null) this.#found(finding)
  }

  #found(finding: Finding | Fault): void {
    this.#fault ??= { seq: this.#check.events + 1, line: this.#line, ...finding }
  }

  #judge(bytes: Uint8Array, isEnded: boolean): Finding | null {
    const foreign = this.#line === 1 ? foreignFile(bytes) : null
    if (foreign !== null) return foreign
    let line: string
    try {
      line = this.#decoder.decode(bytes)
    } catch {
      return isEnded || bytes[0] !== BRACE
        ? of('encoding', 'L5', 'its bytes are no UTF-8')
        : of('cut', 'L5', 'the last line ends in the middle of a character')
    }
    if (line.trim() === '') return this.#blank()
    if (this.#blankLine > 0) {
      this.#line = this.#blankLine
      return of('blank', 'L5', 'an empty line, with more lines behind it')
    }
    const value = parsed(line)
    if (value instanceof Error) return noJson(line, value, isEnded)
    return this.#line === 1 && isHeaderLike(value) ? this.#takeHeader(value) : this.#takeEvent(value)
  }

  #blank(): null {
    if (this.#blankLine === 0) this.#blankLine = this.#line
    return null
  }

  #takeHeader(value: object): Finding | null {
    const problem = misfit(LOG_HEADER, value, '')
    if (problem !== null) return of('header', 'L6', `the header is wrong: ${problem}`)
    const header = value as LogHeader
    if (header.format > FORMAT)
      return of('newer', 'L6', `the header says format ${header.format}, this version reads up to ${FORMAT}`)
    this.#header = header
    return null
  }

  #takeEvent(value: unknown): Finding | null {
    if (isHeaderLike(value)) return of('header', 'L6', 'a header that is not the first line')
    if (this.#header !== null && this.#check.events >= this.#header.events)
      return of('count', 'L5', `the header promises ${this.#header.events} events, there are more`)
    return this.#check.take(value)
  }
}

const LF = 0x0a
const BRACE = 0x7b
const EMPTY = new Uint8Array(0)

const of = (code: Fault['code'], rule: string, problem: string): Finding => ({ code, rule, type: null, problem })

function isHeaderLike(value: unknown): value is object {
  return isPlainObject(value) && value['type'] === 'turnstep.log'
}

/** The value, or why there is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch (error) {
    return error
  }
}

/** A file that was cut off, or preallocated and never written, ends in a line that has begun; anything else is no log. */
function noJson(line: string, error: Error, isEnded: boolean): Finding {
  if (!isEnded && /^\0+$/.test(line)) return of('cut', 'L5', 'the last line is nothing but zero bytes')
  if (!isEnded && line.startsWith('{'))
    return of('cut', 'L5', `the last line breaks off after ${quoted(line.slice(-40), 60)}`)
  return of('json', 'L5', `${quoted(line, 60)} is no JSON: ${messageOf(error)}`)
}

const FOREIGN_FILES: readonly (readonly [code: 'encoding' | 'packed' | 'store', string, readonly number[]])[] = [
  ['encoding', 'the file begins with a byte order mark', [0xef, 0xbb, 0xbf]],
  ['encoding', 'the file is UTF-16', [0xff, 0xfe]],
  ['encoding', 'the file is UTF-16', [0xfe, 0xff]],
  ['packed', 'the file is packed by gzip', [0x1f, 0x8b]],
  ['packed', 'the file is packed by zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['packed', 'the file is a zip archive', [0x50, 0x4b, 0x03, 0x04]],
  ['store', 'the file is an SQLite database', [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66]],
]

/** What a file is, by its first bytes, if it is no text of ours; null: nothing is known against it. */
function foreignFile(bytes: Uint8Array): Finding | null {
  for (const [code, problem, signature] of FOREIGN_FILES)
    if (signature.every((byte, at) => bytes[at] === byte))
      return code === 'packed' ? { ...of('encoding', 'L5', problem), isPacked: true } : of(code, 'L5', problem)
  return null
}
