import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../runtime/define/define-tool.ts'
import { synthesise } from './synthesise.ts'

const object = (properties: object, required = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
})

describe('synthesised arguments', () => {
  it.each([
    ['only what is required', object({ a: { type: 'string' }, b: { type: 'string' } }, ['a']), { a: 'a' }],
    ['what is not described', object({}, ['a']), { a: null }],
    [
      'examples first, then defaults and words',
      object({ a: { examples: [7] }, b: { default: 8 }, c: { enum: ['x', 'y'] }, d: { const: 9 } }),
      { a: 7, b: 8, c: 'x', d: 9 },
    ],
    [
      'texts within their length',
      object({ a: { type: 'string', minLength: 3 }, long: { type: 'string', maxLength: 2 } }),
      { a: 'axx', long: 'lo' },
    ],
    [
      'texts of a format',
      object({ at: { type: 'string', format: 'date' }, to: { type: 'string', format: 'email' } }),
      { at: '2026-01-02', to: 'someone@example.com' },
    ],
    [
      'numbers within their bounds',
      object({
        a: { type: 'integer', minimum: 5 },
        b: { type: 'number', exclusiveMinimum: 0, maximum: 0.5, multipleOf: 0.25 },
        c: { type: 'integer', maximum: -3 },
        d: { type: 'integer', exclusiveMinimum: 9, multipleOf: 5 },
      }),
      { a: 5, b: 0.25, c: -4, d: 10 },
    ],
    [
      'lists as long as they must be',
      object({ a: { type: 'array', minItems: 2, items: { type: 'boolean' } }, b: { type: 'array', items: {} } }),
      { a: [true, true], b: [] },
    ],
    [
      'the first of several shapes',
      object({ a: { anyOf: [{ type: 'integer' }, { type: 'null' }] }, b: { type: ['string', 'null'] } }),
      { a: 1, b: 'b' },
    ],
    [
      'what all shapes want together',
      { allOf: [object({ a: { type: 'string' } }), object({ b: { type: 'null' } })] },
      { a: 'a', b: null },
    ],
    [
      'what a reference points at',
      { ...object({ a: { $ref: '#/$defs/x~1y' } }), $defs: { 'x/y': { type: 'integer' } } },
      { a: 1 },
    ],
  ])('have %s', (_what, schema, args) => {
    expect(synthesise(schema)).toEqual(args)
  })

  it('come to an end where a schema contains itself', () => {
    const tree = { ...object({ child: { $ref: '#' } }) }
    expect(JSON.stringify(synthesise(tree)).length).toBeLessThan(1_000)
  })

  it('pass the schemas that people write', () => {
    const booking = tool({
      name: 'book',
      description: 'books',
      input: z.object({
        id: z.uuid(),
        mail: z.email(),
        at: z.iso.datetime(),
        seats: z.number().int().min(1).max(9),
        price: z.number().positive(),
        kind: z.enum(['one-way', 'return']),
        names: z.array(z.string().min(2)).min(1),
        note: z.string().nullable(),
        pay: z.union([z.object({ card: z.string() }), z.literal('cash')]),
        more: z.string().optional(),
      }),
      run: () => 'booked',
    })
    expect(booking.validate(synthesise(booking.parameters) as never)).toMatchObject({ ok: true })
  })
})
