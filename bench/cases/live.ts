import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHarness, sqliteStore, type Event, type SessionId } from 'turnstep'
import type { Case } from '../lib/case.ts'
import { nowUs } from '../lib/measure.ts'
import { Script } from '../lib/script.ts'
import { settleFile } from '../lib/sqlite.ts'
import { scriptedAgent, turnstepPeer } from '../lib/turnstep.ts'

const EVENTS = 100_000
/** Steps of the turn of which the log is made; and of the last turn, which is not compacted. */
const STEPS = 25
const LAST_STEPS = 46
/** A message that opens a turn, two for each step, a reply. */
const MESSAGES_PER_TURN = 2 + 2 * STEPS
/** What is in the context when the session is resumed. */
const LIVE = 2 * MESSAGES_PER_TURN + 4 + (2 + 2 * LAST_STEPS)
const SESSION = 'live' as SessionId

export const live: Case = {
  name: 'live',
  title: `a fresh process opens a session of ${EVENTS} events, most of them compacted away, and sends a message; until the model is called with ${LIVE} messages`,
  rounds: 7,
  async prepare({ folder, quick }) {
    const path = seed(folder)
    await writeLog(path, quick ? EVENTS / 50 : EVENTS)
    // From here on it is turnstep that works: it reads the whole log once, and writes the snapshot that spares the next one that.
    for (const steps of [1, LAST_STEPS]) {
      const script = new Script()
      const peer = await turnstepPeer(script, { store: path })
      const talk = await peer.open(SESSION)
      script.plan({ steps })
      await talk.run('go')
      await talk.close()
      await peer.close()
    }
    await settleFile(path)
  },
  async measure({ folder, round }) {
    const path = join(folder, `${round}.db`)
    copyFileSync(seed(folder), path)
    const script = new Script()
    const peer = await turnstepPeer(script, { store: path })
    let called = 0
    script.onCall = () => (called = nowUs())
    script.plan({})
    const start = nowUs()
    const talk = await peer.open(SESSION)
    await talk.run('go on')
    script.check({ history: LIVE })
    await peer.close()
    return { liveResumeMs: (called - start) / 1000 }
  },
}

const seed = (folder: string): string => join(folder, 'seed.db')

/**
 * A long log with a short context. Its turns are copies of one that turnstep ran. Before each of them stands what a compaction
 * records; this version has no summariser that would, but folds the fact.
 */
async function writeLog(path: string, events: number): Promise<void> {
  const { first, second } = await twoTurns()
  const store = await sqliteStore({ path })
  await store.create(SESSION)
  const lease = await store.acquire(SESSION, { owner: 'bench', ttlMs: 60_000 })
  if (lease.kind !== 'acquired') throw new Error(`the lease is ${lease.kind}`)
  let tail = 0
  for (let turn = 1; tail < events; turn++) {
    const bodies = turn === 1 ? first : turn === 2 ? second : compactedTurn(second, turn)
    const stamped = bodies.map((event, at): Event => ({ ...event, seq: tail + at + 1, fence: lease.fence }))
    const { fence } = lease
    const answer = await store.append({ session: SESSION, fence, tail, events: stamped, consume: [] })
    if (answer.kind !== 'appended') throw new Error(`the append was refused: ${answer.kind}`)
    tail = answer.tail
  }
  await store.release(SESSION, lease.fence, { wake: ['control', 'steer', 'followup'] })
  await store.close()
}

/** The events of a session of two turns. */
async function twoTurns(): Promise<{ readonly first: readonly Event[]; readonly second: readonly Event[] }> {
  const script = new Script()
  const harness = await createHarness({ store: 'memory' })
  const session = await harness.open(scriptedAgent(script), { session: SESSION })
  for (let turn = 1; turn <= 2; turn++) {
    script.plan({ steps: STEPS })
    await (
      await session.send('go')
    ).outcome
  }
  const events = await session.history()
  await harness.close()
  return { first: events.filter(({ turn }) => turn < 2), second: events.filter(({ turn }) => turn === 2) }
}

/** The second turn as the turn `n`: what was said before the last turn is summarised first, so that it finds as long a context. */
function compactedTurn(second: readonly Event[], n: number): readonly Event[] {
  const [started, ...rest] = second.map((event): Event => copyOf(event, n))
  const { at, fence } = started!
  return [
    started!,
    {
      type: 'context.compacted',
      upTo: MESSAGES_PER_TURN + 1,
      summary: [{ type: 'text', text: 'So far: as before.' }],
      usage: { known: true, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
      ...{ seq: 0, at, fence, turn: n, step: 0 },
    },
    ...rest,
  ]
}

/** The same event in another turn: ids of inputs and calls do not repeat. */
function copyOf(event: Event, turn: number): Event {
  const text = JSON.stringify({ ...event, turn, ...('input' in event ? { input: `${event.input}-${turn}` } : {}) })
  return JSON.parse(text.replaceAll(/"t2s(\d+c\d+)"/g, `"t${turn}s$1"`)) as Event
}
