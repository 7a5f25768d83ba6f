import fc from 'fast-check'
import { describe, it } from 'vitest'
import { cutText, sizeOf } from './cut.ts'
import { HeadTail } from './head-tail.ts'
import { wellFormed } from './wellformed.ts'

const unit = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('\n', '\r\n', ' ', 'a') },
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('😀', '👩‍👩‍👧‍👦', '🇨🇳', 'é', '\0', '\u200d'),
)
const lone = fc.constantFrom('\ud83d', '\ude00')
const anyText = fc.array(fc.oneof(unit, lone), { maxLength: 200 }).map((parts) => parts.join(''))
const soundText = fc.array(unit, { maxLength: 200 }).map((parts) => parts.join(''))
const limits = fc.record({ bytes: fc.nat({ max: 400 }), lines: fc.nat({ max: 40 }) })

describe('cutText, for any text and limits', () => {
  it('C11: the result, its marker included, is within the limits in bytes and lines', () => {
    fc.assert(
      fc.property(anyText, limits, (text, limit) => {
        const size = sizeOf(cutText(text, limit).text)
        return size.bytes <= limit.bytes && size.lines <= limit.lines
      }),
    )
  })

  it('case 098: what was cut is well-formed, what was not is untouched', () => {
    fc.assert(
      fc.property(anyText, limits, (text, limit) => {
        const result = cutText(text, limit)
        return result.cut ? result.text === wellFormed(result.text) : result.text === text
      }),
    )
  })

  it('C11: head and tail are a prefix and a suffix of the source', () => {
    fc.assert(
      fc.property(anyText, limits, (text, limit) => {
        const result = cutText(text, limit)
        if (!result.cut) return true
        const source = wellFormed(text)
        const mark = /\n?\[\.\.\. left out: \d+ bytes, \d+ lines \.\.\.\]\n?/.exec(result.text)
        if (mark === null) return source.startsWith(result.text)
        const head = result.text.slice(0, mark.index)
        return source.startsWith(head) && source.endsWith(result.text.slice(mark.index + mark[0].length))
      }),
    )
  })

  it('C11: bytes are counted as UTF-8 has them, and shown plus omitted is all', () => {
    fc.assert(fc.property(anyText, (text) => sizeOf(text).bytes === Buffer.byteLength(text)))
    fc.assert(
      fc.property(anyText, limits, (text, limit) => {
        const { cut, omitted } = cutText(text, limit)
        return (
          omitted.bytes >= 0 && omitted.lines >= 0 && (cut ? omitted.bytes > 0 || text !== '' : omitted.bytes === 0)
        )
      }),
    )
  })
})

describe('HeadTail', () => {
  it('C11: any pieces give what cutText gives for the whole', () => {
    fc.assert(
      fc.property(fc.array(soundText, { maxLength: 12 }), limits, (pieces, limit) => {
        const buffer = new HeadTail(limit)
        for (const piece of pieces) buffer.push(piece)
        const [streamed, direct] = [buffer.end(), cutText(pieces.join(''), limit)]
        return (
          streamed.text === direct.text &&
          streamed.omitted.bytes === direct.omitted.bytes &&
          streamed.omitted.lines === direct.omitted.lines
        )
      }),
      { numRuns: 300 },
    )
  })
})
