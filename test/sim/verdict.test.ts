import { describe, expect, it } from 'vitest'
import type { SimFailure } from '../../src/testing/sim/sim.ts'
import { verdictOf, verdictOfOne } from './verdict.ts'

const failing = (seed: number): SimFailure => ({
  seed,
  rule: 'C4',
  message: 'twice',
  scenario: { rule: 'C4', moves: [], decisions: [] },
  story: '',
})
const given = { fixed: { from: 7, count: 20 }, fresh: null }
const timed = { fixed: { from: 1, count: 300 }, fresh: 5_000 }

describe('the verdict of many seeds', () => {
  it.each([
    ['all that were given', 20, given, '--from 7 --seeds 20'],
    ['as many as there was time for', 12, given, '--from 7 --seeds 12'],
    ['some of the fixed ones', 200, timed, '--from 1 --seeds 200'],
    ['all of the fixed ones', 300, timed, '--from 1 --seeds 300'],
    ['fresh ones too', 340, timed, '--from 1 --seeds 300 && npm run sim -- --from 5000 --seeds 40'],
  ])('says how to have %s again', (_which, seeds, ran, flags) => {
    expect(verdictOf({ seeds, events: 4_000, failures: [] }, ran)).toBe(
      `${seeds} seeds, 4000 events: no rule is broken; the same again: npm run sim -- ${flags}`,
    )
  })

  it('says how many failed, and how to see the first', () => {
    expect(verdictOf({ seeds: 20, events: 4_000, failures: [failing(9), failing(3)] }, given)).toBe(
      '20 seeds, 4000 events: 2 failures; the first again: npm run sim -- --seed 9',
    )
  })

  it('is not good where nothing was checked', () => {
    expect(verdictOf({ seeds: 0, events: 0, failures: [] }, timed)).toBe(
      '0 seeds, 0 events: nothing was checked; give more --minutes, or none',
    )
  })
})

it('the verdict of one life has the flags that it had', () => {
  expect(verdictOfOne(185, 0, '--seed 4')).toBe(
    '185 events: no rule is broken; the same again: npm run sim -- --seed 4',
  )
  expect(verdictOfOne(1, 1, '--replay a.json')).toBe(
    '1 event: 1 failure; the same again: npm run sim -- --replay a.json',
  )
})
