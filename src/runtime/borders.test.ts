import { describe, expect, it } from 'vitest'
import { areParts, asLogged, asMs, asText, checkedEnd, isFiniteThroughout, unreadableJson } from './borders.ts'
import type { ModelEnd } from './ports.ts'

const usage = { known: true, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const call = { providerId: 'a', name: 'b', args: '{}' }
const reply = { parts: [{ type: 'call', index: 0 }], calls: [call], replay: null, usage, rawFinish: 'tool_calls' }

/** What adapters and hooks may give although their types forbid it. */
const wrong = (end: unknown): ModelEnd => checkedEnd(end as ModelEnd)

describe('the terminal of a model adapter', () => {
  it('is taken as it is when its shape is right', () => {
    const end = { type: 'end', kind: 'calls', reply } as const
    expect(wrong(end)).toBe(end)
    const failed = { type: 'end', kind: 'error', failure: { kind: 'server', message: 'no', retry: true }, usage: null }
    expect(wrong(failed)).toBe(failed)
  })

  it.each([
    ['no reply', { kind: 'done' }],
    ['a reply without calls', { kind: 'done', reply: { ...reply, calls: undefined } }],
    ['an error without a failure', { kind: 'error' }],
    ['an unknown kind', { kind: 'finished', reply }],
    ['arguments that are an object', { kind: 'calls', reply: { ...reply, calls: [{ ...call, args: {} }] } }],
    ['a call without a part', { kind: 'calls', reply: { ...reply, parts: [] } }],
    ['a part that names a missing call', { kind: 'calls', reply: { ...reply, parts: [{ type: 'call', index: 1 }] } }],
    ['a part of unknown type', { kind: 'done', reply: { ...reply, parts: [{ type: 'video' }], calls: [] } }],
    ['usage in big integers', { kind: 'calls', reply: { ...reply, usage: { ...usage, input: 5n } } }],
  ])('is a protocol failure, and terminal, for %s', (_what, end) => {
    expect(wrong({ type: 'end', ...end })).toMatchObject({ kind: 'error', failure: { kind: 'protocol', retry: false } })
  })
})

describe('values on their way to the log', () => {
  it('L2: are what JSON gives back, or refused', () => {
    expect(asLogged({ at: new Date(0), skip: undefined })).toEqual({ at: '1970-01-01T00:00:00.000Z' })
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const bad of [cycle, 5n, { n: Number.NaN }, [Infinity], undefined, () => {}])
      expect(() => asLogged(bad)).toThrow(/written down|circular|BigInt/)
  })

  it.each([
    ['text', 'text'],
    [5, '5'],
    [5n, '5'],
    [true, 'true'],
    [undefined, '(a undefined)'],
    [{ city: 'Ulm' }, '{"city":"Ulm"}'],
    [{ big: 5n }, expect.stringContaining('cannot be shown')],
  ])('C7: %o has a text', (value, text) => {
    expect(asText(value)).toEqual(text)
  })

  it('tells parts from what only looks like them', () => {
    expect(
      areParts([
        { type: 'text', text: 'a' },
        { type: 'image', mediaType: 'image/png', data: 'AA==' },
      ]),
    ).toBe(true)
    for (const bad of [null, 'a', [null], [{ type: 'text', text: 5 }], [{ type: 'image' }], [{ type: 'video' }]]) {
      expect(areParts(bad)).toBe(false)
    }
  })

  it('takes only finite times', () => {
    expect([0, 5, -1, Number.NaN, Infinity, '5', 5n].map(asMs)).toEqual([0, 5, ...Array.from({ length: 5 })])
  })
})

describe('C8: arguments of a model', () => {
  it('are not read where they are nested beyond all use, whatever stands in their strings', () => {
    expect(unreadableJson(`{"a":${'['.repeat(3_000)}`)).toContain('nested deeper than 200')
    expect(unreadableJson(JSON.stringify({ a: '[[[[\\"['.repeat(500), b: [[{}]] }))).toBeNull()
  })

  it('are finite throughout, or no arguments', () => {
    expect(isFiniteThroughout(JSON.parse('{"a":[1,{"b":1e300}]}'))).toBe(true)
    expect(isFiniteThroughout(JSON.parse('{"a":[1,{"b":1e999}]}'))).toBe(false)
  })
})
