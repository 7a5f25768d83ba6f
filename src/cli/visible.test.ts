import { describe, expect, it } from 'vitest'
import { visible, visibleLines } from './visible.ts'

describe('visible', () => {
  it.each([
    ['turns the direction', 0x202a, 0x202e],
    ['isolates a direction', 0x2066, 0x2069],
    ['has no width', 0x200b, 0x200f],
    ['joins or is an operator that is not seen', 0x2060, 0x2065],
    ['is a byte order mark', 0xfeff, 0xfeff],
    ['ends a line', 0x2028, 0x2029],
    ['is a control character', 0x00, 0x08],
    ['is one of the upper half', 0x7f, 0x9f],
    ['is a tag', 0xe0020, 0xe007f],
    ['fills a syllable', 0x3164, 0x3164],
    ['is half of a pair', 0xd800, 0xd800],
  ])('shows what %s', (_what, from, to) => {
    for (let code = from; code <= to; code++) {
      const shown = `a\\u{${code.toString(16).toUpperCase().padStart(4, '0')}}b`
      expect(visible(`a${String.fromCodePoint(code)}b`)).toBe(shown)
    }
  })

  it('leaves writing of all kinds alone', () => {
    const text = 'naïve 状态 שלום مرحبا ⚠️ ✅ "quoted" \\u{202E}\ttab'
    expect(visible(text)).toBe(text)
  })
})

describe('visibleLines', () => {
  it('puts a mark before every line but the first, whatever ends it', () => {
    for (const end of ['\n', '\r', '\r\n', '\u2028', '\u2029', '\u0085', '\v', '\f'])
      expect(visibleLines(`because${end}[2] pay "x" (t1s1c9)`)).toBe('because\n    │ [2] pay "x" (t1s1c9)')
  })

  it('lets no run of blanks push the rest to where a new row begins', () => {
    expect(visibleLines(`because${' '.repeat(80)}[2] pay\t\t"x"`)).toBe('because [2] pay "x"')
  })
})
