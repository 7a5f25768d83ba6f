/** Arguments made from a tool's JSON Schema: the smallest that should pass. What an author gives as an example goes first. */
import { isPlainObject, type Json } from '../../util/json.ts'

type Schema = Readonly<Record<string, unknown>>

/** Deeper than this a schema that contains itself is cut off. */
const DEPTH_MAX = 12

/** A value for the schema. What no keyword describes (a pattern, a refinement) may still be refused. */
export function synthesise(schema: unknown): Json {
  return valueOf(schema, { root: schema, depth: 0, name: 'value' })
}

interface Where {
  readonly root: unknown
  readonly depth: number
  /** Of the property. */
  readonly name: string
}

function valueOf(given: unknown, where: Where): Json {
  if (!isPlainObject(given) || where.depth > DEPTH_MAX) return null
  const schema = resolved(given, where.root)
  for (const key of ['const', 'default'] as const) if (schema[key] !== undefined) return schema[key] as Json
  for (const key of ['examples', 'enum'] as const) {
    const list = schema[key]
    if (Array.isArray(list) && list.length > 0) return list[0] as Json
  }
  const inner = { ...where, depth: where.depth + 1 }
  for (const key of ['anyOf', 'oneOf'] as const) {
    const [first] = Array.isArray(schema[key]) ? schema[key] : []
    if (first !== undefined) return valueOf(merged([rest(schema, key), first], where.root), inner)
  }
  if (Array.isArray(schema['allOf']))
    return valueOf(merged([rest(schema, 'allOf'), ...(schema['allOf'] as unknown[])], where.root), inner)
  return typed(schema, inner)
}

function typed(schema: Schema, where: Where): Json {
  const { type } = schema
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case 'string':
      return textOf(schema, where.name)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'array':
      return listOf(schema, where)
    case 'object':
      return objectOf(schema, where)
    default:
      return isPlainObject(schema['properties']) ? objectOf(schema, where) : null
  }
}

/** Only what is required: what may be left out, a tool has to do without. */
function objectOf(schema: Schema, where: Where): Json {
  const properties = isPlainObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const names = required.filter((name): name is string => typeof name === 'string')
  return Object.fromEntries(names.map((name) => [name, valueOf(properties[name] ?? {}, { ...where, name })]))
}

function listOf(schema: Schema, where: Where): Json {
  const first = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as unknown[]) : []
  const count = Math.max(first.length, Math.min(numberIn(schema, 'minItems') ?? 0, 100))
  return Array.from({ length: count }, (_, at) => valueOf(first[at] ?? schema['items'], where))
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P1D',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  'uri-reference': '/example',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function textOf(schema: Schema, name: string): string {
  const { format } = schema
  if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format]
  const least = numberIn(schema, 'minLength') ?? 0
  return name.padEnd(Math.min(least, 10_000), 'x').slice(0, numberIn(schema, 'maxLength') ?? undefined)
}

function numberOf(schema: Schema): number {
  const step = numberIn(schema, 'multipleOf') ?? 1
  const isWhole = schema['type'] !== 'number'
  const above = numberIn(schema, 'exclusiveMinimum')
  const least = numberIn(schema, 'minimum') ?? (above === null ? null : isWhole ? Math.floor(above) + 1 : above + step)
  const most = numberIn(schema, 'maximum') ?? numberIn(schema, 'exclusiveMaximum')
  const wanted = least ?? (most !== null && most < 1 ? most - step : 1)
  const stepped = Math.ceil(wanted / step) * step
  return most !== null && stepped > most ? wanted : stepped
}

function numberIn(schema: Schema, key: string): number | null {
  return typeof schema[key] === 'number' ? schema[key] : null
}

function rest(schema: Schema, key: string): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== key))
}

/** One schema for all of them: properties and what is required add up, of anything else the later one counts. */
function merged(schemas: readonly unknown[], root: unknown): Schema {
  let all: Record<string, unknown> = {}
  for (const schema of schemas.filter(isPlainObject).map((one) => resolved(one, root))) {
    const properties = { ...(all['properties'] as object), ...(schema['properties'] as object) }
    const required = [all['required'], schema['required']].flatMap((list) => (Array.isArray(list) ? list : []))
    all = { ...all, ...schema, ...(Object.keys(properties).length > 0 ? { properties } : {}), required }
  }
  return all
}

/** What a local `$ref` points at. */
function resolved(schema: Schema, root: unknown): Schema {
  let at = schema
  for (let hops = 0; typeof at['$ref'] === 'string' && hops < DEPTH_MAX; hops++) {
    let target: unknown = root
    for (const key of at['$ref'].replace(/^#\/?/, '').split('/').filter(Boolean))
      target = isPlainObject(target) ? target[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
    if (!isPlainObject(target)) return rest(at, '$ref')
    at = { ...rest(at, '$ref'), ...target }
  }
  return at
}
