import { describe, expect, it } from 'vitest'
import { RESULT_LIMITS, cutText, sizeOf } from './cut.ts'
import { wellFormed } from './wellformed.ts'

const MARKER = /^\[\.\.\. left out: (\d+) bytes, (\d+) lines(?:; .*)? \.\.\.\]$/m

describe('cutText', () => {
  it('C11: gives back the very text while it is within the limits', () => {
    for (const text of [
      '',
      'a',
      'a\n',
      'x'.repeat(RESULT_LIMITS.bytes),
      'x\n'.repeat(RESULT_LIMITS.lines),
      'a\ud800b',
    ]) {
      expect(cutText(text)).toEqual({ text, cut: false, omitted: { bytes: 0, lines: 0 } })
    }
  })

  it('C11: cuts one byte and one line above the limits', () => {
    expect(cutText('x'.repeat(RESULT_LIMITS.bytes + 1)).cut).toBe(true)
    expect(cutText('\n'.repeat(RESULT_LIMITS.lines + 1)).cut).toBe(true)
    expect(cutText(`${'\n'.repeat(RESULT_LIMITS.lines)}x`).cut).toBe(true)
  })

  it('C11: keeps 20 % of the text at each end while that is less than half the limit', () => {
    const { text, omitted } = cutText('x'.repeat(60_000))
    expect(text.split('\n').map((line) => line.length)).toEqual([12_000, expect.any(Number), 12_000])
    expect(omitted).toEqual({ bytes: 36_000, lines: 0 })
  })

  it('case 052: 10,000 noise lines do not hide the error at the end', () => {
    const source = `${Array.from({ length: 10_000 }, (_, index) => `noise ${index}`).join('\n')}\nERROR x\n`
    const { text, omitted } = cutText(source)
    expectWithin(text)
    expect(text.startsWith('noise 0\nnoise 1\n')).toBe(true)
    expect(text.endsWith('\nERROR x\n')).toBe(true)
    expect(text).toContain(`${omitted.bytes} bytes, ${omitted.lines} lines`)
    expect(sizeOf(text).lines - 1 + omitted.lines).toBe(10_001)
  })

  it('case 052: 2 MB in one line', () => {
    const { text, omitted } = cutText(`start${'漢'.repeat(700_000)}end`)
    expectWithin(text)
    expect(text.startsWith('start漢')).toBe(true)
    expect(text.endsWith('漢end')).toBe(true)
    expect(omitted.bytes).toBeGreaterThan(2_000_000)
    expect(MARKER.exec(text)?.[1]).toBe(String(omitted.bytes))
  })

  it('case 052: 300 long lines under the line limit', () => {
    const source = Array.from({ length: 300 }, (_, index) => `${index} ${'y'.repeat(1000)}`).join('\n')
    const { text } = cutText(source)
    expectWithin(text)
    expect(text.startsWith('0 y')).toBe(true)
    expect(text.endsWith('y')).toBe(true)
  })

  it('case 098: emoji text stays well-formed with the limit at every offset', () => {
    const source = '👩‍👩‍👧‍👦🇨🇳é漢\u{1F600}'.repeat(40)
    for (let bytes = 0; bytes <= sizeOf(source).bytes; bytes++) {
      const { text } = cutText(source, { bytes, lines: 100 })
      expect(text).toBe(wellFormed(text))
      expect(sizeOf(text).bytes).toBeLessThanOrEqual(bytes)
    }
  })

  it('C11: does not tear a family, a flag or a letter from its accent', () => {
    const cluster = '👩‍👩‍👧‍👦'
    const source = cluster.repeat(200)
    for (let bytes = 100; bytes < 160; bytes++) {
      const [head, , tail] = cutText(source, { bytes, lines: 9 }).text.split('\n')
      expect(head!.replaceAll(cluster, '')).toBe('')
      expect((tail ?? '').replaceAll(cluster, '')).toBe('')
    }
  })

  it('C11: a cluster without end is cut through at a character', () => {
    const source = `a${'\u0301'.repeat(100_000)}`
    const { text } = cutText(source)
    expectWithin(text)
    expect(sizeOf(text).bytes).toBeGreaterThan(RESULT_LIMITS.bytes * 0.7)
  })

  it('C11: ill-formed input comes out well-formed', () => {
    const { text } = cutText('a\ud800'.repeat(30_000))
    expectWithin(text)
    expect(text).toBe(wellFormed(text))
    expect(text.startsWith('a\ufffda')).toBe(true)
  })

  it('C11: CRLF is not torn, and a NUL is a character like any other', () => {
    const { text } = cutText('\0\r\n'.repeat(3000))
    expect(text.startsWith('\0\r\n\0\r\n')).toBe(true)
    expect(text).toMatch(/\0\r?\n\[/)
    expect(text.endsWith('\r\n')).toBe(true)
  })

  it('C11: a hint says in the marker where the whole is', () => {
    const { text } = cutText('x'.repeat(60_000), RESULT_LIMITS, 'read it as output-1')
    expectWithin(text)
    expect(text).toContain('; read it as output-1 ...]')
  })

  it('C11: limits too small for the marker give a head alone', () => {
    expect(cutText('abcdef', { bytes: 4, lines: 9 })).toEqual({
      text: 'abcd',
      cut: true,
      omitted: { bytes: 2, lines: 0 },
    })
    expect(cutText('a\nb', { bytes: 9, lines: 0 }).text).toBe('')
    expect(cutText('a\nb\nc'.repeat(99), { bytes: 99, lines: 1 }).text).toMatch(/^\[\.\.\. left out: [^\n]*$/)
  })

  it('C11: 100 MB are cut without a copy of the text', () => {
    const source = `${'0123456789abcde\n'.repeat((100 * 1024 * 1024) / 16)}end`
    const before = process.memoryUsage().heapUsed
    const { text, omitted } = cutText(source)
    // Far under what a list of its lines or a second copy takes; the source itself becomes flat on first reading.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(180 * 1024 * 1024)
    expectWithin(text)
    expect(text.endsWith('end')).toBe(true)
    expect(omitted.bytes).toBeGreaterThan(100_000_000)
  })
})

function expectWithin(text: string): void {
  const size = sizeOf(text)
  expect(size.bytes).toBe(Buffer.byteLength(text))
  expect(size.bytes).toBeLessThanOrEqual(RESULT_LIMITS.bytes)
  expect(size.lines).toBeLessThanOrEqual(RESULT_LIMITS.lines)
}
