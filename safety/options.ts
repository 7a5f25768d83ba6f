/** What a run is told on its command line. */
import { parseArgs } from 'node:util'
import type { EffectClass } from 'turnstep'
import { SCENARIOS, type ScenarioName } from './talk.ts'

/** The settings of a run. */
export interface Options {
  readonly scenarios: readonly ScenarioName[]
  /** Kills of `refund`, one in each of so many slices of its turn, and of `approve`. */
  readonly kills: number
  readonly seed: number
  /** Sessions at a time. */
  readonly jobs: number
  readonly json: boolean
  readonly effect: EffectClass
}

export const USAGE = `npm run safety -- [SCENARIO...] [--kills N] [--seed N] [--jobs N] [--effect E] [--json]

  SCENARIO   ${SCENARIOS.join(', ')}; all of them if none is named
  --kills    kills of refund, one in each of N slices of its turn, and of approve (default 100)
  --seed     chooses the moments (default 1)
  --jobs     sessions at a time (default 2)
  --effect   declare the refund as read, idempotent or write (the default, and the only one that is right here)
  --json     one object on stdout instead of the table`

/** Reads the arguments. Throws an `Error` that says what is wrong with them. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      kills: { type: 'string', default: '100' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '2' },
      effect: { type: 'string', default: 'write' },
      json: { type: 'boolean', default: false },
    },
  })
  return {
    scenarios: positionals.length === 0 ? SCENARIOS : positionals.map((name) => oneOf('scenario', name, SCENARIOS)),
    kills: wholeNumber('--kills', values.kills, 1),
    seed: wholeNumber('--seed', values.seed, 0),
    jobs: wholeNumber('--jobs', values.jobs, 1),
    effect: oneOf('--effect', values.effect, ['read', 'idempotent', 'write'] as const),
    json: values.json,
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least)
    throw new Error(`${name} is "${text}"; give a whole number from ${least} up`)
  return value
}

function oneOf<Word extends string>(what: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text)
  if (found === undefined) throw new Error(`${what} is "${text}"; give one of ${words.join(', ')}`)
  return found
}
