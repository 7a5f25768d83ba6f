import type { SimScenario } from '../../src/testing/sim/sim.ts'

/** A scenario as a file: one move and one decision a line. */
export function formatScenario({ rule, moves, decisions }: SimScenario): string {
  const list = (items: readonly unknown[]): string =>
    items.length === 0 ? '[]' : `[\n${items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  return `{\n  "rule": ${JSON.stringify(rule)},\n  "moves": ${list(moves)},\n  "decisions": ${list(decisions)}\n}\n`
}
