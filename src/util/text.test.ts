import { describe, expect, it } from 'vitest'
import { messageOf, quoted } from './text.ts'

describe('messageOf', () => {
  it('gives what an error says, and anything else as text', () => {
    expect([messageOf(new TypeError('bad')), messageOf('plain'), messageOf(undefined)]).toEqual([
      'bad',
      'plain',
      'undefined',
    ])
  })
})

describe('quoted', () => {
  it('shows a text in quotes on one line, and any other value as JSON', () => {
    expect(quoted('a "b"\nc')).toBe('"a \\"b\\"\\nc"')
    expect([quoted({ a: [1] }), quoted(null), quoted(undefined), quoted(() => 1)]).toEqual([
      '{"a":[1]}',
      'null',
      'undefined',
      'function',
    ])
  })

  it('shows what has no JSON by its type', () => {
    const circle: { self?: unknown } = {}
    circle.self = circle
    expect([quoted(circle), quoted(10n)]).toEqual(['object', 'bigint'])
  })

  it('shortens what is long, and closes the quotes', () => {
    expect(quoted('x'.repeat(300))).toBe(`"${'x'.repeat(200)}…"`)
    expect(quoted('x'.repeat(300), 5)).toBe('"xxxxx…"')
    expect(quoted([1, 2, 3, 4], 4)).toBe('[1,2…')
  })

  it('X8: cuts through no character', () => {
    expect(quoted('ab😀', 3)).toBe('"ab…"')
  })
})
