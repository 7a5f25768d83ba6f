/** The schemas that are checked in are those that the sources yield, and say the same as the checks of the runtime. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shapeProblem } from '../../src/protocol/event-shapes.ts'
import type { Event } from '../../src/kernel/events.ts'
import { asLatin1, goldenEvents, goldenNames, HOW, isWriting, readFolder, readSpec, writeFolder } from './files.ts'
import { mutated } from './mutate.ts'
import { ID, schemaFiles } from './schemas.ts'

const files = schemaFiles()
if (isWriting) writeFolder('schema', files)

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
for (const text of Object.values(files)) ajv.addSchema(JSON.parse(text) as object)

function validator(name: string): ValidateFunction {
  return ajv.getSchema(`${ID}:${name}`)!
}

const validEvent = validator('event')
const validClosed = validator('event-closed')
const all: readonly Event[] = goldenNames().flatMap(goldenEvents)

describe('spec/schema', () => {
  it('holds what the sources yield', () => {
    expect(readFolder('schema'), HOW).toEqual(asLatin1(files))
  })

  it('says of every event and of every named type what it is', () => {
    const bare = Object.entries(files).flatMap(([file, text]) => {
      const { $defs } = JSON.parse(text) as { readonly $defs: Record<string, { readonly description?: string }> }
      return Object.entries($defs).flatMap(([name, def]) => (def.description === undefined ? [`${file}: ${name}`] : []))
    })
    expect(bare).toEqual([])
  })

  it('L6: takes every event of every golden log', () => {
    expect(all.length).toBeGreaterThan(300)
    for (const event of all) expect(validEvent(event), `${event.type} ${JSON.stringify(validEvent.errors)}`).toBe(true)
  })

  it('names every field that is written: the closed one takes them too, and nothing else', () => {
    const later = ['future.thing', 'later']
    for (const event of all) {
      const isLater = later.includes(event.type) || later.some((field) => field in event)
      expect(validClosed(event), `${event.type} ${JSON.stringify(validClosed.errors)}`).toBe(!isLater)
      expect(validClosed({ ...event, misspelt: 1 })).toBe(false)
    }
  })

  it('has every type of event in a golden log', () => {
    const { oneOf } = JSON.parse(files['event.schema.json']!) as {
      readonly oneOf: readonly { readonly $ref: string }[]
    }
    const types = oneOf.map(({ $ref }) => $ref.replace('#/$defs/', ''))
    const seen = new Set<string>(all.map(({ type }) => (type.startsWith('x.') ? 'x' : type)))
    expect(types.filter((type) => !seen.has(type))).toEqual(['later'])
  })

  it('refuses and takes the same values as the runtime', () => {
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.infiniteStream(fc.nat()), (event, choices) => {
        const value = mutated(event, choices)
        expect([validEvent(value), value]).toEqual([shapeProblem(value) === null, value])
      }),
      { numRuns: 4_000 },
    )
  })

  it('takes the lines of an exported log', () => {
    const line = validator('line')
    const header = { type: 'turnstep.log', format: 1, session: 's', events: 2, exportedAt: 1 }
    expect([line(header), line(all[0])]).toEqual([true, true])
    expect([line({ ...header, events: -1 }), line({ ...header, type: 'log' }), line('')]).toEqual([false, false, false])
  })

  it('describes inputs and messages', () => {
    const input = validator('input')
    const said = { id: 'i', lane: 'steer', origin: { kind: 'user' }, content: [{ type: 'text', text: 'x' }] }
    const abort = {
      id: 'i',
      lane: 'control',
      origin: { kind: 'user' },
      control: { kind: 'abort', reason: '', pending: 'keep' },
    }
    expect([input(said), input(abort), input({ ...said, promptness: 'now' })]).toEqual([true, true, true])
    expect([input({ ...said, lane: 'control' }), input({ ...abort, control: { kind: 'x' } })]).toEqual([false, false])
    const pending = ajv.getSchema(`${ID}:input#/$defs/PendingInput`)!
    expect([pending(said), pending({ ...said, at: 1, tail: 0, arrival: 1, version: 1 })]).toEqual([false, true])
  })

  it('describes the messages of every projection', () => {
    const message = validator('message')
    for (const name of goldenNames()) {
      const projection = JSON.parse(readSpec(`golden/${name}.projection.json`)) as Projected
      const messages = [...projection.requests, projection.end].flatMap(({ added }) => added)
      for (const one of [...messages, ...projection.end.late]) expect(message(one), JSON.stringify(one)).toBe(true)
    }
  })
})

interface Projected {
  readonly requests: readonly { readonly added: readonly unknown[] }[]
  readonly end: { readonly added: readonly unknown[]; readonly late: readonly unknown[] }
}
