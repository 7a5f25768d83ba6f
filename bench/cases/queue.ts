import { agent, createHarness, type Model, type Session } from 'turnstep'
import type { Case } from '../lib/case.ts'
import { mean } from '../lib/measure.ts'

const POSTS = 10_000

export const queue: Case = {
  name: 'queue',
  title: `${POSTS} messages posted while a turn runs, then a turn for each; in memory, by how long the queue is`,
  rounds: 3,
  async measure({ quick }) {
    if (!quick) await fillAndEmpty(POSTS / 2)
    const { posting, running } = await fillAndEmpty(quick ? POSTS / 50 : POSTS)
    // The first tenth of each is left out: what is done there for the first time is slow for other reasons.
    return {
      queuePostUs: mean(posting),
      queuePostGrowth: mean(posting.slice(6)) / mean(posting.slice(1, 5)),
      queueTurnUs: mean(running),
      // The queue is longest at first.
      queueTurnGrowth: mean(running.slice(1, 5)) / mean(running.slice(6)),
    }
  },
}

interface Tenths {
  readonly posting: readonly number[]
  readonly running: readonly number[]
}

async function fillAndEmpty(posts: number): Promise<Tenths> {
  const model = new Gate()
  const harness = await createHarness({ store: 'memory' })
  const session = await harness.open(agent({ model, instructions: 'Be brief.' }), { session: 'queue' })
  await session.send('go')
  await model.asked
  const posting = await tenths(posts, () => post(session))
  if ((await session.queue.list()).length !== posts) throw new Error('not everything that was posted is pending')
  const starting = model.turns(posts)
  model.open()
  const running = await starting
  await harness.close()
  return { posting, running }
}

/** Of this process: the tenths are compared with each other, and others may be at work on the machine during some of them. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Posts, and lets the runner hear of it. */
async function post(session: Session): Promise<void> {
  await session.send('one more')
  await new Promise(setImmediate)
}

/** Does something so often; the processor's time of each, by tenths. */
async function tenths(times: number, run: () => Promise<void>): Promise<number[]> {
  const took: number[] = []
  for (let tenth = 0; tenth < 10; tenth++) {
    const start = cpuUs()
    for (let time = 0; time < times / 10; time++) await run()
    took.push((cpuUs() - start) / (times / 10))
  }
  return took
}

/** A model whose first answer waits until it is let out; the others come at once. */
class Gate implements Model {
  readonly route = { adapter: 'bench', wire: 'bench', provider: 'bench', model: 'bench', scope: 'bench' }
  readonly binding = 'none'
  readonly contextTokens = null
  readonly asked: Promise<void>
  open!: () => void
  readonly #opened = new Promise<void>((resolve) => (this.open = resolve))
  #wasAsked!: () => void
  #onCall: () => void = () => {}

  constructor() {
    this.asked = new Promise((resolve) => (this.#wasAsked = resolve))
  }

  /** Resolves after so many more calls: the processor's time of each, by tenths. */
  turns(count: number): Promise<number[]> {
    const took: number[] = []
    let calls = 0
    let start = 0
    return new Promise((resolve) => {
      this.#onCall = () => {
        if (calls === 0) start = cpuUs()
        else if (calls % (count / 10) === 0) {
          took.push((cpuUs() - start) / (count / 10))
          start = cpuUs()
        }
        calls++
        // The last tenth is one short: nothing comes after the last call.
        if (calls < count) return
        took.push((cpuUs() - start) / (count / 10 - 1))
        resolve(took)
      }
    })
  }

  async *stream() {
    this.#wasAsked()
    this.#onCall()
    await this.#opened
    const parts = [{ type: 'text' as const, text: 'done' }]
    const reply = { parts, calls: [], replay: null, usage: null, rawFinish: 'stop' }
    yield { type: 'end' as const, kind: 'done' as const, reply }
  }
}
