/**
 * `tool()`: makes a `Tool` of what a user declares. Owns the check of the definition, the defaults, and the fences around the
 * user's callbacks. Does not run, time, cut or log anything: that is the call pool's.
 *
 * Invariants: a definition that cannot work is refused at once, not at its first call; a callback that throws never costs more
 * than caution: its call runs alone, asks a person, or is judged by its arguments (C6, A1, T6); invalid arguments are answered
 * with what was expected, never guessed (C8).
 */
import type { EffectClass, GuardMode, ResourceUse } from '../../kernel/events.ts'
import { guardModeOf } from '../../kernel/guard.ts'
import { undeclaredResources } from '../../kernel/plan.ts'
import { isPlainObject } from '../../util/json.ts'
import { wellFormed } from '../../util/wellformed.ts'
import { after } from '../../util/maybe.ts'
import { messageOf, quoted } from '../../util/text.ts'
import { invalid, schemaHint, toolSchema } from './tool-schema.ts'
import type { Checked, ToolSchema } from './tool-schema.ts'
import type { Args, Tool, ToolDefinition, Validated } from './tool.ts'

/**
 * Declares a tool. Throws `tool-invalid` if the definition cannot work.
 * Contract for the callbacks: they get the arguments as the schema gives them, defaults filled in, wherever that can be known
 * without waiting; `resources`, `identity` and `approval` are called before a call runs, and may be called again.
 */
export function tool<Input = Args>(definition: ToolDefinition<Input>): Tool {
  checkDefinition(definition)
  const { name, description, effect = 'write', timeoutMs = DEFAULT_TIMEOUT_MS, run } = definition
  const schema = toolSchema(name, definition.input)
  const typed = typedArgs<Input>(schema)
  return {
    name,
    description,
    effect,
    guard: definition.guard ?? guardModeOf(effect),
    timeoutMs,
    parameters: schema.parameters,
    prepare: () => schema.prepare(),
    validate: (args) => after(schema.check(args), (checked) => judge(name, schema, typed, checked)),
    resources: (args) => resourcesOf(definition, effect, () => typed.of(args)),
    identity: (args) => identityOf(definition, () => typed.of(args)),
    approval: (args) => approvalOf(definition, () => typed.of(args)),
    reconcile: definition.reconcile ?? null,
    run: (args, context) => run(args as Input, context),
  }
}

const DEFAULT_TIMEOUT_MS = 120_000

const FIELDS: readonly (keyof ToolDefinition)[] = [
  'name',
  'description',
  'input',
  'effect',
  'resources',
  'timeoutMs',
  'approval',
  'identity',
  'guard',
  'reconcile',
  'run',
]
const EFFECTS: readonly EffectClass[] = ['read', 'idempotent', 'write']
const GUARDS: readonly GuardMode[] = ['strict', 'progress', 'off']

/** The types say the same; this is for those who have none, and for definitions made at run time. */
function checkDefinition<Input>(definition: ToolDefinition<Input>): void {
  if (!isPlainObject(definition)) throw invalid(definition, 'no definition', 'pass an object with name, input and run')
  const { name, description, effect, timeoutMs, guard } = definition
  const refuse = (field: string, value: unknown, fix: string): never => {
    throw invalid(name, `${field} is ${quoted(value)}`, fix)
  }
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    refuse('its name', name, 'use 1 to 64 letters, digits, "_" or "-"')
  for (const field of Object.keys(definition)) {
    if (!FIELDS.includes(field as keyof ToolDefinition))
      refuse('an unknown field', field, `the fields are ${FIELDS.join(', ')}`)
  }
  if (typeof description !== 'string' || description.trim() === '')
    refuse('its description', description, 'say to the model what it does and when to use it')
  if (definition.input === undefined || definition.input === null)
    refuse('its input', definition.input, 'pass a schema; for no arguments { type: "object", properties: {} }')
  if (effect !== undefined && !EFFECTS.includes(effect)) refuse('its effect', effect, `use ${EFFECTS.join(', ')}`)
  if (guard !== undefined && !GUARDS.includes(guard)) refuse('its guard', guard, `use ${GUARDS.join(', ')}`)
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0))
    refuse('its timeoutMs', timeoutMs, 'use a positive number of milliseconds; every call has a timeout (C13)')
  if (typeof definition.run !== 'function') refuse('its run', definition.run, 'pass the function that does the work')
  for (const field of ['resources', 'identity', 'reconcile'] as const) {
    if (definition[field] !== undefined && typeof definition[field] !== 'function')
      refuse(`its ${field}`, definition[field], 'pass a function, or leave it out')
  }
  if (!['undefined', 'boolean', 'function'].includes(typeof definition.approval))
    refuse('its approval', definition.approval, 'pass true, false or a function')
}

/** Arguments as the schema gives them, for callbacks that cannot wait. */
interface TypedArgs<Input> {
  of(args: Args): Input
  /** Remembers what a check gave, so that it is not taken for raw arguments and transformed twice. */
  remember(value: unknown): void
}

function typedArgs<Input>(schema: ToolSchema): TypedArgs<Input> {
  const given = new WeakSet<object>()
  return {
    of(args) {
      if (!schema.transforms || given.has(args)) return args as Input
      const checked = schema.check(args)
      return ('value' in checked ? checked.value : args) as Input
    },
    remember(value) {
      if (schema.transforms && typeof value === 'object' && value !== null) given.add(value)
    },
  }
}

const PROBLEMS_MAX = 5

function judge(name: string, schema: ToolSchema, typed: TypedArgs<unknown>, checked: Checked): Validated {
  if ('value' in checked) {
    typed.remember(checked.value)
    return { ok: true, args: checked.value as Args }
  }
  const shown = checked.problems.slice(0, PROBLEMS_MAX).map((problem) => `- ${problem.slice(0, 500)}`)
  const more = checked.problems.length - shown.length
  if (more > 0) shown.push(`- and ${more} more`)
  const text = `The arguments of "${name}" do not fit its schema:\n${shown.join('\n')}\nSchema: ${schemaHint(schema.parameters)}`
  return { ok: false, message: wellFormed(text) }
}

function resourcesOf<Input>(
  definition: ToolDefinition<Input>,
  effect: EffectClass,
  args: () => Input,
): readonly ResourceUse[] {
  if (definition.resources === undefined) return undeclaredResources(effect)
  try {
    const uses: unknown = definition.resources(args())
    if (Array.isArray(uses) && uses.every(isResourceUse)) return uses
  } catch {
    // A declaration that failed says nothing about what the call touches: it runs alone.
  }
  return undeclaredResources('write')
}

function isResourceUse(use: unknown): use is ResourceUse {
  return isPlainObject(use) && typeof use['name'] === 'string' && (use['mode'] === 'read' || use['mode'] === 'write')
}

function identityOf<Input>(definition: ToolDefinition<Input>, args: () => Input): string | null {
  try {
    const identity: unknown = definition.identity?.(args())
    return typeof identity === 'string' ? identity : null
  } catch {
    // Without an identity of its own a call is known by its arguments.
    return null
  }
}

function approvalOf<Input>({ name, approval }: ToolDefinition<Input>, args: () => Input): string | null {
  if (approval === undefined || approval === false) return null
  const general = `The tool "${name}" asks before every call.`
  if (approval === true) return general
  try {
    const answer: unknown = approval(args())
    if (typeof answer === 'string') return answer === '' ? null : answer
    return answer === false ? null : general
  } catch (error) {
    return `The approval check of the tool "${name}" failed (${messageOf(error)}): please decide.`
  }
}
