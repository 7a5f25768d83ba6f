import { join } from 'node:path'
import type { Case } from '../lib/case.ts'
import { mean } from '../lib/measure.ts'
import { turnUs } from '../lib/peer.ts'
import { Script, type Plan } from '../lib/script.ts'
import { loadDriver, type RawDatabase } from '../lib/sqlite.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const STEPS = 1_000
/** What a step of a coding agent may carry. */
const CHARS = { text: 200, args: 300, result: 1_500 }

export const bytes: Case = {
  name: 'bytes',
  title: `bytes of the file per step over the payload, ${STEPS} in a turn`,
  // What is written does not depend on the machine.
  rounds: 1,
  async measure({ folder, quick }) {
    const steps = quick ? STEPS / 50 : STEPS
    const small = await overheads(join(folder, 'small.db'), { steps })
    const large = await overheads(join(folder, 'large.db'), { steps, chars: CHARS })
    return {
      bytesPerStep: small.all,
      bytesPerStepLarge: large.all,
      bytesGrowth: small.secondHalf / small.firstHalf,
    }
  },
}

interface Overheads {
  readonly all: number
  readonly firstHalf: number
  readonly secondHalf: number
}

/** What a step costs beyond the characters of its reply, arguments and results, all of which are ASCII. */
async function overheads(path: string, plan: Plan & { readonly steps: number }): Promise<Overheads> {
  const script = new Script()
  const peer = await turnstepPeer(script, { store: path })
  const { Database } = await loadDriver()
  const database = new Database(path)
  const tenths: number[] = []
  const every = plan.steps / 10
  let calls = 0
  let before = { size: 0, payload: 0 }
  script.onCall = () => {
    if (calls++ % every !== 0) return
    const now = { size: sizeOf(database), payload: script.payload }
    if (calls > 1) tenths.push((now.size - before.size - (now.payload - before.payload)) / every)
    before = now
  }
  await turnUs(peer, script, plan)
  database.close()
  await peer.close()
  return { all: mean(tenths), firstHalf: mean(tenths.slice(0, 5)), secondHalf: mean(tenths.slice(5)) }
}

/** Bytes of the file when the write-ahead log is back in it. */
function sizeOf(database: RawDatabase): number {
  const { pages, size } = database
    .prepare('select page_count as pages, page_size as size from pragma_page_count, pragma_page_size')
    .get() as { readonly pages: number; readonly size: number }
  return pages * size
}
