/** `npm run safety`: what survives `kill -9`, an abort, a cut reply, a model that never stops. Exit code 0: all; 1: not all; 2: it could not be run. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, USAGE, type Options } from './options.ts'
import { Ledger } from './outside.ts'
import { table, total, type Findings } from './report.ts'
import { Rig } from './rig.ts'
import { scenarios } from './scenarios/index.ts'
import type { ScenarioName } from './talk.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  let options: Options
  try {
    options = readOptions(args)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return 2
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(2))
  const startedAt = performance.now()
  const findings = await runAll(options)
  const wrong = [...findings.values()].flatMap((one) => one.wrong)
  const { seed } = options
  const ms = Math.round(performance.now() - startedAt)
  const report = options.json
    ? JSON.stringify({ ...total(findings.values()), seed, ms, wrong })
    : `${table(findings)}\nseed ${seed} · ${(ms / 1_000).toFixed(1)} s`
  console.log(report)
  return wrong.length === 0 ? 0 : 1
}

async function runAll(options: Options): Promise<Map<ScenarioName, Findings>> {
  const folder = mkdtempSync(join(tmpdir(), 'turnstep-safety-'))
  let isKept = false
  process.once('exit', () => isKept || rmSync(folder, { recursive: true, force: true }))
  const ledger = await Ledger.start()
  const findings = new Map<ScenarioName, Findings>()
  for (const name of options.scenarios) {
    const progress = showProgress(name)
    findings.set(name, await runOne(name, new Rig({ options, ledger, folder, progress: progress.show })))
    progress.end()
  }
  await ledger.stop()
  isKept = [...findings.values()].some(({ wrong }) => wrong.length > 0)
  if (isKept) console.error(`the files of what went wrong are kept: ${folder}`)
  return findings
}

/** What breaks is a finding like any other: the rest is run all the same. */
async function runOne(name: ScenarioName, rig: Rig): Promise<Findings> {
  try {
    const findings = await scenarios[name].run(rig)
    return { ...findings, wrong: [...findings.wrong, ...rig.broken] }
  } catch (error) {
    return { counts: {}, seen: 'could not be run to its end', wrong: [(error as Error).stack ?? String(error)] }
  }
}

/** On a terminal a line that changes; elsewhere one line for each scenario. */
function showProgress(name: ScenarioName): { show(text: string): void; end(): void } {
  const { stderr } = process
  const show = (text: string): void => void stderr.write(`\r\u001b[K${name}: ${text}`)
  if (stderr.isTTY) return { show, end: () => show('done\n') }
  stderr.write(`${name} ...`)
  return { show() {}, end: () => void stderr.write(' done\n') }
}
