/** `npm run bench`: what turnstep costs, as ratios to what is measured beside it in the same process. `--help` says what it takes. */
import { readFileSync } from 'node:fs'
import { arch, cpus, platform } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CASES } from './cases/index.ts'
import { steps } from './cases/steps.ts'
import type { Case } from './lib/case.ts'
import { partsOf } from './lib/parts.ts'
import { sharesOf, type Share } from './lib/profile.ts'
import { markdown, writePages, type Measured } from './lib/report.ts'
import { runProfiled, runRounds } from './lib/rounds.ts'
import { loadDriver } from './lib/sqlite.ts'

const HELP = `npm run bench -- [CASE...] [--rounds N] [--quick] [--json] [--page] [--from FILE] [--profile]
cases: ${CASES.map(({ name }) => name).join(' ')}; default: all
--rounds N   processes per case, of which the median is taken
--quick      small sizes: to see that everything runs; the figures say nothing
--json       the last line is one JSON object
--page       puts the table into docs/reference/performance.md and its Chinese page
--from FILE  measures nothing: takes the figures that --json wrote
--profile    where the time of a case goes, by file and by function`

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
    from: { type: 'string' },
    profile: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (flags.help) console.log(HELP)
else if (flags.profile) for (const one of chosen()) showProfile(one)
else {
  const measured = flags.from === undefined ? await measureAll() : readMeasured(flags.from)
  if (flags.page) writePages(measured, { en: page('docs/reference'), zh: page('docs/zh/reference') })
  console.log(flags.json ? JSON.stringify(measured) : markdown(measured))
}

/** The figures in what `npm run bench -- --json` wrote: its last line. */
function readMeasured(file: string): Measured {
  return JSON.parse(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)!) as Measured
}

function chosen(): readonly Case[] {
  const unknown = positionals.find((name) => !CASES.some((one) => one.name === name))
  if (unknown !== undefined) throw new Error(`there is no case "${unknown}"\n${HELP}`)
  return CASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
}

async function measureAll(): Promise<Measured> {
  const rounds = flags.rounds === undefined ? null : Number(flags.rounds)
  const figures: Record<string, number> = {}
  for (const one of chosen()) {
    console.error(`${one.name}: ${one.title}`)
    const measured = runRounds(one, { quick: flags.quick, rounds })
    for (const [name, value] of Object.entries(measured)) figures[name] = Number(value.toPrecision(4))
  }
  const isWhole = positionals.length === 0 && !flags.quick
  return { ...figures, ...(isWhole ? { stepParts: stepParts() } : {}), ...(await circumstances()) }
}

/** Where the microseconds of a step in memory go. */
function stepParts() {
  const { figures, profile } = runProfiled(steps)
  const parts = partsOf(sharesOf(profile).files, figures[steps.unit!]!)
  return Object.fromEntries(Object.entries(parts).map(([part, us]) => [part, Number(us.toFixed(2))]))
}

/** What the figures were measured with. */
async function circumstances() {
  const cores = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    driver: (await loadDriver()).name,
    machine: `${platform()} ${arch()}, ${cores.length} × ${cores[0]?.model ?? 'unknown'}`,
  }
}

function page(folder: string): string {
  return fileURLToPath(new URL(`../../${folder}/performance.md`, import.meta.url))
}

function showProfile(one: Case): void {
  const { figures, profile } = runProfiled(one)
  console.log(`${one.name}: ${JSON.stringify(figures)}`)
  const { files, functions } = sharesOf(profile)
  const unitUs = one.unit === undefined ? null : figures[one.unit]!
  const lists = [
    ['file', files, 25],
    ['function', functions, 40],
  ] as const
  for (const [what, shares, most] of lists) {
    console.log(`\nself time by ${what}${unitUs === null ? '' : `, and microseconds of ${unitUs.toFixed(1)}`}`)
    for (const share of shares.slice(0, most)) console.log(line(share, unitUs))
  }
}

function line({ name, share }: Share, unitUs: number | null): string {
  const us = unitUs === null ? '' : `${(share * unitUs).toFixed(2).padStart(8)}`
  return `${(share * 100).toFixed(1).padStart(5)} %${us}  ${name}`
}
