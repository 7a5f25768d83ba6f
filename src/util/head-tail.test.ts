import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { RESULT_LIMITS, cutText, sizeOf } from './cut.ts'
import { HeadTail } from './head-tail.ts'

describe('HeadTail', () => {
  it('C11: gives a short text back whole', () => {
    const buffer = new HeadTail()
    expect(buffer.end().text).toBe('')
    for (const piece of ['a', '', 'b\n']) buffer.push(piece)
    expect(buffer.end()).toEqual({ text: 'ab\n', cut: false, omitted: { bytes: 0, lines: 0 } })
  })

  it('C11: long texts in pieces of any size equal the cut of the whole', () => {
    const source = Array.from({ length: 30_000 }, (_, index) => `line ${index} 漢字😀`).join('\n')
    for (const width of [7, 1000, 65_536, source.length]) {
      const buffer = new HeadTail()
      let from = 0
      while (from < source.length) {
        const to = from + width
        // A pair is not torn: the contract of push.
        const border = /[\udc00-\udfff]/.test(source[to] ?? '') ? to + 1 : to
        buffer.push(source.slice(from, border))
        from = border
      }
      expect(buffer.end()).toEqual(cutText(source))
    }
  })

  it('C11: a gigabyte streams by in bounded memory', () => {
    const buffer = new HeadTail()
    const piece = 'x'.repeat(65_535) + '\n'
    const before = process.memoryUsage().heapUsed
    for (let index = 0; index < 16_384; index++) buffer.push(piece)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024)
    const { text, omitted } = buffer.end()
    expect(sizeOf(text).bytes).toBeLessThanOrEqual(RESULT_LIMITS.bytes)
    expect(omitted.bytes).toBeGreaterThan(2 ** 30 - RESULT_LIMITS.bytes)
  })

  it('C11: of a single huge piece only the ends are held', () => {
    // The collector of garbage, without a flag for the whole run.
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const buffers = Array.from({ length: 8 }, () => new HeadTail())
    collect()
    // Each of the pieces takes 16 MB; the newest may still be in use.
    const before = process.memoryUsage().heapUsed
    for (const [index, buffer] of buffers.entries()) buffer.push(String(index) + '漢😀\n'.repeat(2_000_000))
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(40 * 2 ** 20)
    expect(buffers[0]!.end()).toEqual(cutText('0' + '漢😀\n'.repeat(2_000_000)))
  })

  it('C11: a long piece among short ones leaves the same cut, at limits of any size', () => {
    const pieces = ['a\n', 'b'.repeat(700), '漢'.repeat(5000), 'c\n', '😀'.repeat(3000), 'd']
    for (const limits of [RESULT_LIMITS, { bytes: 200, lines: 10 }, { bytes: 4000, lines: 3 }]) {
      const buffer = new HeadTail(limits)
      for (const piece of pieces) buffer.push(piece)
      expect(buffer.end()).toEqual(cutText(pieces.join(''), limits))
    }
  })

  it('C11: single bytes do not pile up', () => {
    const buffer = new HeadTail({ bytes: 1024 * 1024, lines: Infinity })
    for (let index = 0; index < 3_000_000; index++) buffer.push('x')
    expect(buffer.end().omitted.bytes).toBeGreaterThan(1_900_000)
  })
})
