/** `simulate` and `replay`: an agent under everything that may happen to it, seed by seed; failures are made small and told. */
import { TurnstepError } from '../../kernel/errors.ts'
import { refuseUnknown, type Known } from '../../runtime/borders.ts'
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
  checkOptions(options)
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

/** Plays what was written down. Empty: no rule is broken any more. */
export async function replay(
  scenario: SimScenario,
  options: Pick<SimulateOptions, 'agent' | 'store'>,
): Promise<readonly SimFault[]> {
  const { faults } = await runOnce({ ...options, seed: 0, written: scenario })
  return faults
}

const OPTIONS: Known<SimulateOptions> = {
  agent: true,
  seeds: true,
  from: true,
  moves: true,
  store: true,
  without: true,
  failuresMax: true,
  shrink: true,
}

/** A run that checks nothing must not look like one that found nothing. */
function checkOptions(options: SimulateOptions): void {
  refuseUnknown(options, OPTIONS, 'simulate')
  for (const name of ['seeds', 'from', 'moves', 'failuresMax'] as const) {
    const value = options[name] ?? 1
    if (isCount(value) || (name === 'failuresMax' && value === Infinity)) continue
    const seen = typeof value === 'number' ? value : quoted(value)
    throw new TurnstepError('config-invalid', `simulate: ${name} is ${seen}; give a whole number from 1 up`)
  }
  for (const name of options.without ?? []) {
    if (!KINDS.includes(name))
      throw new TurnstepError('config-invalid', `simulate: without has ${quoted(name)}; known: ${KINDS.join(', ')}`)
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1

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
