/** What a search is, what it finds, and how that is shown. */
import { sizeOf } from '../../util/cut.ts'
import { borderAt, wellFormed } from '../../util/wellformed.ts'
import type { Place } from '../workspace.ts'

/** One search, as both ways of searching take it. */
export interface Query {
  readonly pattern: string
  /** The pattern is the text itself. */
  readonly literal: boolean
  readonly ignoreCase: boolean
  readonly place: Place
  /** Which files, relative to the place; null for all. */
  readonly glob: string | null
  /** Lines shown before and after a match. */
  readonly context: number
  /** Also what `.gitignore` names. */
  readonly ignored: boolean
  readonly matchesMax: number
}

export interface FoundLine {
  /** Relative to the workspace. */
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly text: string
  /** Where the match starts; null for a line of context. */
  readonly at: number | null
}

/** Files larger than this are not searched. */
export const SEARCHED_BYTES_MAX = 10 * 1024 * 1024

const LINE_CHARS_MAX = 300
const SHOWN_BYTES_MAX = 40 * 1024

/** Collects lines until there are enough of them. */
export class Findings {
  readonly #matchesMax: number
  readonly #hasContext: boolean
  readonly #lines: string[] = []
  #bytes = 0
  #last: FoundLine | null = null
  matches = 0
  /** More was found than is shown: nothing is taken any more. */
  more = false

  constructor({ matchesMax, context }: Query) {
    this.#matchesMax = matchesMax
    this.#hasContext = context > 0
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  add(found: FoundLine): void {
    const isMatch = found.at !== null
    this.more ||= (isMatch && this.matches === this.#matchesMax) || this.#bytes > SHOWN_BYTES_MAX
    if (this.more) return
    const mark = isMatch ? ':' : '-'
    const shown = wellFormed(`${found.path}${mark}${found.line}${mark}${clip(found.text, found.at ?? 0)}`)
    const isNext = this.#last === null || (this.#last.path === found.path && this.#last.line + 1 === found.line)
    if (this.#hasContext && !isNext) this.#lines.push('--')
    this.#lines.push(shown)
    this.#bytes += sizeOf(shown).bytes
    this.#last = found
    if (isMatch) this.matches += 1
  }
}

/** A long line is shown around its match. */
function clip(line: string, at: number): string {
  if (line.length <= LINE_CHARS_MAX) return line
  const from = at + 20 > LINE_CHARS_MAX ? borderAt(line, at - LINE_CHARS_MAX / 3) : 0
  const to = borderAt(line, from + LINE_CHARS_MAX)
  return `${from > 0 ? '[...] ' : ''}${line.slice(from, to)}${to < line.length ? ' [...]' : ''}`
}
