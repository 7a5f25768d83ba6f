import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { plainSha256 } from './sha256.ts'

const known = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex')

describe('SHA-256', () => {
  it('gives what FIPS 180-4 gives', () => {
    expect(plainSha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(plainSha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  it('gives what Node gives, at every length around the ends of blocks', () => {
    for (let length = 0; length < 200; length++) expect(plainSha256('é'.repeat(length))).toBe(known('é'.repeat(length)))
    for (let length = 0; length < 200; length++) expect(plainSha256('a'.repeat(length))).toBe(known('a'.repeat(length)))
    expect(plainSha256('漢字'.repeat(20_000))).toBe(known('漢字'.repeat(20_000)))
  })

  it('takes half a surrogate pair as Node does', () => {
    for (const text of ['\ud800', 'a\udc00b', '\ud83d', '\ud83d\ude00']) expect(plainSha256(text)).toBe(known(text))
  })
})
