import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Case } from '../lib/case.ts'
import { inPairs, median, nowUs } from '../lib/measure.ts'
import { turnUs } from '../lib/peer.ts'
import { Script } from '../lib/script.ts'
import { contentsOf, loadDriver, Recorder, Replay, type Recording } from '../lib/sqlite.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const STEPS = 100
const WARM_TURNS = 12
const SESSION = 'durable'

export const durable: Case = {
  name: 'durable',
  title: `a step on SQLite, every commit on the disk, ${STEPS} in a turn; against the same commits written raw`,
  rounds: 5,
  unit: 'durableStepUs',
  async measure({ folder, quick, profile }) {
    const { Database } = await loadDriver()
    const files = new Files(folder)
    const script = new Script()
    const steps = quick ? STEPS / 10 : STEPS
    const recorded = await record(Database, files, { script, steps })
    if (!quick) await warmUp()
    const raw = async (): Promise<number> => {
      const replay = new Replay(new Database(files.next()))
      replay.play(recorded.before)
      const start = nowUs()
      replay.play(recorded.turn)
      const us = nowUs() - start
      if (contentsOf(replay.database) !== recorded.contents) throw new Error('what was written raw is something else')
      replay.database.close()
      return us / steps
    }
    const ours = async (): Promise<number> => (await turnOnDiskUs(files.next(), { script, steps })) / steps
    for (const warm of quick ? [] : [raw, ours]) await warm()
    const pair = await inPairs(ours, raw, { reps: quick ? 1 : profile ? 200 : 12, budgetMs: 15_000 })
    files.clear()
    return {
      durableStepRatio: pair.ratio,
      durableStepUs: median(pair.subject),
      rawStepUs: median(pair.floor),
      commitsPerStep: recorded.turn.length / steps,
    }
  },
}

interface DurableTurn {
  readonly script: Script
  readonly steps: number
}

interface Recorded {
  readonly before: Recording['transactions']
  readonly turn: Recording['transactions']
  readonly contents: string
}

/** One turn of turnstep, and every transaction of it: those up to its message, and those of the turn until the session rests. */
async function record(
  Database: Awaited<ReturnType<typeof loadDriver>>['Database'],
  files: Files,
  turn: DurableTurn,
): Promise<Recorded> {
  const path = files.next()
  const recorder = new Recorder(Database)
  let before = 0
  await turnOnDiskUs(path, turn, () => (before = recorder.log.transactions.length)).finally(() => recorder.stop())
  const { transactions } = recorder.log
  const database = new Database(path)
  const contents = contentsOf(database)
  database.close()
  return { before: transactions.slice(0, before), turn: transactions.slice(before), contents }
}

/** The time of one turn in a fresh file, from the message to the release of the lease. */
async function turnOnDiskUs(
  path: string,
  { script, steps }: DurableTurn,
  onOpen: () => void = () => {},
): Promise<number> {
  const { harness, agent } = await turnstepPeer(script, { store: path })
  const session = await harness.open(agent, { session: SESSION })
  await session.settled()
  onOpen()
  script.plan({ steps })
  const start = nowUs()
  const turn = await session.send('go')
  await turn.outcome
  await session.settled()
  const us = nowUs() - start
  script.check()
  await harness.close()
  return us
}

/** The code of the loop is the same in memory, and is warm sooner there. */
async function warmUp(): Promise<void> {
  const script = new Script()
  const peer = await turnstepPeer(script, { store: 'memory' })
  for (let turn = 0; turn < WARM_TURNS; turn++) await turnUs(peer, script, { steps: STEPS })
  await peer.close()
}

/** Fresh database files; those that were used are taken away, so that the disk is in the same state for each. */
class Files {
  readonly #folder: string
  #count = 0
  #last: string | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  next(): string {
    this.clear()
    return (this.#last = join(this.#folder, `durable-${this.#count++}.db`))
  }

  clear(): void {
    if (this.#last === null) return
    for (const end of ['', '-wal', '-shm', '-runners']) rmSync(this.#last + end, { recursive: true, force: true })
  }
}
