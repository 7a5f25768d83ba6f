/** The process of one tester: does one job after another, until whoever started it lets go. */
import { MUTANTS } from './list/index.ts'
import { Tester, type Verdict } from './tester.ts'

/** What a worker is asked: whether tests are fit to catch anything, or whether a fault is caught. */
export type Job =
  | { readonly kind: 'soundness'; readonly test: string; readonly names: readonly string[] }
  | { readonly kind: 'prove'; readonly id: string }

/** Its answer. Of a test that is not sound: `stale`. */
export type Answer = Verdict | { readonly kind: 'sound' }

const tester = await Tester.open(process.cwd())

async function answer(job: Job): Promise<Answer> {
  if (job.kind === 'prove') return tester.prove(MUTANTS.find(({ id }) => id === job.id)!)
  const why = await tester.soundness(job.test, job.names)
  return why === null ? { kind: 'sound' } : { kind: 'stale', why }
}

process.on('message', (job: Job) => {
  answer(job).then(
    (done) => process.send!(done),
    (error: unknown) => process.send!({ kind: 'stale', why: String(error) } satisfies Answer),
  )
})
process.on('disconnect', () => process.exit())
// A fault may leave a rejection behind in this process; its test has said what there is to say.
process.on('unhandledRejection', () => {})
process.send!('ready')
