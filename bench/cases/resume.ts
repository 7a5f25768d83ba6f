import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Case } from '../lib/case.ts'
import { nowUs } from '../lib/measure.ts'
import { Script } from '../lib/script.ts'
import { loadDriver, settleFile } from '../lib/sqlite.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const MESSAGES = 10_000
const TURN_STEPS = 50
const SESSION = 'resume'

export const resume: Case = {
  name: 'resume',
  title: `a fresh process opens a session of ${MESSAGES} messages and sends one; until the model is called with all of them`,
  rounds: 7,
  async prepare({ folder, quick }) {
    const script = new Script()
    const peer = await turnstepPeer(script, { store: seed(folder) })
    const talk = await peer.open(SESSION)
    for (let messages = 0; messages < sizeOf(quick); messages += 2 + 2 * TURN_STEPS) {
      script.plan({ steps: TURN_STEPS })
      await talk.run('go')
      script.check({ history: messages })
    }
    await talk.close()
    await peer.close()
    await settleFile(seed(folder))
  },
  async measure({ folder, quick, round }) {
    const path = join(folder, `${round}.db`)
    copyFileSync(seed(folder), path)
    // Each goes first as often as the other: what was read once is in the caches of the machine.
    const floorFirst = round % 2 === 0
    const early = floorFirst ? await readRows(path) : null
    const resumeUs = await toModelUs(path, sizeOf(quick))
    const { neededUs, allUs } = early ?? (await readRows(path))
    return {
      resumeRatio: resumeUs / allUs,
      resumeSnapshotRatio: resumeUs / neededUs,
      resumeMs: resumeUs / 1000,
      resumeRowsMs: allUs / 1000,
      resumeSnapshotRowsMs: neededUs / 1000,
    }
  },
}

const seed = (folder: string): string => join(folder, 'seed.db')
const sizeOf = (quick: boolean): number => (quick ? MESSAGES / 50 : MESSAGES)

/** Opens the session and sends a message: how long until the model is called. */
async function toModelUs(path: string, messages: number): Promise<number> {
  const script = new Script()
  const peer = await turnstepPeer(script, { store: path })
  let called = 0
  script.onCall = () => (called = nowUs())
  script.plan({})
  const turns = Math.ceil(messages / (2 + 2 * TURN_STEPS))
  const start = nowUs()
  const talk = await peer.open(SESSION)
  await talk.run('go on')
  script.check({ history: turns * (2 + 2 * TURN_STEPS) })
  await peer.close()
  return called - start
}

/** The floor: reads and parses the rows that the state is in (the newest snapshot and the commits behind it), and those of the whole log. */
async function readRows(path: string): Promise<{ readonly neededUs: number; readonly allUs: number }> {
  const { Database } = await loadDriver()
  const database = new Database(path)
  const read = (sql: string, ...values: readonly unknown[]): number => {
    const statement = database.prepare(sql)
    const start = nowUs()
    for (const { body } of statement.all(...values)) JSON.parse(body as string)
    return nowUs() - start
  }
  const newest = database.prepare('select max(seq) as seq from snapshots').get()!['seq'] as number | null
  const neededUs =
    read('select body from snapshots where seq = ?', newest) +
    read('select body from commits where last_seq > ? order by first_seq', newest ?? 0)
  const allUs = read('select body from commits order by first_seq')
  database.close()
  return { neededUs, allUs }
}
