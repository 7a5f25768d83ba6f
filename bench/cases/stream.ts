import { barePeer } from '../lib/bare.ts'
import type { Case, CaseOptions, Figures } from '../lib/case.ts'
import { inPairs, median, type Pair } from '../lib/measure.ts'
import { turnUs } from '../lib/peer.ts'
import { Script } from '../lib/script.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const FEW = 1_000
const MANY = 10_000
const WARM_DELTAS = 500

export const stream: Case = {
  name: 'stream',
  title: `a delta, of ${FEW} and of ${MANY} in one reply, each seen by the caller`,
  rounds: 5,
  unit: 'deltaUs',
  async measure(options): Promise<Figures> {
    const few = await measureDeltas(FEW, options)
    const many = await measureDeltas(options.quick ? FEW : MANY, options)
    return {
      deltaRatio: many.ratio,
      // A tenth of the deltas, and all of a turn's own cost spread over them.
      deltaRatio1000: few.ratio,
      deltaUs: median(many.subject),
      bareDeltaUs: median(many.floor),
    }
  },
}

/** The time of one delta, ours and bare. */
async function measureDeltas(deltas: number, { quick, profile }: CaseOptions): Promise<Pair> {
  const script = new Script()
  const bareScript = new Script()
  const ours = await turnstepPeer(script, { store: 'memory', stream: true })
  const bare = barePeer(bareScript, { stream: true })
  for (let turn = 0; turn < (quick ? 1 : 4); turn++) {
    await turnUs(ours, script, { deltas: WARM_DELTAS }, { deltas: true })
    await turnUs(bare, bareScript, { deltas }, { deltas: true })
  }
  const pair = await inPairs(
    async () => (await turnUs(ours, script, { deltas }, { deltas: true })) / deltas,
    async () => (await turnUs(bare, bareScript, { deltas }, { deltas: true })) / deltas,
    { reps: quick ? 2 : profile ? 2_000 : 8, budgetMs: 4_000 },
  )
  await ours.close()
  return pair
}
