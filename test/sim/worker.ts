/** One thread of `npm run sim`: asks for seeds, runs them, tells what came of them, until there are none. */
import { parentPort } from 'node:worker_threads'
import type { SimFailure } from '../../src/testing/sim/sim.ts'
import { simulate } from '../../src/testing/sim/simulate.ts'
import { simulatedAgent } from './agent.ts'

/** Seeds to run; null: there are no more. */
export type Task = { readonly from: number; readonly count: number } | null

/** What came of a task. */
export interface Done {
  readonly seeds: number
  readonly events: number
  readonly failures: readonly SimFailure[]
}

const port = parentPort!

port.on('message', (task: Task) => {
  if (task === null) return port.close()
  void work(task).then((done) => port.postMessage(done))
})
port.postMessage({ seeds: 0, events: 0, failures: [] } satisfies Done)

async function work({ from, count }: NonNullable<Task>): Promise<Done> {
  return simulate({ agent: simulatedAgent, from, seeds: count, failuresMax: Infinity })
}
