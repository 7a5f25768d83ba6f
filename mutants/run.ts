/**
 * `npm run mutants -- [--json] [--jobs N] [--only id]… [--page]`: plants each fault of the list, one at a time, and demands that the
 * tests which it names catch it. Progress on stderr. Exit code 1 if a fault survives, or if the list is no longer true.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { doAll } from './crew.ts'
import { MUTANTS } from './list/index.ts'
import type { Mutant } from './mutant.ts'
import { page } from './page.ts'
import type { Job } from './worker.ts'

interface Options {
  readonly json: boolean
  readonly jobs: number
  readonly mutants: readonly Mutant[]
}

/** A fault that was not caught, or whose record is not true any more. */
interface Survivor {
  readonly id: string
  readonly why: string
}

const USAGE = `npm run mutants -- [options]: plants each fault of the list and demands that the tests which it names catch it.

  --only ID  this fault; may be given several times (the ids are in mutants/README.md)
  --jobs N   faults at a time (default: one for each core)
  --json     one object on stdout instead of the table
  --page     writes mutants/README.md from the list, and plants nothing`

/** What the arguments ask for. Throws an `Error` that says what is wrong with them. */
function readArguments(): Options & { readonly page: boolean } {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      jobs: { type: 'string', default: String(availableParallelism()) },
      only: { type: 'string', multiple: true, default: [] },
      page: { type: 'boolean', default: false },
    },
  })
  const jobs = Number(values.jobs)
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new Error(`--jobs is "${values.jobs}"; give a whole number from 1 up`)
  return { json: values.json, page: values.page, jobs, mutants: chosen(values.only) }
}

function chosen(ids: readonly string[]): readonly Mutant[] {
  const unknown = ids.filter((id) => !MUTANTS.some((mutant) => mutant.id === id))
  if (unknown.length > 0)
    throw new Error(
      `there is no fault "${unknown.join('", "')}"; the ids are in mutants/README.md, and --only takes one`,
    )
  return ids.length === 0 ? MUTANTS : MUTANTS.filter(({ id }) => ids.includes(id))
}

async function run(): Promise<void> {
  if (process.argv.includes('--help')) return console.log(USAGE)
  let options: ReturnType<typeof readArguments>
  try {
    options = readArguments()
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exitCode = 2
    return
  }
  if (options.page) writeFileSync('mutants/README.md', page(MUTANTS))
  else await main(options)
}

await run()

async function main({ json, jobs, mutants }: Options): Promise<void> {
  const startedAt = performance.now()
  const unsound = await findUnsound(mutants, jobs)
  const survived: Survivor[] = []
  const provable: Job[] = []
  for (const mutant of mutants) {
    const why = mutant.caughtBy.map(({ test }) => unsound.get(test)).find((problem) => problem !== undefined)
    if (why === undefined) provable.push({ kind: 'prove', id: mutant.id })
    else survived.push({ id: mutant.id, why })
  }
  await doAll(provable, jobs, (job, answer) => {
    if (job.kind !== 'prove') return
    say(`${answer.kind} ${job.id}`)
    if ('why' in answer) survived.push({ id: job.id, why: answer.why })
  })
  report({ json, planted: mutants.length, survived, ms: Math.round(performance.now() - startedAt) })
}

/** The catchers, without any fault: what is wrong, by test file. */
async function findUnsound(mutants: readonly Mutant[], jobs: number): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, Set<string>>()
  for (const { test, name } of mutants.flatMap(({ caughtBy }) => caughtBy)) {
    names.set(test, (names.get(test) ?? new Set()).add(name))
  }
  const unsound = new Map<string, string>()
  const asked = [...names].map(([test, all]): Job => ({ kind: 'soundness', test, names: [...all] }))
  await doAll(asked, jobs, (job, answer) => {
    if (job.kind !== 'soundness') return
    say(`${answer.kind} ${job.test}`)
    if ('why' in answer) unsound.set(job.test, answer.why)
  })
  return unsound
}

interface Result {
  readonly json: boolean
  readonly planted: number
  readonly survived: readonly Survivor[]
  readonly ms: number
}

function report({ json, planted, survived, ms }: Result): void {
  const caught = planted - survived.length
  if (json) process.stdout.write(`${JSON.stringify({ planted, caught, survived, ms })}\n`)
  else {
    for (const { id, why } of survived) process.stdout.write(`${id}: ${why}\n\n`)
    process.stdout.write(`${planted} faults planted, ${caught} caught, in ${(ms / 1000).toFixed(1)} s\n`)
  }
  if (survived.length > 0) process.exitCode = 1
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
