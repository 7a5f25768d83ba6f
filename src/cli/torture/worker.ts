/**
 * The process of a run: `worker <folder> <process> [check]`. It reads its job from the folder, leaves its journal there, and ends as soon as that is
 * written, whatever the agent keeps open.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nodeClock } from '../../host/node.ts'
import { isTurnstepError } from '../../kernel/errors.ts'
import type { TortureRun } from '../../protocol/torture.ts'
import { messageOf } from '../../util/text.ts'
import { Journal } from './journal.ts'
import { runPaths, type Job } from './job.ts'

/** The file to run, built or not. */
export const WORKER = fileURLToPath(import.meta.url)

if (process.argv[1] === WORKER) await work(process.argv.slice(2))

async function work([root = '', number = '', what]: readonly string[]): Promise<void> {
  const paths = runPaths(root)
  const job = JSON.parse(readFileSync(paths.job(Number(number)), 'utf8')) as Job
  const journal = new Journal(paths.journal, job.process)
  // The one who started us ends us sooner; this is for the case that it is gone.
  nodeClock.after(job.limitMs * 2, () => process.exit(1), { unref: true })
  try {
    if (what === 'check') await check(job, paths.run, journal)
    else {
      const { drive } = await import('./drive.ts')
      await drive(job, root, journal)
    }
  } catch (error) {
    journal.write({ what: 'failed', code: isTurnstepError(error) ? error.code : null, problem: messageOf(error) })
    // With its trace, for whoever reads the output.
    process.stderr.write(`${error instanceof Error ? error.stack : messageOf(error)}\n`)
  }
  process.exit(0)
}

async function check(job: Job, runPath: string, journal: Journal): Promise<void> {
  const { loadCheck } = await import('./load.ts')
  const ask = await loadCheck(job)
  if (ask === null) return journal.write({ what: 'checked', complaints: [] })
  const said = await ask(JSON.parse(readFileSync(runPath, 'utf8')) as TortureRun)
  const complaints = typeof said === 'string' ? [said] : (said ?? [])
  journal.write({ what: 'checked', complaints: complaints.map(String) })
}
