/** One agent process: one life of one session, as the job in its arguments says. */
import { say } from './desk.ts'
import { scenarios } from './scenarios/index.ts'
import type { Job } from './talk.ts'

const job = JSON.parse(process.argv[2]!) as Job
// What stays has nothing left to do, and is waited for by nobody but its killer.
if (job.stays === true) setInterval(() => {}, 2 ** 30)
try {
  await scenarios[job.scenario].live(job)
} catch (error) {
  say({ what: 'failed', message: (error as Error).stack ?? String(error) })
  process.exit(1)
}
