import { readFileSync } from 'node:fs'
import { isPlainObject } from '../../src/util/json.ts'
import { messageOf } from '../../src/util/text.ts'
import type { SimScenario } from '../../src/testing/sim/sim.ts'

/** A scenario as a file: one move and one decision a line. */
export function formatScenario({ rule, moves, decisions }: SimScenario): string {
  const list = (items: readonly unknown[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  return `{\n  "rule": ${JSON.stringify(rule)},\n  "moves": ${list(moves)},\n  "decisions": ${list(decisions)}\n}\n`
}

/** The scenario in a file; a text: why there is none. */
export function readScenario(path: string): SimScenario | string {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    return `"${path}" cannot be read: ${messageOf(error)}`
  }
  const isOne = isPlainObject(value) && Array.isArray(value['moves']) && Array.isArray(value['decisions'])
  return isOne ? (value as unknown as SimScenario) : `"${path}" is no scenario; give a file with moves and decisions`
}
