import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { FakeClock } from '../../testing/fake-clock.ts'
import { isTurnstepError } from '../../kernel/errors.ts'
import { callId, sessionId } from '../../kernel/ids.ts'
import { tool } from './define-tool.ts'
import type { Args, ToolContext, ToolDefinition, Validated } from './tool.ts'

const base = { name: 'weather', description: 'Weather of a city', run: () => 'sunny' }
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const

describe('the definition', () => {
  it('fills in the defaults of each effect class (C4, C6, C13, T6)', () => {
    const defaults = (effect?: 'read' | 'idempotent' | 'write') => {
      const made = tool({ ...base, input: city, ...(effect && { effect }) })
      return [
        made.effect,
        made.guard,
        made.timeoutMs,
        made.resources({}),
        made.approval({}),
        made.identity({}),
        made.reconcile,
      ]
    }
    const alone = [{ name: '*', mode: 'write' }]
    expect(defaults()).toEqual(['write', 'strict', 120_000, alone, null, null, null])
    expect(defaults('idempotent')).toEqual(['idempotent', 'strict', 120_000, alone, null, null, null])
    expect(defaults('read')).toEqual(['read', 'progress', 120_000, [{ name: '*', mode: 'read' }], null, null, null])
  })

  it('infers the argument types of a Standard Schema', async () => {
    const made = tool({
      ...base,
      input: z.object({ city: z.string(), days: z.number().default(1) }),
      resources: ({ city }) => [{ name: `city:${city}`, mode: 'read' }],
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
        return `${args.city} ${args.days}`
      },
    })
    const { args } = (await made.validate({ city: 'Beijing' })) as { args: Args }
    expect(made.run(args, context())).toBe('Beijing 1')
  })

  it('describes a Standard Schema as JSON Schema of an object, without a dialect line', () => {
    const { parameters } = tool({
      ...base,
      input: z.object({ city: z.string().describe('Where'), n: z.number().optional() }),
    })
    expect(parameters).toEqual({
      type: 'object',
      properties: { city: { type: 'string', description: 'Where' }, n: { type: 'number' } },
      required: ['city'],
    })
  })

  it('is not changed by what happens to the schema afterwards', () => {
    const input = { type: 'object' as const, properties: { a: { type: 'string' } } }
    const made = tool({ ...base, input })
    input.properties.a.type = 'number'
    expect(made.parameters).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
  })

  const bad: readonly (readonly [what: string, change: Record<string, unknown>, says: RegExp])[] = [
    ['no name', { name: undefined }, /its name is "undefined"|its name is/],
    ['a name with a space', { name: 'my tool' }, /"my tool".*letters, digits/],
    ['a long name', { name: 'x'.repeat(65) }, /1 to 64/],
    ['no description', { description: '  ' }, /its description is "  "/],
    ['no input', { input: undefined }, /properties: \{\}/],
    ['no run', { run: undefined }, /its run/],
    ['a field of another library', { execute: () => 1 }, /unknown field is "execute".*run$/],
    ['a misspelt effect', { effect: 'writes' }, /"writes".*read, idempotent, write/],
    ['a guard that is none', { guard: 'lax' }, /"lax".*strict, progress, off/],
    ['no timeout', { timeoutMs: Infinity }, /timeoutMs.*C13/],
    ['resources that are a list', { resources: [] }, /its resources/],
    ['approval that is a text', { approval: 'please' }, /its approval is "please"/],
    ['a schema of a string', { input: { type: 'string' } }, /"type\\?":\\?"string.*property/],
    ['a schema of a string in zod', { input: z.string() }, /must describe an object/],
    [
      'a union in zod',
      { input: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
      /union.*property/,
    ],
    ['a type that JSON has not', { input: z.object({ at: z.date() }) }, /no JSON Schema: "Date/],
    ['a schema that cannot describe itself', { input: undescribed() }, /schema of "other".*zod/],
    ['a schema with a cycle', { input: cyclic() }, /no JSON/],
    ['a schema that is a boolean', { input: true }, /its input schema is true/],
    ['an asynchronous JSON Schema', { input: { ...city, $async: true } }, /\$async/],
    ['a huge schema', { input: { ...city, description: 'x'.repeat(300_000) } }, /300\d\d\d characters/],
  ]
  it.each(bad)('refuses %s with tool-invalid', (_what, change, says) => {
    const error = thrownBy(() => tool({ ...base, input: city, ...change } as ToolDefinition))
    expect(isTurnstepError(error, 'tool-invalid')).toBe(true)
    expect((error as Error).message).toMatch(says)
    expect((error as Error).message.length).toBeLessThan(700)
  })

  it('refuses what is no definition at all', () => {
    for (const nothing of [undefined, null, 'weather', []])
      expect(
        isTurnstepError(
          thrownBy(() => tool(nothing as never)),
          'tool-invalid',
        ),
      ).toBe(true)
  })
})

describe('arguments (C8)', () => {
  const strict = { ...city, properties: { ...city.properties, days: { enum: [1, 7] } }, additionalProperties: false }

  it.each([
    ['zod', z.strictObject({ city: z.string(), days: z.union([z.literal(1), z.literal(7)]).optional() })],
    ['JSON Schema', strict],
  ])(
    'case 079: with %s, blank arguments fit a tool without parameters and are answered with the schema elsewhere',
    async (_kind, input) => {
      const ping = tool({ ...base, name: 'ping', input: { type: 'object', properties: {} } })
      expect(await ping.validate({})).toEqual({ ok: true, args: {} })
      const message = await refusal(tool({ ...base, input: input as typeof city }).validate({}))
      expect(message).toMatch(/"weather" do not fit its schema/)
      expect(message).toMatch(/city/)
      expect(message).toContain('Schema: {"type":"object","properties":{"city":{"type":"string"}')
    },
  )

  it('names the path and what was expected', async () => {
    const input = z.object({ list: z.array(z.object({ n: z.number() })) })
    expect(await refusal(tool({ ...base, input }).validate({ list: [{ n: 1 }, { n: 'x' }] }))).toMatch(
      /- list\[1\]\.n: .*expected number/,
    )
    const json = tool({
      ...base,
      input: {
        type: 'object',
        properties: { list: { type: 'array', items: { type: 'number' } }, 'a/b': { enum: ['x'] } },
      },
    })
    const message = await refusal(json.validate({ list: [1, 'x'], 'a/b': 'y' }))
    expect(message).toContain('- list[1]: must be number')
    expect(message).toContain('- a/b: expected one of ["x"]')
    const unknown = await refusal(tool({ ...base, input: strict }).validate({ city: 'a', extra: 1 }))
    expect(unknown).toContain('- arguments: "extra" is not known')
  })

  it('stays short and well-formed whatever comes in', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`key${index}`, { type: 'string' }]),
    )
    const wide = tool({ ...base, input: { type: 'object', properties, required: Object.keys(properties) } })
    const message = await refusal(wide.validate({ '\ud800': '\ud800' }))
    expect(message).toContain('and 895 more')
    expect(message.length).toBeLessThan(8000)
    const echo = tool({ ...base, input: z.object({ a: z.enum(['x']) }).catchall(z.never()) })
    expect(await refusal(echo.validate({ a: 'x', '\ud83d': 1 }))).not.toMatch(/\p{Surrogate}/u)
  })

  it('understands both dialects of JSON Schema, and one compiled check serves all tools with the same schema', async () => {
    const old = tool({
      ...base,
      input: {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'object',
        properties: { pair: { items: [{ type: 'string' }, { type: 'number' }] } },
      },
    })
    expect(await old.validate({ pair: ['a', 1] })).toMatchObject({ ok: true })
    expect(await old.validate({ pair: [1, 1] })).toMatchObject({ ok: false })
    expect(old.parameters).not.toHaveProperty('$schema')
    const identified = { $id: 'https://example.com/a', ...city }
    for (let index = 0; index < 2; index++)
      expect(await tool({ ...base, input: identified }).validate({ city: 'a' })).toMatchObject({ ok: true })
  })

  it('a schema or a check that breaks is an answer, not a throw', async () => {
    const broken = tool({ ...base, input: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } })
    expect(await refusal(broken.validate({ a: 1 }))).toMatch(/the check itself failed: .*nowhere/)
    const throwing = z.object({
      a: z.string().refine(() => {
        throw new Error('boom')
      }),
    })
    expect(await refusal(tool({ ...base, input: throwing }).validate({ a: 'x' }))).toMatch(/failed: boom/)
    const slow = standard(() => Promise.reject(new Error('late boom')))
    expect(await refusal(tool({ ...base, input: slow as typeof city }).validate({ a: 'x' }))).toMatch(
      /failed: late boom/,
    )
  })
})

describe('callbacks', () => {
  const input = z.object({ path: z.string().default('.'), n: z.string().transform(Number).optional() })

  it('get defaults and transformed values, before and after validation, once', async () => {
    const made = tool({
      ...base,
      input,
      resources: ({ path, n }) => [{ name: `${path}:${n === undefined ? '-' : n + 1}`, mode: 'write' }],
      identity: ({ path }) => path,
      approval: ({ path }) => `Touch ${path}?`,
    })
    expect(made.resources({ n: '1' })).toEqual([{ name: '.:2', mode: 'write' }])
    const { args } = (await made.validate({ n: '1' })) as { args: Args }
    expect(args).toEqual({ path: '.', n: 1 })
    expect(made.resources(args)).toEqual([{ name: '.:2', mode: 'write' }])
    expect([made.identity({}), made.approval({})]).toEqual(['.', 'Touch .?'])
  })

  it('are never given arguments that were transformed twice', async () => {
    const marked = z.object({ a: z.string().transform((text) => `${text}!`) })
    const made = tool({ ...base, input: marked, identity: ({ a }) => a })
    const { args } = (await made.validate({ a: 'x' })) as { args: Args }
    expect([made.identity({ a: 'x' }), made.identity(args)]).toEqual(['x!', 'x!'])
  })

  it('C6: resources that throw, or are none, make the call run alone', () => {
    const declares = (resources: () => unknown) =>
      tool({ ...base, effect: 'read', input, resources: resources as never }).resources({})
    const alone = [{ name: '*', mode: 'write' }]
    expect(
      declares(() => {
        throw new Error('boom')
      }),
    ).toEqual(alone)
    expect(declares(() => undefined)).toEqual(alone)
    expect(declares(() => [{ name: 'a' }])).toEqual(alone)
    expect(declares(() => [])).toEqual([])
  })

  it('A1: an approval that throws, or that cannot be understood, asks', () => {
    const asks = (approval: unknown) => tool({ ...base, input, approval: approval as never }).approval({})
    expect(asks(true)).toBe('The tool "weather" asks before every call.')
    expect(asks(() => true)).toBe('The tool "weather" asks before every call.')
    expect(asks(() => undefined)).toBe('The tool "weather" asks before every call.')
    expect(asks(() => 'It costs money.')).toBe('It costs money.')
    expect(
      asks(() => {
        throw new Error('boom')
      }),
    ).toMatch(/boom.*please decide/)
    expect([asks(false), asks(() => false), asks(() => '')]).toEqual([null, null, null])
  })

  it('T6: an identity that throws leaves the call to be known by its arguments', () => {
    const known = (identity: () => unknown) => tool({ ...base, input, identity: identity as never }).identity({})
    expect(
      known(() => {
        throw new Error('boom')
      }),
    ).toBeNull()
    expect(known(() => 7)).toBeNull()
  })
})

function context(): ToolContext {
  return {
    signal: new AbortController().signal,
    session: sessionId('s'),
    call: callId('t1s1c1'),
    idempotencyKey: 's/t1s1c1',
    fence: 1,
    clock: new FakeClock(),
    progress() {},
  }
}

async function refusal(validated: Validated | Promise<Validated>): Promise<string> {
  const result = await validated
  expect(result.ok).toBe(false)
  return result.ok ? '' : result.message
}

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** A Standard Schema by hand. */
function standard(validate: (value: unknown) => unknown): unknown {
  return { '~standard': { version: 1, vendor: 'other', validate, jsonSchema: { input: () => ({ type: 'object' }) } } }
}

/** A Standard Schema of a library that has no JSON Schema. */
function undescribed(): unknown {
  return { '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) } }
}

function cyclic(): unknown {
  const schema: Record<string, unknown> = { type: 'object' }
  schema['properties'] = { self: schema }
  return schema
}
