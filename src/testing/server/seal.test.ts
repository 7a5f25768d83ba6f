import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOf, seal, unseal, type Claims } from './seal.ts'

const claims: fc.Arbitrary<Claims> = fc.record({
  text: fc.string().map(hashOf),
  prefix: fc.string().map(hashOf),
  model: fc.string({ unit: 'grapheme', maxLength: 40 }),
  response: fc.string({ maxLength: 30 }),
  index: fc.nat(5),
  count: fc.nat(5),
})

describe('a seal', () => {
  it('X7: is Base64 with every character that a careless copy spoils, and opens to what it was made of', () => {
    fc.assert(
      fc.property(claims, (made) => {
        const blob = seal(made)
        expect(blob).toMatch(/^\+\/\+\/[A-Za-z0-9+/]+={1,2}$/)
        expect(unseal(blob)).toEqual(made)
      }),
    )
  })

  it('X7: does not open once a single character has changed, is gone, or was added', () => {
    fc.assert(
      fc.property(claims, fc.nat(), fc.constantFrom('A', '-', '=', ' ', ''), (made, place, other) => {
        const blob = seal(made)
        const at = place % blob.length
        const spoilt = blob.slice(0, at) + other + blob.slice(at + 1)
        if (spoilt !== blob) expect(unseal(spoilt)).toBeNull()
        expect(unseal(`${blob}=`)).toBeNull()
        expect(unseal(blob.replaceAll('+', '-').replaceAll('/', '_'))).toBeNull()
      }),
    )
  })

  it.each([undefined, null, 7, '', 'EqRk', 'a text'])('is not %j', (value) => {
    expect(unseal(value)).toBeNull()
  })
})
