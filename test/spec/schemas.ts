/** The schemas of `spec/schema`, from the shapes that the runtime checks by, the comments of their types and the reference of events. */
import { readFileSync } from 'node:fs'
import { FORMAT } from '../../src/kernel/events.ts'
import { BODY, EVENT_TYPE, FOREIGN, FOREIGN_PREFIX, HEAD } from '../../src/protocol/event-shapes.ts'
import { LOG_HEADER } from '../../src/protocol/log-file.ts'
import type { Field, Form } from '../../src/protocol/shape.ts'
import { codesIn, tableRows } from '../docs/tables.ts'
import { readComments } from './comments.ts'
import * as inputs from './input-shapes.ts'
import { SchemaWriter, type Schema } from './json-schema.ts'
import { printJson } from './print.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const SOURCES = ['events', 'failure', 'input', 'message', 'outcome'].map((name) => `src/kernel/${name}.ts`)

const comments = readComments(
  Object.fromEntries([...SOURCES, 'src/protocol/jsonl.ts'].map((path) => [path, read(path)])),
)

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'
export const ID = `urn:turnstep:spec:${FORMAT}`

/** Text by file name. */
export function schemaFiles(): Record<string, string> {
  const event = eventSchema(false)
  const known = Object.keys((event as { readonly $defs: object }).$defs)
  const definedIn = (name: string): string | null => (known.includes(name) ? `${ID}:event` : null)
  const files = {
    'event.schema.json': event,
    'event.closed.schema.json': eventSchema(true),
    'line.schema.json': lineSchema(),
    'input.schema.json': inputSchema(definedIn),
    'message.schema.json': messageSchema(definedIn),
  }
  return Object.fromEntries(Object.entries(files).map(([name, schema]) => [name, printJson(schema)]))
}

/** What the reference says of every event. */
const EVENTS = new Map(
  tableRows(read('docs/reference/events.md'))
    .filter((row) => 'event' in row)
    .map((row) => [codesIn(row['event']!)[0]!, `${plain(row['when']!)} (${row['rules']})`]),
)

function plain(cell: string): string {
  const text = cell.replaceAll('`', '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function eventSchema(isClosed: boolean): Schema {
  const writer = new SchemaWriter({ comments, isClosed })
  const head = headOf(writer)
  const { variants } = formOf(BODY, 'union')
  const refs = [...variants].map(([type, fields]) => {
    const schema = eventObject(writer, head, fields, type)
    return writer.define(type, { title: type, ...schema, description: EVENTS.get(type) })
  })
  refs.push(writer.define('x', foreignSchema(writer, head)))
  if (!isClosed) refs.push(writer.define('later', laterSchema(writer, head, [...variants.keys()])))
  return {
    $schema: DRAFT,
    $id: `${ID}:event${isClosed ? '-closed' : ''}`,
    title: isClosed ? 'Event, as this version writes it' : 'Event, as a reader of this version takes it',
    description: isClosed
      ? 'A fact of a log, with no field and no type but those of this minor version. For testing a writer; a reader goes by event.schema.json.'
      : 'A fact of a log. Fields and types that are not named here may have been added by a newer minor version: they are kept and skipped (L6).',
    oneOf: refs,
    $defs: writer.defs,
  }
}

/** The fields of the head, each a reference to where they are defined. */
function headOf(writer: SchemaWriter): Readonly<Record<string, Schema>> {
  const { fields } = formOf(HEAD, 'record')
  const { additionalProperties: _, ...schema } = writer.object(fields, 'EventHead') as Record<string, unknown>
  writer.define('EventHead', { title: 'EventHead', ...schema })
  return Object.fromEntries(fields.map(({ name }) => [name, { $ref: `#/$defs/EventHead/properties/${name}` }]))
}

type ObjectSchema = Record<string, unknown> & {
  readonly required: readonly string[]
  readonly properties: Readonly<Record<string, Schema>>
}

function eventObject(
  writer: SchemaWriter,
  head: Readonly<Record<string, Schema>>,
  fields: readonly Field[],
  type: string,
): ObjectSchema {
  const { description: _, ...body } = writer.object(fields, `EventBody:${type}`, ['type', type]) as ObjectSchema
  const required = [...body.required, ...Object.keys(head)]
  return { ...body, required, properties: { ...body.properties, ...head } }
}

function foreignSchema(writer: SchemaWriter, head: Readonly<Record<string, Schema>>): Schema {
  const { fields } = formOf(FOREIGN, 'record')
  const schema = eventObject(writer, head, fields, 'x')
  const type = { type: 'string', pattern: `^${FOREIGN_PREFIX.replace('.', '\\.')}[^\\s.]+(?:\\.[^\\s.]+)*$` }
  return {
    title: 'x.<plugin>.<name>',
    ...schema,
    description:
      'An event of a plugin. Only its plugin knows what `data` is; everybody else keeps it and skips it (L6).',
    properties: { ...schema.properties, type },
  }
}

/** An event of a type that a newer minor version has added. */
function laterSchema(writer: SchemaWriter, head: Readonly<Record<string, Schema>>, known: readonly string[]): Schema {
  const schema = eventObject(writer, head, [], 'later')
  const pattern = (formOf(EVENT_TYPE, 'text').pattern as RegExp).source
  const type = { type: 'string', pattern, not: { anyOf: [{ enum: known }, { pattern: '^x\\.' }] } }
  return {
    title: 'an event of a newer minor version',
    ...schema,
    description: 'A type that is not known here, with the head that every event has: it is kept and skipped (L6).',
    properties: { ...schema.properties, type },
  }
}

function lineSchema(): Schema {
  const writer = new SchemaWriter({ comments, isClosed: false })
  const header = writer.write(LOG_HEADER, 'LogHeader')
  return {
    $schema: DRAFT,
    $id: `${ID}:line`,
    title: 'A line of an exported log',
    description: 'The first line is the header; every other line is an event, in order of `seq`.',
    oneOf: [header, { $ref: `${ID}:event` }],
    $defs: writer.defs,
  }
}

function inputSchema(definedIn: (name: string) => string | null): Schema {
  const writer = new SchemaWriter({ comments, isClosed: false, definedIn })
  const oneOf = (name: string, forms: readonly Form[]): Schema =>
    writer.define(name, {
      title: name,
      ...writer.described(name),
      oneOf: forms.map((form, index) => writer.write(form, `${name}:${index}`)),
    })
  const posted = oneOf('NewInput', [inputs.newMessage, inputs.newControl])
  oneOf('PendingInput', [inputs.pendingMessage, inputs.pendingControl])
  writer.write(inputs.receiptState, 'ReceiptState')
  return {
    $schema: DRAFT,
    $id: `${ID}:input`,
    title: 'Input, as it is posted to a session',
    description:
      'Inputs wait in an inbox beside the log. `PendingInput` is one that waits, `ReceiptState` says what became of it.',
    ...(posted as object),
    $defs: writer.defs,
  }
}

function messageSchema(definedIn: (name: string) => string | null): Schema {
  const writer = new SchemaWriter({ comments, isClosed: false, definedIn })
  return {
    $schema: DRAFT,
    $id: `${ID}:message`,
    title: 'Message of the context',
    description: 'What a model sees is a list of these, projected from the log. They are not stored.',
    ...(writer.write(inputs.message, 'Message') as object),
    $defs: writer.defs,
  }
}

function formOf<Kind extends Form['kind']>(form: Form, kind: Kind): Extract<Form, { kind: Kind }> {
  if (form.kind !== kind) throw new Error(`a shape of kind ${form.kind} where ${kind} belongs`)
  return form as Extract<Form, { kind: Kind }>
}
