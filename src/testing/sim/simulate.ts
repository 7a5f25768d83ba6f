/** `simulate` and `replay`: an agent under everything that may happen to it, seed by seed; failures are made small and told. */
import { TurnstepError } from '../../kernel/errors.ts'
import { agent } from '../../runtime/define/agent.ts'
import { refuseUnknown, type Known } from '../../runtime/borders.ts'
import { isPlainObject } from '../../util/json.ts'
import { quoted } from '../../util/text.ts'
import { KINDS, runOnce, type Ran, type RunOptions } from './run.ts'
import { shrink, type Written } from './shrink.ts'
import type { SimFailure, SimFault, SimReport, SimScenario, SimulateOptions } from './sim.ts'
import { tellRun } from './story.ts'

/**
 * Runs an agent through random lives of a session, and checks the contract, and your own checks, after every event. The same seed is
 * the same run, on any machine. Throws only what the options are to blame for; whatever breaks is a failure in the report.
 */
export async function simulate(options: SimulateOptions): Promise<SimReport> {
  checkOptions(options, OPTIONS, 'simulate')
  const { seeds = 20, from = 1, failuresMax = 3 } = options
  const failures: SimFailure[] = []
  let ran = 0
  let events = 0
  for (; ran < seeds && failures.length < failuresMax; ran++) {
    const seed = from + ran
    const run = await runOnce({ ...options, seed })
    events += run.events
    if (run.faults.length > 0) failures.push(await failureOf(options, seed, run))
  }
  return { seeds: ran, events, failures }
}

type ReplayOptions = Pick<SimulateOptions, 'agent' | 'store'>

/** Plays what was written down. Empty: no rule is broken any more. Throws only what its arguments are to blame for. */
export async function replay(scenario: SimScenario, options: ReplayOptions): Promise<readonly SimFault[]> {
  checkScenario(scenario)
  checkOptions(options, REPLAY_OPTIONS, 'replay')
  const { faults } = await runOnce({ ...options, seed: 0, written: scenario })
  return faults
}

const REPLAY_OPTIONS: Known<ReplayOptions> = { agent: true, store: true }

const OPTIONS: Known<SimulateOptions> = {
  ...REPLAY_OPTIONS,
  seeds: true,
  from: true,
  moves: true,
  without: true,
  failuresMax: true,
  shrink: true,
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1

const COUNT = { fits: isCount, wanted: 'a whole number from 1 up' }

/** What each option may be. The types say the same; this is for those who have none. */
const FITS: {
  readonly [Name in Exclude<keyof SimulateOptions, 'agent'>]-?: {
    readonly fits: (value: unknown) => boolean
    readonly wanted: string
  }
} = {
  seeds: COUNT,
  from: COUNT,
  moves: COUNT,
  failuresMax: {
    fits: (value) => value === Infinity || isCount(value),
    wanted: 'a whole number from 1 up, or Infinity',
  },
  shrink: { fits: (value) => typeof value === 'boolean', wanted: 'true or false' },
  store: { fits: (value) => typeof value === 'function', wanted: 'a function that makes a store' },
  without: { fits: Array.isArray, wanted: 'a list of names' },
}

/** A run that checks nothing must not look like one that found nothing. */
function checkOptions(options: SimulateOptions, known: object, verb: string): void {
  refuseUnknown(options, known, verb)
  // One that a function makes is looked at when it is opened.
  if (typeof options.agent !== 'function') agent(options.agent)
  for (const [name, { fits, wanted }] of Object.entries(FITS)) {
    const value = options[name as keyof typeof FITS]
    if (value !== undefined && !fits(value)) throw misfit(`${verb}: ${name}`, value, wanted)
  }
  for (const name of options.without ?? []) {
    if (!KINDS.includes(name))
      throw new TurnstepError('config-invalid', `${verb}: without has ${quoted(name)}; known: ${KINDS.join(', ')}`)
  }
}

/** Whatever a file held that was meant to be one. What its moves are, shows when they are made. */
function checkScenario(scenario: SimScenario): void {
  if (isPlainObject(scenario) && Array.isArray(scenario['moves']) && Array.isArray(scenario['decisions'])) return
  throw misfit('replay: the scenario', scenario, 'the `scenario` of a failure')
}

function misfit(what: string, value: unknown, wanted: string): TurnstepError {
  const seen = typeof value === 'number' ? `${value}` : quoted(value)
  return new TurnstepError('config-invalid', `${what} is ${seen}; give ${wanted}`)
}

async function failureOf(options: SimulateOptions, seed: number, run: Ran): Promise<SimFailure> {
  const { rule, message } = run.faults[0]!
  const again = await runOnce({ ...options, seed, records: true })
  const small = options.shrink === false ? again : await smallest(options, rule, again)
  const lines: string[] = []
  const told = await tellRun({ ...options, seed, written: small }, (line) => lines.push(line))
  const said = told.faults.find((fault) => fault.rule === rule)?.message ?? message
  const { moves, decisions } = small
  return { seed, rule, message: said, scenario: { rule, moves, decisions }, story: lines.join('\n') }
}

async function smallest(options: SimulateOptions, rule: string, run: Ran): Promise<Written> {
  const breaks = async (written: Written): Promise<Written | null> => {
    const tried: RunOptions = { ...options, seed: 0, records: true, written, upTo: run.phase }
    const ran = await runOnce(tried)
    return ran.faults.some((fault) => fault.rule === rule) ? ran : null
  }
  const start = await breaks(run)
  // It is another run when it is read than when it is drawn: what was drawn is all there is to show.
  return start === null ? run : shrink(start, breaks)
}
