/** `npm run sim`: our own agent through as many lives as there is time for. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeClock } from '../../src/host/node.ts'
import type { SimFailure, SimScenario } from '../../src/testing/sim/sim.ts'
import { simulate } from '../../src/testing/sim/simulate.ts'
import { tellRun } from '../../src/testing/sim/story.ts'
import { simulatedAgent } from './agent.ts'
import { runCrew, type Total } from './crew.ts'
import { flagsOf, USAGE, type Flags } from './flags.ts'
import { formatScenario } from './scenario-file.ts'

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
  if (flags.seed !== null && !flags.json) return tellSeed(flags.seed)
  return runMany(flags)
}

async function tellScenario(path: string): Promise<number> {
  const written = JSON.parse(readFileSync(path, 'utf8')) as SimScenario
  const { faults } = await tellRun({ agent: simulatedAgent, seed: 0, written }, say)
  say(faults.length === 0 ? '\nno rule is broken' : `\n${faults.length} faults`)
  return faults.length === 0 ? 0 : 1
}

async function tellSeed(seed: number): Promise<number> {
  const { events, faults } = await tellRun({ agent: simulatedAgent, seed }, say)
  if (faults.length === 0) {
    say(`\nseed ${seed}: ${events} events, no rule is broken`)
    return 0
  }
  say('\nmaking it small …')
  const { failures } = await simulate({ agent: simulatedAgent, from: seed, seeds: 1 })
  for (const failure of failures) say(textOf(failure))
  return 1
}

async function runMany(flags: Flags): Promise<number> {
  const startedAt = nodeClock.now()
  const until = flags.minutes === null ? null : startedAt + flags.minutes * 60_000
  const fresh = startedAt % FRESH_BELOW
  const first = flags.seed ?? flags.from
  const count = flags.seed !== null ? 1 : (flags.seeds ?? (until === null ? SEEDS : FIXED))
  const timed = until !== null && flags.seeds === null
  const fixed = { from: first ?? (timed ? 1 : fresh), count: timed && first !== null ? Infinity : count }
  if (!flags.json)
    say(`seeds from ${fixed.from}${timed && first === null ? `, after ${FIXED} of them from ${fresh}` : ''}`)
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
  const { threads } = flags
  const total = await runCrew({
    fixed,
    fresh: timed && first === null ? fresh : null,
    until,
    threads,
    onProgress,
    onFailure,
  })
  const { seeds, events, failures } = total
  if (flags.json) say(JSON.stringify({ seeds, events, failures: failures.length, failed: failures }))
  else {
    for (const failure of failures) say(textOf(failure))
    say(summary(total, nodeClock.now() - startedAt))
    say(verdictOf(total, fixed.from, timed && first === null ? fresh : null))
  }
  return failures.length === 0 ? 0 : 1
}

function summary({ seeds, events, failures }: Total, ms: number): string {
  const perSecond = Math.round(events / Math.max(0.001, ms / 1_000))
  return `${seeds} seeds, ${events} events, ${failures.length} failures; ${Math.round(ms / 1_000)} s, ${perSecond} events a second`
}

/** The last line: what came of it, and how to have it again. */
function verdictOf({ seeds, failures }: Total, from: number, fresh: number | null): string {
  const [failure] = failures
  if (failure !== undefined) return `\nrules are broken; the first again: npm run sim -- --seed ${failure.seed}`
  const behind = seeds - FIXED
  const again =
    fresh === null || behind <= 0
      ? `npm run sim -- --from ${from} --seeds ${seeds}`
      : `npm run sim -- --from ${from} --seeds ${FIXED}, and --from ${fresh} --seeds ${behind}`
  return `\nno rule is broken; the same again: ${again}`
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

process.exitCode = await main(process.argv.slice(2))
