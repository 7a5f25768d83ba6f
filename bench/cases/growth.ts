import type { Case } from '../lib/case.ts'
import { mean, median, nowUs } from '../lib/measure.ts'
import { turnUs } from '../lib/peer.ts'
import { nowWarm } from '../lib/profiler.ts'
import { Script } from '../lib/script.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const STEPS = 1_000
const WARM_STEPS = 100
const WARM_TURNS = 12

export const growth: Case = {
  name: 'growth',
  title: `the last tenth of a turn of ${STEPS} steps against its first`,
  rounds: 5,
  unit: 'lastTenthUs',
  async measure({ quick, profile }) {
    const script = new Script()
    const ours = await turnstepPeer(script, { store: 'memory' })
    const plan = { steps: quick ? STEPS / 10 : STEPS }
    for (let turn = 0; turn < (quick ? 1 : WARM_TURNS); turn++) await turnUs(ours, script, { steps: WARM_STEPS })
    if (!quick) await turnUs(ours, script, plan)
    await nowWarm()
    const tenths: Tenths[] = []
    for (let rep = 0; rep < (quick ? 1 : profile ? 100 : 6); rep++) {
      const stamps: number[] = []
      script.onCall = () => stamps.push(nowUs())
      await turnUs(ours, script, plan)
      script.onCall = null
      tenths.push(tenthsOf(stamps))
    }
    await ours.close()
    return {
      memoryGrowth: median(tenths.map(({ first, last }) => median(last) / median(first))),
      memoryGrowthMean: median(tenths.map(({ first, last }) => mean(last) / mean(first))),
      firstTenthUs: median(tenths.map(({ first }) => median(first))),
      lastTenthUs: median(tenths.map(({ last }) => median(last))),
    }
  },
}

interface Tenths {
  readonly first: readonly number[]
  readonly last: readonly number[]
}

/** The times of the steps, from model call to model call, in the first and the last tenth of a turn. */
function tenthsOf(stamps: readonly number[]): Tenths {
  const took = stamps.slice(1).map((stamp, at) => stamp - stamps[at]!)
  const tenth = took.length / 10
  return { first: took.slice(0, tenth), last: took.slice(-tenth) }
}
