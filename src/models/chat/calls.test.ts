import { describe, expect, it } from 'vitest'
import { CallAssembly } from './calls.ts'

interface Delta {
  readonly i?: number
  readonly id?: string
  readonly name?: string
  readonly args?: string | null | object
}

/** Each inner list is one delta of the stream. */
function assemble(...deltas: readonly (readonly Delta[])[]): readonly (readonly [string, string, string])[] | string {
  const assembly = new CallAssembly()
  for (const delta of deltas) {
    for (const [position, { i, id, name, args }] of delta.entries()) {
      const raw = {
        ...(i === undefined ? {} : { index: i }),
        ...(id === undefined ? {} : { id }),
        function: { name, arguments: args },
      }
      const placed = assembly.add(raw, position, delta.length === 1)
      if (placed.kind === 'ambiguous') return placed.problem
    }
  }
  return assembly.drafts.map((draft) => [draft.id, draft.name, draft.args])
}

const one = { i: 0, id: 'A', name: 'a', args: '{"x":1}' }

describe('calls from well-kept streams', () => {
  it('grow by their index, interleaved or not', () => {
    const start = [
      { i: 0, id: 'A', name: 'a', args: '' },
      { i: 1, id: 'B', name: 'b', args: '' },
    ]
    expect(
      assemble(
        start,
        [{ i: 1, args: '{"y"' }],
        [{ i: 0, args: '{"x":' }],
        [{ i: 1, args: ':2}' }],
        [{ i: 0, args: '1}' }],
      ),
    ).toEqual([
      ['A', 'a', '{"x":1}'],
      ['B', 'b', '{"y":2}'],
    ])
  })

  it('take arguments that are missing, null or an object', () => {
    expect(
      assemble(
        [{ i: 0, id: 'A', name: 'a' }],
        [{ i: 1, id: 'B', name: 'b', args: null }],
        [{ i: 2, id: 'C', name: 'c', args: { n: 1 } }],
      ),
    ).toEqual([
      ['A', 'a', ''],
      ['B', 'b', ''],
      ['C', 'c', '{"n":1}'],
    ])
  })
})

describe('case 074: calls from careless streams', () => {
  const second = ['B', 'b', '{"y":2}'] as const
  const wanted = [['A', 'a', '{"x":1}'], second]

  it('(i) constant index with new ids, then a tail under a wrong index', () => {
    expect(
      assemble([one], [{ i: 0, id: 'B', name: 'b', args: '{' }], [{ i: 1, args: '"y":' }], [{ i: 1, args: '2}' }]),
    ).toEqual(wanted)
  })

  it('(ii) no index, two ids in one delta, and more of both later', () => {
    const start = [
      { id: 'A', name: 'a', args: '{"x"' },
      { id: 'B', name: 'b', args: '{' },
    ]
    expect(assemble(start, [{ args: ':1}' }, { args: '"y":2}' }])).toEqual(wanted)
    expect(
      assemble(start, [
        { id: 'B', args: '"y":2}' },
        { id: 'A', name: 'a', args: ':1}' },
      ]),
    ).toEqual(wanted)
    expect(assemble(start, [{ id: 'A', args: ':1}' }], [{ id: 'B', args: '"y":2}' }])).toEqual(wanted)
  })

  it('(iii) the same index, two whole objects, no ids', () => {
    expect(assemble([{ i: 0, name: 'a', args: '{"x":1}' }], [{ i: 0, name: 'b', args: '{"y":2}' }])).toEqual([
      ['', 'a', '{"x":1}'],
      ['', 'b', '{"y":2}'],
    ])
    expect(assemble([{ i: 0, name: 'a', args: '{"x":1}' }], [{ i: 0, name: 'a', args: '{"x":2}' }])).toEqual([
      ['', 'a', '{"x":1}'],
      ['', 'a', '{"x":2}'],
    ])
  })

  it('(iv) name and id repeated in each delta', () => {
    const again = { i: 0, id: 'A', name: 'a' }
    expect(assemble([{ ...again, args: '{"x"' }], [{ ...again, args: ':' }], [{ ...again, args: '1}' }])).toEqual([
      ['A', 'a', '{"x":1}'],
    ])
    expect(assemble([{ name: 'a', args: '{"x"' }], [{ name: 'a', args: ':1}' }])).toEqual([['', 'a', '{"x":1}']])
    expect(assemble([{ id: 'A', name: 'a', args: '{"x"' }], [{ id: 'A', name: 'a', args: ':1}' }])).toEqual([
      ['A', 'a', '{"x":1}'],
    ])
  })

  it('an id that comes after the name', () => {
    expect(assemble([{ name: 'a', args: '' }], [{ id: 'A', args: '{"x":1}' }])).toEqual([['A', 'a', '{"x":1}']])
  })

  it('case 102: one id for two calls', () => {
    const same = [
      { i: 0, id: 'x', name: 'a', args: '{"x":1}' },
      { i: 1, id: 'x', name: 'b', args: '{"y":2}' },
    ]
    expect(assemble(same)).toEqual([
      ['x', 'a', '{"x":1}'],
      ['x', 'b', '{"y":2}'],
    ])
    expect(assemble([{ id: 'x', name: 'a', args: '{"x":1}' }], [{ id: 'x', name: 'a', args: '{"x":2}' }])).toEqual([
      ['x', 'a', '{"x":1}'],
      ['x', 'a', '{"x":2}'],
    ])
  })

  it('two calls of one name without ids in one delta', () => {
    expect(
      assemble([
        { name: 'ping', args: '' },
        { name: 'ping', args: '' },
      ]),
    ).toEqual([
      ['', 'ping', ''],
      ['', 'ping', ''],
    ])
  })

  it.each([
    ['arguments before any call', [[{ i: 0, args: '{}' }]]],
    [
      'a second object under one index, without a name',
      [[{ i: 0, name: 'a', args: '{"x":1}' }], [{ i: 0, args: '{"x":2}' }]],
    ],
    [
      'a second object under one id, without a name',
      [[{ id: 'A', name: 'a', args: '{"x":1}' }], [{ id: 'A', args: '{"x":2}' }]],
    ],
    ['a tail under a new index when all calls are whole', [[one], [{ i: 1, args: '"y":2}' }]]],
    ['two names under one index', [[{ i: 0, name: 'a', args: '' }], [{ i: 0, name: 'b', args: '' }]]],
    [
      'two tails without index and id, of calls with ids',
      [
        [one, { i: 1, id: 'B', name: 'b', args: '{' }],
        [{ args: '}' }, { args: '}' }],
      ],
    ],
    ['a name twice without anything else', [[{ name: 'ping', args: '' }], [{ name: 'ping', args: '' }]]],
  ])('never guesses: %s', (_what, deltas) => {
    expect(typeof assemble(...deltas)).toBe('string')
  })
})
