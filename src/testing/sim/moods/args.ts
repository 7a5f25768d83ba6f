/** Arguments for a tool, drawn from its JSON Schema: few values, so that they repeat and conflict. */
import type { Args } from '../../../runtime/define/tool.ts'
import { isPlainObject, type Json } from '../../../util/json.ts'
import type { Chance } from '../chance.ts'

const WORDS = ['a', 'b', 'c']
const DEPTH_MAX = 4

/** An object that fits the schema, as far as that can be told from types, enums and bounds. */
export function argsFor(parameters: Json, chance: Chance): Args {
  const drawn = draw(parameters, chance, 0)
  return isPlainObject(drawn) ? (drawn as Args) : {}
}

function draw(schema: unknown, chance: Chance, depth: number): Json {
  if (!isPlainObject(schema) || depth > DEPTH_MAX) return null
  if ('const' in schema) return schema['const'] as Json
  if (Array.isArray(schema['enum'])) return chance.pick(schema['enum'] as Json[])
  for (const any of ['anyOf', 'oneOf']) {
    if (Array.isArray(schema[any])) return draw(chance.pick(schema[any]), chance, depth + 1)
  }
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  switch (type) {
    case 'object':
      return drawObject(schema, chance, depth)
    case 'array':
      return Array.from({ length: atLeast(schema['minItems'], 1) }, () => draw(schema['items'], chance, depth + 1))
    case 'integer':
    case 'number':
      return drawNumber(schema, chance)
    case 'boolean':
      return chance.is(0.5)
    case 'null':
      return null
    default:
      return chance.pick(WORDS).padEnd(atLeast(schema['minLength'], 1), 'x')
  }
}

function drawObject(schema: Record<string, unknown>, chance: Chance, depth: number): Json {
  const properties = isPlainObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const drawn: Record<string, Json> = {}
  for (const [name, of] of Object.entries(properties))
    if (required.includes(name) || chance.is(0.5)) drawn[name] = draw(of, chance, depth + 1)
  return drawn
}

/** One of six from the lower bound up, below the upper. */
function drawNumber(schema: Record<string, unknown>, chance: Chance): number {
  const above = typeof schema['exclusiveMinimum'] === 'number' ? schema['exclusiveMinimum'] + 1 : 0
  const low = Math.max(typeof schema['minimum'] === 'number' ? schema['minimum'] : above, above)
  const high = typeof schema['maximum'] === 'number' ? schema['maximum'] : low + 5
  return Math.min(high, low + chance.below(6))
}

function atLeast(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? Math.max(value, otherwise) : otherwise
}
