/**
 * Several workers at once. Owns their processes: each has one job at a time; one that does not answer in time, or dies, is
 * replaced, and its job has the answer that its worker could not give.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { nodeClock } from '../src/host/node.ts'
import type { Answer, Job } from './worker.ts'

const WORKER = fileURLToPath(new URL('./worker.js', import.meta.url))
/** A job is a few tests; a fault that makes them spin ends with its process. */
const JOB_MS = 60_000

/** Does all jobs, `size` at once, and tells of each answer as it comes. */
export async function doAll(
  jobs: readonly Job[],
  size: number,
  told: (job: Job, answer: Answer) => void,
): Promise<void> {
  const waiting = [...jobs]
  const hand = async (): Promise<void> => {
    let worker: ChildProcess | null = null
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      worker ??= await start()
      const answer = await ask(worker, job)
      if (answer === null) worker = null
      told(job, answer ?? { kind: 'survived', why: `no answer within ${JOB_MS} ms: it spins, and no test says why` })
    }
    worker?.disconnect()
  }
  await Promise.all(Array.from({ length: Math.min(size, jobs.length) }, hand))
}

async function start(): Promise<ChildProcess> {
  const worker = fork(WORKER, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const died = once(worker, 'exit').then(([code]) => {
    throw new Error(`a worker ended with ${String(code)} before it was ready: what it said stands above`)
  })
  await Promise.race([once(worker, 'message'), died])
  died.catch(() => {})
  return worker
}

/** Null: it did not answer, and was killed. */
async function ask(worker: ChildProcess, job: Job): Promise<Answer | null> {
  const waiting = new AbortController()
  const cancel = nodeClock.after(JOB_MS, () => waiting.abort())
  const { signal } = waiting
  worker.send(job)
  try {
    const death = once(worker, 'exit', { signal }).then(() => [null])
    const [answer] = (await Promise.race([once(worker, 'message', { signal }), death])) as [Answer | null]
    return answer
  } catch {
    // Swallows the end of its time: that there is no answer says it.
    worker.kill('SIGKILL')
    return null
  } finally {
    cancel()
    waiting.abort()
  }
}
