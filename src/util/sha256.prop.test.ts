import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { plainSha256 } from './sha256.ts'

it('SHA-256 of any text is what Node gives', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
      expect(plainSha256(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'))
    }),
  )
})
