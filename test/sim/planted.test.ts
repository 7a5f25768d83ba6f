import { describe, expect, it } from 'vitest'
import { replay, simulate } from '../../src/testing/sim/simulate.ts'
import { PLANTED, type Planted } from './planted.ts'

/** Found within so many lives. */
const SEEDS = 300
/** Hundreds of replays. */
const TIMEOUT_MS = 120_000

/** A run has more than a hundred moves, and hundreds of decisions. */
const MOVES_MAX = 12
const DECISIONS_MAX = 8

async function proveFound({ rule, options }: Planted): Promise<void> {
  const { failures } = await simulate({ ...options, seeds: SEEDS, failuresMax: 1 })
  expect(failures.map((failure) => failure.rule)).toEqual([rule])
  const { scenario, story } = failures[0]!
  expect(story).toContain(`! ${rule}: `)
  expect(scenario.moves.length, story).toBeLessThanOrEqual(MOVES_MAX)
  expect(scenario.decisions.length, story).toBeLessThanOrEqual(DECISIONS_MAX)
  const again = await replay(JSON.parse(JSON.stringify(scenario)) as typeof scenario, options)
  expect(again.map((fault) => fault.rule)).toContain(rule)
}

describe('a planted fault is found, and made so small that it can be read', () => {
  it.each(Object.entries(PLANTED))('%s', { timeout: TIMEOUT_MS }, (_name, planted) => proveFound(planted))
})
