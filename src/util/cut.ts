/**
 * Cuts a long text down to its head and its tail (C11). Pure, linear in the text, no copy of it: 100 MB cost what reading
 * them costs. Sizes are UTF-8 bytes, where half a surrogate pair counts as the U+FFFD that it is sent as; lines end with `\n`.
 *
 * Invariants:
 * 1. A text within the limits comes back as the same string (the log keeps the original, X8).
 * 2. A cut text, its marker included, is within the limits, and well-formed even where the source is not (case 098).
 * 3. Head and tail are a prefix and a suffix of the (well-formed) source, each at most 20 % of its bytes and half the limits.
 */
import { borderAt, wellFormed } from './wellformed.ts'

/** How much of a text is shown. */
export interface CutLimits {
  /** UTF-8 bytes, the marker included. */
  readonly bytes: number
  /** Lines, the marker included. */
  readonly lines: number
}

/** The size of a text: UTF-8 bytes, and lines; a last line without its `\n` counts. */
export interface TextSize {
  readonly bytes: number
  readonly lines: number
}

/** A text as it is shown: whole, or its head and tail with a marker between them. */
export interface Cut {
  readonly text: string
  readonly cut: boolean
  /** What was left out: bytes, and lines of which nothing is shown. */
  readonly omitted: TextSize
}

/** What a model is shown of one result (C11). */
export const RESULT_LIMITS: CutLimits = { bytes: 50 * 1024, lines: 2000 }

/**
 * The text itself if it is within the limits, else its head, a marker line that names the omitted size, and its tail. `hint`
 * goes into the marker: where the whole can be read. Where not even the marker fits, the head alone.
 */
export function cutText(text: string, limits: CutLimits = RESULT_LIMITS, hint = ''): Cut {
  // Neither more bytes than three a unit, nor more lines than units: most texts need not be measured.
  if (text.length * 3 <= limits.bytes && text.length <= limits.lines) return whole(text)
  const size = sizeOf(text)
  return isWithin(size, limits) ? whole(text) : joinCut({ head: text, tail: text, size }, limits, hint)
}

/** Both ends of a text too long to hold, and its true size. */
interface Ends {
  /** Starts as the text starts, and holds at least the byte limit and `CUT_SLACK` more, or all of it. */
  readonly head: string
  /** Ends as the text ends, and holds as much. */
  readonly tail: string
  readonly size: TextSize
}

/** Bytes beyond the limit that the ends must hold, so that clusters at the cut are seen whole. */
export const CUT_SLACK = 512

/** The cut of a text that is over its limits, made from its two ends. */
export function joinCut({ head, tail, size }: Ends, limits: CutLimits, hint = ''): Cut {
  const reserved = sizeOf(marker(size, hint)).bytes + 2
  const room = limits.bytes - reserved
  if (room < 0 || limits.lines < 1) {
    const start = head.slice(0, headEnd(head, limits.bytes, limits.lines))
    return { text: wellFormed(start), cut: true, omitted: omittedFrom(size, [start]) }
  }
  const bytes = Math.floor(Math.min(size.bytes * 0.2, room / 2))
  const lines = Math.floor((limits.lines - 1) / 2)
  const start = head.slice(0, headEnd(head, bytes, lines))
  const end = tail.slice(tailStart(tail, bytes, lines))
  const omitted = omittedFrom(size, [start, end])
  const before = start === '' || start.endsWith('\n') ? start : `${start}\n`
  const after = end === '' ? '' : `\n${end}`
  return { text: wellFormed(before + marker(omitted, hint) + after), cut: true, omitted }
}

/** UTF-8 bytes and lines of a text. */
export function sizeOf(text: string): TextSize {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return { bytes: bytesOf(text), lines }
}

export const isWithin = (size: TextSize, limits: CutLimits): boolean =>
  size.bytes <= limits.bytes && size.lines <= limits.lines

export const whole = (text: string): Cut => ({ text, cut: false, omitted: { bytes: 0, lines: 0 } })

const NEWLINE = 10

const encoder = new TextEncoder()
const SLICE = 16 * 1024
const scratch = new Uint8Array(3 * SLICE)

/** Encodes slice after slice into one small buffer: several times quicker than a look at every unit, and no copy of the text. */
function bytesOf(text: string): number {
  let bytes = 0
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = borderAt(text, from + SLICE)
    bytes += encoder.encodeInto(text.slice(from, to), scratch).written
  }
  return bytes
}

function marker(omitted: TextSize, hint: string): string {
  return `[... left out: ${omitted.bytes} bytes, ${omitted.lines} lines${hint === '' ? '' : `; ${hint}`} ...]`
}

function omittedFrom(size: TextSize, shown: readonly string[]): TextSize {
  let { bytes, lines } = size
  for (const part of shown) {
    const kept = sizeOf(part)
    bytes -= kept.bytes
    lines -= kept.lines
  }
  // One line may be shown at both ends.
  return { bytes, lines: Math.max(0, lines) }
}

/** Where a head of at most so many bytes and lines ends; the line break after the last line is not part of it. */
function headEnd(text: string, bytesMax: number, linesMax: number): number {
  if (linesMax < 1) return 0
  let bytes = 0
  let lines = 1
  let index = 0
  while (index < text.length) {
    if (text.charCodeAt(index) === NEWLINE && lines++ >= linesMax) break
    const width = isPairAt(text, index) ? 2 : 1
    bytes += bytesOfUnit(text.charCodeAt(index), width)
    if (bytes > bytesMax) break
    index += width
  }
  return clusterBorders(text, index).before
}

/** Where a tail of at most so many bytes and lines starts. */
function tailStart(text: string, bytesMax: number, linesMax: number): number {
  if (linesMax < 1) return text.length
  let bytes = 0
  let lines = 1
  let index = text.length
  while (index > 0) {
    const isBreak = text.charCodeAt(index - 1) === NEWLINE
    if (isBreak && index < text.length && lines++ >= linesMax) break
    const width = index > 1 && isPairAt(text, index - 2) ? 2 : 1
    bytes += bytesOfUnit(text.charCodeAt(index - width), width)
    if (bytes > bytesMax) break
    index -= width
  }
  return clusterBorders(text, index).after
}

function bytesOfUnit(unit: number, width: number): number {
  if (width === 2) return 4
  return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
}

function isPairAt(text: string, index: number): boolean {
  const high = text.charCodeAt(index)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(index + 1)
  return low >= 0xdc00 && low <= 0xdfff
}

/** Clusters longer than this are cut through. */
const CLUSTER_MAX = 64

let segmenter: Intl.Segmenter | undefined

/**
 * The borders of what a reader takes for one character, next to `index`: a flag or a family is not torn. Looked for nearby
 * only; without one, the character border itself.
 */
function clusterBorders(text: string, index: number): { readonly before: number; readonly after: number } {
  if (index <= 0 || index >= text.length) return { before: index, after: index }
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  const from = borderAt(text, index - CLUSTER_MAX)
  const to = borderAt(text, index + CLUSTER_MAX)
  for (const { index: at, segment } of segmenter.segment(text.slice(from, to))) {
    const start = from + at
    const end = start + segment.length
    if (end < index) continue
    if (end === index) break
    return {
      before: start > from || from === 0 ? start : index,
      after: end < to || to === text.length ? end : index,
    }
  }
  return { before: index, after: index }
}
