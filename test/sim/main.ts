/** `npm run sim`: our own agent through as many lives as there is time for. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeClock } from '../../src/host/node.ts'
import { isTurnstepError } from '../../src/kernel/errors.ts'
import type { SimFailure } from '../../src/testing/sim/sim.ts'
import { simulate } from '../../src/testing/sim/simulate.ts'
import { tellRun } from '../../src/testing/sim/story.ts'
import { simulatedAgent } from './agent.ts'
import { runCrew, type Total } from './crew.ts'
import { flagsOf, USAGE, type Flags } from './flags.ts'
import { formatScenario, readScenario } from './scenario-file.ts'
import { verdictOf, verdictOfOne, type Seeds } from './verdict.ts'

/** Seeds that every timed run begins with. */
const FIXED = 300
const SEEDS = 200
const FRESH_BELOW = 1_000_000_000
const PROGRESS_MS = 5_000

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const whisper = (text: string): void => void process.stderr.write(`${text}\n`)

async function main(args: readonly string[]): Promise<number> {
  const flags = flagsOf(args)
  if ('wrong' in flags) {
    if (flags.wrong === null) say(USAGE)
    else whisper(`${flags.wrong}\n\n${USAGE}`)
    return flags.wrong === null ? 0 : 2
  }
  if (flags.replay !== null) return tellScenario(flags.replay)
  if (flags.seed !== null && !flags.json) return tellSeed(flags.seed, flags.keep)
  return runMany(flags)
}

async function tellScenario(path: string): Promise<number> {
  const written = readScenario(path)
  if (typeof written === 'string') {
    whisper(written)
    return 2
  }
  const { events, faults } = await tellRun({ agent: simulatedAgent, seed: 0, written }, say)
  say(`\n${verdictOfOne(events, faults.length, `--replay ${path}`)}`)
  return faults.length === 0 ? 0 : 1
}

async function tellSeed(seed: number, folder: string | null): Promise<number> {
  const { events, faults } = await tellRun({ agent: simulatedAgent, seed }, say)
  if (faults.length > 0) {
    say('\nmaking it small …')
    const { failures } = await simulate({ agent: simulatedAgent, from: seed, seeds: 1 })
    for (const failure of failures) {
      say(textOf(failure))
      if (folder !== null) keep(folder, failure)
    }
  }
  say(`\n${verdictOfOne(events, faults.length, `--seed ${seed}`)}`)
  return faults.length === 0 ? 0 : 1
}

async function runMany(flags: Flags): Promise<number> {
  const startedAt = nodeClock.now()
  const { until, ...ran } = planOf(flags, startedAt)
  const { fixed, fresh } = ran
  if (!flags.json)
    say(`seeds from ${fixed.from}${fresh === null ? '' : `, after ${fixed.count} of them from ${fresh}`}`)
  let saidAt = startedAt
  const onProgress = (total: Total): void => {
    const now = nodeClock.now()
    if (now - saidAt < PROGRESS_MS) return
    saidAt = now
    whisper(summary(total, now - startedAt))
  }
  const onFailure = (failure: SimFailure): void => {
    whisper(`seed ${failure.seed} breaks ${failure.rule}: ${failure.message}`)
    if (flags.keep !== null) keep(flags.keep, failure)
  }
  const total = await runCrew({ fixed, fresh, until, threads: flags.threads, onProgress, onFailure })
  const { seeds, events, failures } = total
  const tell = flags.json ? whisper : say
  for (const failure of failures) tell(textOf(failure))
  tell(summary(total, nodeClock.now() - startedAt))
  tell(`\n${verdictOf(total, ran)}`)
  if (flags.json) say(JSON.stringify({ seeds, events, failures: failures.length }))
  return failures.length === 0 && seeds > 0 ? 0 : 1
}

/** Which seeds, and until when. By time alone: from the one that is given on; else the fixed ones, then fresh ones. */
function planOf({ seed, seeds, from, minutes }: Flags, startedAt: number): Seeds & { readonly until: number | null } {
  const until = minutes === null ? null : startedAt + minutes * 60_000
  const fresh = 1 + (startedAt % FRESH_BELOW)
  if (seed !== null) return { fixed: { from: seed, count: 1 }, fresh: null, until }
  if (until === null || seeds !== null)
    return { fixed: { from: from ?? fresh, count: seeds ?? SEEDS }, fresh: null, until }
  if (from !== null) return { fixed: { from, count: Infinity }, fresh: null, until }
  return { fixed: { from: 1, count: FIXED }, fresh, until }
}

function summary({ seeds, events, failures }: Total, ms: number): string {
  const perSecond = Math.round(events / Math.max(0.001, ms / 1_000))
  return `${seeds} seeds, ${events} events, ${failures.length} failures; ${Math.round(ms / 1_000)} s, ${perSecond} events a second`
}

function textOf({ seed, rule, message, scenario, story }: SimFailure): string {
  return `
seed ${seed} breaks ${rule}: ${message}

${story}

The whole run: npm run sim -- --seed ${seed}
To keep it: save what follows as test/scenarios/<what it is about>.sim.json
${formatScenario(scenario)}`
}

function keep(folder: string, { seed, scenario }: SimFailure): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `seed-${seed}.sim.json`), formatScenario(scenario))
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // A scenario with moves that are not known any more; whatever else is thrown, is a fault of ours.
  if (!isTurnstepError(error, 'usage-invalid')) throw error
  whisper(error.message)
  process.exitCode = 2
}
