import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { Chance } from '../chance.ts'
import { argsFor } from './args.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 3 },
    unit: { enum: ['c', 'f'] },
    days: { type: 'integer', minimum: 2, maximum: 4 },
    share: { type: 'number', exclusiveMinimum: 0 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
    where: {
      anyOf: [{ type: 'null' }, { type: 'object', properties: { lat: { type: 'number' } }, required: ['lat'] }],
    },
    exact: { const: true },
    loud: { type: ['boolean', 'null'] },
  },
  required: ['city', 'days', 'where'],
} as const

describe('arguments drawn from a schema', () => {
  it('fit it, and leave out now and then what is not required', () => {
    const fits = new Ajv2020({ strict: false }).compile(SCHEMA)
    const chance = new Chance(1)
    const drawn = Array.from({ length: 300 }, () => argsFor(SCHEMA, chance))
    for (const args of drawn) expect(fits(args), JSON.stringify(args)).toBe(true)
    for (const name of ['unit', 'tags', 'loud'])
      expect(new Set(drawn.map((args) => name in args))).toEqual(new Set([true, false]))
  })

  it('are an object, whatever the schema is', () => {
    for (const schema of [null, {}, { type: 'string' }, { type: 'object' }])
      expect(argsFor(schema, new Chance(1))).toEqual({})
  })
})
