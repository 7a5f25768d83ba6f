import { describe, expect, it } from 'vitest'
import { borderAt, wellFormed, wellFormedJson } from './wellformed.ts'

const high = '\ud83d'
const low = '\ude00'

describe('X8: well-formed text', () => {
  it.each([
    ['plain', 'plain'],
    ['好😀', '好😀'],
    [`a${high}b`, 'a\ufffdb'],
    [`${low}${high}`, '\ufffd\ufffd'],
    [`😀${high}`, '😀\ufffd'],
    ['', ''],
  ])('%j becomes %j', (text, wanted) => {
    expect(wellFormed(text)).toBe(wanted)
    expect(JSON.parse(wellFormedJson(text))).toBe(wanted)
  })

  it('mends values and keys at any depth of a JSON text, and leaves escapes that only look alike', () => {
    const value = {
      [`k${high}`]: [`v${low}`, { deep: '😀' }],
      told: 'write \\ud83d for it',
      slashes: `\\\\${high}`,
      zero: '\u0000\u001f',
    }
    const wanted = {
      'k\ufffd': ['v\ufffd', { deep: '😀' }],
      told: 'write \\ud83d for it',
      slashes: '\\\\\ufffd',
      zero: '\u0000\u001f',
    }
    expect(JSON.parse(wellFormedJson(value))).toEqual(wanted)
  })

  it('refuses what has no JSON', () => {
    expect(() => wellFormedJson(undefined)).toThrow(/type undefined/)
  })
})

describe('case 098: borders', () => {
  it('never stands inside a pair, at any offset', () => {
    const text = 'a😀好😀b'
    for (let index = -1; index <= text.length + 1; index++) {
      const at = borderAt(text, index)
      expect(at).toBeLessThanOrEqual(Math.max(0, index))
      expect(wellFormed(text.slice(0, at))).toBe(text.slice(0, at))
    }
    expect(borderAt(text, 2)).toBe(1)
    expect(borderAt(text, 99)).toBe(text.length)
  })
})
