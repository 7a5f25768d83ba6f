/** Shapes as JSON Schema (draft 2020-12), with what the sources say of each type and field. */
import type { Field, Form } from '../../src/protocol/shape.ts'
import type { Comments } from './comments.ts'

export type Schema = boolean | { readonly [keyword: string]: unknown }

/** Type of the members of a union that are types of their own: `Part:text` is a `TextPart`. */
const MEMBER_TYPES: Readonly<Record<string, string>> = {
  'Part:text': 'TextPart',
  'Part:image': 'ImagePart',
  'ReplyPart:text': 'TextPart',
  'Message:user': 'UserMessage',
  'Message:assistant': 'AssistantMessage',
  'Message:tool': 'ToolMessage',
}

interface Options {
  readonly comments: Comments
  /** No field but those that are known: what a writer of this version writes, not all that a reader takes. */
  readonly isClosed: boolean
  /** Where a named type is defined; null: here. */
  readonly definedIn?: (name: string) => string | null
}

/** Writes shapes as schemas; the named ones among them gather in `defs`. */
export class SchemaWriter {
  readonly #options: Options
  readonly #defs = new Map<string, Schema>()

  constructor(options: Options) {
    this.#options = options
  }

  /** The types that were named so far, in order of their names. */
  get defs(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#defs].toSorted(([one], [other]) => (one < other ? -1 : 1)))
  }

  define(name: string, schema: Schema): Schema {
    this.#defs.set(name, schema)
    return { $ref: `#/$defs/${name}` }
  }

  /** `type`: the name of the type that the form stands for, by which its comments are found. */
  write(form: Form, type: string): Schema {
    switch (form.kind) {
      case 'text':
        return { type: 'string', ...(form.pattern === undefined ? {} : { pattern: form.pattern.source }) }
      case 'flag':
        return { type: 'boolean' }
      case 'number': {
        const { isWhole, min, max } = form
        return { type: isWhole ? 'integer' : 'number', minimum: min, ...(max === undefined ? {} : { maximum: max }) }
      }
      case 'json':
        return true
      case 'json-object':
        return { type: 'object' }
      case 'one-of':
        return form.members.length === 1 ? { const: form.members[0] } : { enum: form.members }
      case 'or-null':
        return { anyOf: [this.write(form.form, type), { type: 'null' }] }
      case 'list':
        return { type: 'array', items: this.write(form.item, type) }
      case 'record':
        return this.object(form.fields, type)
      case 'union':
        return { oneOf: this.#members(form, type) }
      case 'named':
        return this.#named(form)
    }
  }

  /** An object with these fields. `tag`: a field that has one value, which says what the object is. */
  object(fields: readonly Field[], type: string, tag?: readonly [string, string]): Schema {
    const [name, value] = tag ?? []
    const properties = fields.map((field) => [field.name, this.#field(field, type)] as const)
    const required = fields.filter(({ isOptional }) => !isOptional).map((field) => field.name)
    return {
      ...this.described(type),
      type: 'object',
      required: [...(name === undefined ? [] : [name]), ...required],
      properties: { ...(name === undefined ? {} : { [name]: { const: value } }), ...Object.fromEntries(properties) },
      ...(this.#options.isClosed ? { additionalProperties: false } : {}),
    }
  }

  /** What the source says of a type, or of a field. */
  described(type: string): { readonly description?: string } {
    const description = this.#options.comments.get(MEMBER_TYPES[type] ?? type)
    return description === undefined ? {} : { description }
  }

  #field({ name, form }: Field, type: string): Schema {
    const schema = this.write(form, type)
    const described = this.described(`${MEMBER_TYPES[type] ?? type}.${name}`)
    if (described.description === undefined) return schema
    return schema === true ? described : { ...described, ...(schema as object) }
  }

  #members({ tag, variants }: Extract<Form, { kind: 'union' }>, type: string): Schema[] {
    return [...variants].map(([kind, fields]) => this.object(fields, `${type}:${kind}`, [tag, kind]))
  }

  #named({ name, form }: Extract<Form, { kind: 'named' }>): Schema {
    const elsewhere = this.#options.definedIn?.(name) ?? null
    if (elsewhere !== null) return { $ref: `${elsewhere}#/$defs/${name}` }
    if (!this.#defs.has(name)) {
      this.#defs.set(name, true)
      this.#defs.set(name, { title: name, ...this.described(name), ...(this.write(form, name) as object) })
    }
    return { $ref: `#/$defs/${name}` }
  }
}
