/** The command line of `npm run sim`. */
import { parseArgs } from 'node:util'

/** What is to be run. */
export interface Flags {
  /** Told line by line, and nothing else. */
  readonly seed: number | null
  /** A written scenario, to be told. */
  readonly replay: string | null
  readonly seeds: number | null
  readonly from: number | null
  readonly minutes: number | null
  readonly threads: number | null
  readonly json: boolean
  /** Where failures are written as scenarios. */
  readonly keep: string | null
}

export const USAGE = `npm run sim -- [what] [how]

  --seed N        one seed, told line by line; if it fails, the smallest scenario that fails too
  --replay FILE   a written scenario (test/scenarios/*.sim.json), told line by line
  --seeds N       so many seeds (default 200)
  --minutes M     as many seeds as fit in so many minutes: the fixed ones from 1 on, then fresh ones
  --from N        the first seed (default: a fresh one; the same seed is the same run)

  --threads N     processors to use (default: all)
  --keep FOLDER   writes what fails there, as scenarios to replay
  --json          one object: seeds, events, failures (how many); all else is told on stderr`

const OPTIONS = {
  seed: { type: 'string' },
  replay: { type: 'string' },
  seeds: { type: 'string' },
  from: { type: 'string' },
  minutes: { type: 'string' },
  threads: { type: 'string' },
  json: { type: 'boolean' },
  keep: { type: 'string' },
  help: { type: 'boolean' },
} as const

/** What would be left out without a word. */
const NOT_WITH: readonly (readonly [name: keyof typeof OPTIONS, others: readonly (keyof typeof OPTIONS)[]])[] = [
  ['seed', ['replay', 'seeds', 'from', 'minutes']],
  ['replay', ['seeds', 'from', 'minutes', 'threads', 'keep', 'json']],
]

/** A text: what is wrong, or the usage that was asked for. */
export function flagsOf(args: readonly string[]): Flags | { readonly wrong: string | null } {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true })
    if (values.help === true) return { wrong: null }
    for (const [name, others] of NOT_WITH) {
      const other = others.find((one) => values[one] !== undefined)
      if (values[name] !== undefined && other !== undefined)
        throw new Error(`--${name} is given with --${other}; leave one of them out`)
    }
    return {
      seed: whole('seed', values.seed),
      replay: values.replay ?? null,
      seeds: whole('seeds', values.seeds),
      from: whole('from', values.from),
      minutes: values.minutes === undefined ? null : positive('minutes', values.minutes),
      threads: whole('threads', values.threads),
      json: values.json === true,
      keep: values.keep ?? null,
    }
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) }
  }
}

function whole(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name} is "${text}"; give a whole number from 1 up`)
  return value
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} is "${text}"; give a number above 0`)
  return value
}
