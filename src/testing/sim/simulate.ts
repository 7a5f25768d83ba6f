/** `simulate` and `replay`: an agent under everything that may happen to it, seed by seed; failures are made small and told. */
import { TurnstepError } from '../../kernel/errors.ts'
import { KINDS, runOnce, type Ran, type RunOptions } from './run.ts'
import { shrink, type Written } from './shrink.ts'
import type { SimFailure, SimFault, SimReport, SimScenario, SimulateOptions } from './sim.ts'
import { tellRun } from './story.ts'

/**
 * Runs an agent through random lives of a session, and checks the contract, and your own checks, after every event. The same seed is
 * the same run, on any machine. Throws only what the options are to blame for; whatever breaks is a failure in the report.
 */
export async function simulate(options: SimulateOptions): Promise<SimReport> {
  const { seeds = 20, from = 1, failuresMax = 3, without = [] } = options
  for (const name of without) checkKind(name)
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

function checkKind(name: string): void {
  if (!KINDS.includes(name))
    throw new TurnstepError('usage-invalid', `without has "${name}"; known: ${KINDS.join(', ')}`)
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
