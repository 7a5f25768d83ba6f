import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Case } from '../lib/case.ts'
import { turnUs, type Talk } from '../lib/peer.ts'
import { Script } from '../lib/script.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const SESSIONS = 1_000

export const idle: Case = {
  name: 'idle',
  title: `heap of an open session that rests: ${SESSIONS} of one harness, each after one turn of one step`,
  rounds: 3,
  async measure({ folder, quick, round }) {
    const sessions = quick ? 5 : SESSIONS
    return {
      idleHeapKb: await heapKb(join(folder, `idle-${round}.db`), sessions),
      // Here the logs of the sessions themselves are part of the heap.
      idleHeapMemoryKb: await heapKb('memory', sessions),
    }
  },
}

async function heapKb(store: string, sessions: number): Promise<number> {
  const script = new Script()
  const peer = await turnstepPeer(script, { store })
  for (let turn = 0; turn < Math.min(20, sessions); turn++) await turnUs(peer, script, { steps: 1 })
  const before = await settledHeap()
  const open: Talk[] = []
  for (let at = 0; at < sessions; at++) {
    const talk = await peer.open(`idle${at}`)
    script.plan({ steps: 1 })
    await talk.run('go')
    script.check()
    open.push(talk)
  }
  const bytes = (await settledHeap()) - before
  for (const talk of open.splice(0)) await talk.close()
  await peer.close()
  return bytes / sessions / 1024
}

/** The heap when nothing is left to collect. */
async function settledHeap(): Promise<number> {
  for (let pass = 0; pass < 4; pass++) {
    globalThis.gc?.()
    await wait(30)
  }
  return process.memoryUsage().heapUsed
}
