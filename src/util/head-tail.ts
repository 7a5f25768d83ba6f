/** Keeps both ends of a text of unknown length as it streams by, in bounded memory (C11). */
import { CUT_SLACK, RESULT_LIMITS, isWithin, joinCut, sizeOf, whole } from './cut.ts'
import type { Cut, CutLimits } from './cut.ts'
import { borderAt } from './wellformed.ts'

/** Small pieces are put together up to this, so that a program that prints byte by byte costs no list of bytes. */
const PIECE_BYTES = 16 * 1024

/**
 * Collects a text piece by piece. `end` gives what `cutText` of all pieces together would give. At each end no more units of
 * text are held than three times the byte limit and a little, however much is pushed, and in however large pieces.
 * Contract: a piece does not start or end inside a surrogate pair; a streaming `TextDecoder` sees to that.
 */
export class HeadTail {
  readonly #limits: CutLimits
  readonly #keep: number
  #head = ''
  #headBytes = 0
  #tail: { text: string; bytes: number }[] = []
  #tailBytes = 0
  #bytes = 0
  #breaks = 0
  #open = false

  constructor(limits: CutLimits = RESULT_LIMITS) {
    this.#limits = limits
    this.#keep = limits.bytes + CUT_SLACK
  }

  push(text: string): void {
    if (text === '') return
    const { bytes, lines } = sizeOf(text)
    this.#open = !text.endsWith('\n')
    this.#bytes += bytes
    this.#breaks += lines - (this.#open ? 1 : 0)
    this.#pushHead(text, bytes)
    this.#pushTail(text, bytes)
  }

  /** What is shown of the text so far. */
  end(hint = ''): Cut {
    const size = { bytes: this.#bytes, lines: this.#breaks + (this.#open ? 1 : 0) }
    if (isWithin(size, this.#limits)) return whole(this.#head)
    return joinCut({ head: this.#head, tail: this.#tail.map((piece) => piece.text).join(''), size }, this.#limits, hint)
  }

  #pushHead(text: string, bytes: number): void {
    if (this.#headBytes >= this.#keep) return
    const isLong = text.length > 2 * this.#keep
    this.#head += isLong ? copied(text.slice(0, borderAt(text, this.#keep))) : text
    this.#headBytes += isLong ? this.#keep : bytes
  }

  #pushTail(text: string, bytes: number): void {
    const last = this.#tail.at(-1)
    if (text.length > 2 * this.#keep) {
      // A unit is at least a byte: what stands before this end is not shown.
      const piece = copied(text.slice(borderAt(text, text.length - this.#keep)))
      this.#tail = [{ text: piece, bytes: sizeOf(piece).bytes }]
      this.#tailBytes = this.#tail[0]!.bytes
      return
    }
    if (last !== undefined && last.bytes + bytes <= PIECE_BYTES) {
      last.text += text
      last.bytes += bytes
    } else this.#tail.push({ text, bytes })
    this.#tailBytes += bytes
    while (this.#tailBytes - this.#tail[0]!.bytes >= this.#keep) this.#tailBytes -= this.#tail.shift()!.bytes
  }
}

/** The text in memory of its own: a slice would keep all of the text that it was cut from. */
function copied(slice: string): string {
  return ` ${slice}`.slice(1)
}
