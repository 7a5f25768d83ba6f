import { describe, expect, it } from 'vitest'
import { firstRow } from './row.ts'

/** The rows that a text is printed in, as the output takes them off; more than the text has characters would never end. */
function rowsOf(text: string, columns: number | undefined): readonly string[] {
  const rows: string[] = []
  let rest = text
  for (let row = firstRow(rest, columns); row !== null; row = firstRow(rest, columns)) {
    if (rows.length > text.length) throw new Error(`no end: ${JSON.stringify(rows.slice(0, 5))}`)
    rows.push(row)
    rest = rest.slice(row.length).trimStart()
  }
  return rest === '' ? rows : [...rows, rest]
}

describe('a row of a terminal', () => {
  it.each([
    [1, 'abc', ['a', 'b', 'c']],
    [1, '状态好', ['状', '态', '好']],
    [1, '👍🏽a', ['👍', '🏽', 'a']],
    [2, 'abc', ['a', 'b', 'c']],
    [2, '状态好', ['状', '态', '好']],
    [2, 'a状 b', ['a', '状', 'b']],
    [3, '状态好', ['状', '态', '好']],
    [10, 'one two three', ['one two', 'three']],
    [10, ' leading', [' leading']],
    [5, '     x', ['   ', 'x']],
    [4, 'abcdefgh', ['abc', 'def', 'gh']],
  ])('of %i columns takes at least one character: %j', (columns, text, rows) => {
    expect(rowsOf(text, columns)).toEqual(rows)
  })

  it.each([0, undefined])('is of 80 where the terminal has %s columns', (columns) => {
    expect(rowsOf('状'.repeat(80), columns)).toEqual(['状'.repeat(39), '状'.repeat(39), '状状'])
    expect(firstRow('x'.repeat(79), columns)).toBeNull()
  })

  it('is not looked for in an empty text', () => {
    for (const columns of [0, 1, 2, 80]) expect(firstRow('', columns)).toBeNull()
  })
})
