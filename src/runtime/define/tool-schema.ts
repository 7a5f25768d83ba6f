/**
 * The input schema of a tool: how it is described to a model, and how arguments are checked against it. Owns both kinds, Standard
 * Schema and plain JSON Schema; knows no tool.
 *
 * Invariants: a description is a JSON Schema of an object, fixed at definition; a check never throws and never changes the
 * arguments that it was given; nothing heavy is loaded before the first check.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { TurnstepError } from '../../kernel/errors.ts'
import { RESULT_LIMITS, cutText } from '../../util/cut.ts'
import { isPlainObject } from '../../util/json.ts'
import type { Json } from '../../util/json.ts'
import { isLater, type Maybe } from '../../util/maybe.ts'
import { messageOf, quoted } from '../../util/text.ts'
import type { Args, InputSchema, JsonSchema } from './tool.ts'

/** What is wrong with some arguments, by path; or the value that the body gets. */
export type Checked = { readonly value: unknown } | { readonly problems: readonly string[] }

export interface ToolSchema {
  /** For the model. */
  readonly parameters: JsonSchema & Json
  /** Whether a check gives another value than it was given: defaults filled in, strings made numbers. */
  readonly transforms: boolean
  /** Has the first check find everything loaded. */
  prepare(): void
  /** Never throws, never rejects. */
  check(args: Args): Maybe<Checked>
}

/** Compiled code is made of a schema, and a schema may come from a stranger's server. */
const SCHEMA_CHARS_MAX = 256 * 1024

/** Reads the schema of the tool `name`; refuses one that does not describe an object (`tool-invalid`). */
export function toolSchema(name: string, input: InputSchema<unknown>): ToolSchema {
  const isStandard = isPlainObject(input) || typeof input === 'function' ? '~standard' in input : false
  if (isStandard) return standardSchema(name, input as StandardSchemaV1)
  const described = describedBy(name, input)
  return {
    parameters: described.parameters,
    transforms: false,
    prepare: () => {
      if (!compiled.has(described.text)) void compileOnce(described)
    },
    check: (args) => checkJson(described, args),
  }
}

/** A schema as a model reads it in an error: compact, and of bounded length. */
export function schemaHint(parameters: Json): string {
  return cutText(JSON.stringify(parameters), { bytes: RESULT_LIMITS.bytes / 10, lines: 100 }).text
}

function standardSchema(name: string, input: StandardSchemaV1): ToolSchema {
  const described = describeStandard(name, input['~standard'])
  return {
    parameters: describedBy(name, described).parameters,
    transforms: true,
    prepare() {},
    check: (args) => checkStandard(input, args),
  }
}

function describeStandard(name: string, props: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>): unknown {
  const { vendor, jsonSchema } = props
  if (jsonSchema === undefined)
    throw invalid(
      name,
      `its input is a schema of ${quoted(vendor)} that cannot describe itself as JSON Schema`,
      'use zod 4.2 or later or arktype 2.1.28 or later, or pass plain JSON Schema',
    )
  try {
    return jsonSchema.input({ target: 'draft-2020-12' })
  } catch (cause) {
    throw invalid(
      name,
      `its input has no JSON Schema: ${quoted(messageOf(cause))}`,
      'use types that JSON can carry',
      cause,
    )
  }
}

function checkStandard(input: StandardSchemaV1, args: Args): Maybe<Checked> {
  try {
    const result = input['~standard'].validate(args)
    return isLater(result) ? Promise.resolve(result).then(readStandard, checkFailed) : readStandard(result)
  } catch (error) {
    return checkFailed(error)
  }
}

function readStandard(result: StandardSchemaV1.Result<unknown>): Checked {
  if (result.issues === undefined) return { value: result.value }
  return { problems: result.issues.map(({ path, message }) => `${pathText(path ?? [])}: ${message}`) }
}

function checkFailed(error: unknown): Checked {
  return { problems: [`the check itself failed: ${messageOf(error)}`] }
}

function pathText(path: readonly (PropertyKey | StandardSchemaV1.PathSegment)[]): string {
  let text = ''
  for (const segment of path) {
    const key = typeof segment === 'object' ? segment.key : segment
    text += typeof key === 'number' ? `[${key}]` : `${text === '' ? '' : '.'}${String(key)}`
  }
  return text === '' ? 'arguments' : text
}

interface Described {
  readonly parameters: JsonSchema & Json
  /** The schema as it was given, for the cache. */
  readonly text: string
  readonly dialect: unknown
}

/** A copy of the schema as JSON, of bounded size. */
function describedBy(name: string, schema: unknown): Described {
  let text: string | undefined
  try {
    text = JSON.stringify(schema)
  } catch (cause) {
    throw invalid(name, `its input schema is no JSON: ${quoted(messageOf(cause))}`, 'pass plain data', cause)
  }
  const copy: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isPlainObject(copy) || copy['type'] !== 'object')
    throw invalid(
      name,
      `its input schema is ${quoted(copy)}`,
      'it must describe an object: "type": "object" at its top; put a union, a list or a plain value into a property',
    )
  if (copy['$async'] !== undefined) throw invalid(name, 'its input schema has "$async"', 'leave it out')
  if (text!.length > SCHEMA_CHARS_MAX)
    throw invalid(name, `its input schema has ${text!.length} characters`, `at most ${SCHEMA_CHARS_MAX}`)
  const { $schema: dialect, ...parameters } = copy
  return { parameters: parameters as JsonSchema & Json, text: text!, dialect }
}

/** Null where there is nothing wrong. */
type Validate = (args: Args) => readonly string[] | null

/** Compiled checks by schema text: a server that is connected again brings the same schemas. The oldest are forgotten. */
const compiled = new Map<string, Maybe<Validate>>()
const COMPILED_MAX = 256

/** At once, but for the first time: the compiler is loaded when it is first needed. */
function checkJson(schema: Described, args: Args): Maybe<Checked> {
  const validate = compiled.get(schema.text) ?? compileOnce(schema)
  return validate instanceof Promise
    ? validate.then((run) => checkWith(run, args), checkFailed)
    : checkWith(validate, args)
}

function checkWith(validate: Validate, args: Args): Checked {
  const problems = validate(args)
  return problems === null ? { value: args } : { problems }
}

function compileOnce(schema: Described): Promise<Validate> {
  const validate = compile(schema)
  compiled.set(schema.text, validate)
  if (compiled.size > COMPILED_MAX) compiled.delete(compiled.keys().next().value!)
  void validate.then(
    (ready) => void (compiled.get(schema.text) === validate && compiled.set(schema.text, ready)),
    () => {}, // Whoever asks for a check is told why there is none.
  )
  return validate
}

async function compile({ parameters, dialect }: Described): Promise<Validate> {
  const isOld = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect)
  const { Ajv } = isOld ? await import('ajv') : { Ajv: (await import('ajv/dist/2020.js')).Ajv2020 }
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    logger: false,
    validateFormats: false,
    addUsedSchema: false,
    // The schema of schemas takes thirty times as long to compile as a schema of a tool; the compiler itself refuses keywords whose
    // values it cannot use.
    validateSchema: false,
  })
  const validate = ajv.compile<Args>(parameters)
  return (args) => (validate(args) ? null : (validate.errors ?? []).map(problemText))
}

function problemText({ instancePath, keyword, params, message }: ErrorObject): string {
  const keys = instancePath.split('/').slice(1)
  const path = pathText(
    keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key.replaceAll('~1', '/').replaceAll('~0', '~'))),
  )
  if (keyword === 'required') return `${path}: ${quoted(params['missingProperty'])} is missing`
  if (keyword === 'additionalProperties') return `${path}: ${quoted(params['additionalProperty'])} is not known`
  if (keyword === 'enum') return `${path}: expected one of ${quoted(params['allowedValues'])}`
  return `${path}: ${message ?? keyword}`
}

/** The error of a definition that cannot be used: what was seen, and the fix. */
export function invalid(name: unknown, seen: string, fix: string, cause?: unknown): TurnstepError {
  return new TurnstepError('tool-invalid', `tool ${quoted(name)}: ${seen}; ${fix}`, { cause })
}
