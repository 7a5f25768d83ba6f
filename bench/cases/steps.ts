import { barePeer } from '../lib/bare.ts'
import type { Case, Figures } from '../lib/case.ts'
import { inPairs, mean, median, nowUs, workedUs, type Pair } from '../lib/measure.ts'
import { turnUs } from '../lib/peer.ts'
import { Script } from '../lib/script.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const STEPS = 100
/** As many as the side-by-side allows its peers: much of the code is not compiled yet. */
const FEW_TURNS = 12
/** Until a step gets no cheaper: what a process costs that has run for a second. */
const WARM_TURNS = 250
/** A bare turn is short: so many are one repetition of it. */
const BARE_TURNS = 20

export const steps: Case = {
  name: 'steps',
  title: `a step in memory, ${STEPS} in a turn: one model call, one tool call`,
  rounds: 5,
  unit: 'memoryStepUs',
  async measure({ quick, profile }) {
    const script = new Script()
    const bareScript = new Script()
    const ours = await turnstepPeer(script, { store: 'memory' })
    const bare = barePeer(bareScript)
    const plan = { steps: STEPS }
    const oursUs = async (clock = nowUs): Promise<number> => (await turnUs(ours, script, plan, { clock })) / STEPS
    const bareUs = async (clock = nowUs): Promise<number> => {
      let us = 0
      for (let turn = 0; turn < BARE_TURNS; turn++) us += await turnUs(bare, bareScript, plan, { clock })
      return us / BARE_TURNS / STEPS
    }
    for (let turn = 0; turn < (quick ? 2 : FEW_TURNS); turn++) await oursUs()
    for (let rep = 0; rep < (quick ? 2 : 20); rep++) await bareUs()
    const early = await inPairs(oursUs, bareUs, { reps: quick ? 2 : 12, budgetMs: 5_000 })
    for (let turn = 0; turn < (quick ? 2 : WARM_TURNS); turn++) await oursUs()
    const pair = await inPairs(oursUs, bareUs, { reps: quick ? 2 : profile ? 2_000 : 60, budgetMs: 5_000 })
    const worked = workedUs
    const work =
      worked === null || quick
        ? {}
        : workOf(
            await inPairs(
              () => oursUs(worked),
              () => bareUs(worked),
              { reps: 40, budgetMs: 3_000 },
            ),
          )
    await ours.close()
    return {
      memoryStepRatio: pair.ratio,
      memoryStepUs: median(pair.subject),
      bareStepUs: median(pair.floor),
      memoryStepEarlyRatio: early.ratio,
      // Where the machine is shared, the quickest repetitions and the work of the thread say most about the code.
      memoryStepBestRatio: Math.min(...pair.subject) / Math.min(...pair.floor),
      memoryStepBestUs: Math.min(...pair.subject),
      ...work,
    }
  },
}

/** Means, not medians: systems count the work of a thread in ticks of up to 4 ms, of which a repetition has few. */
function workOf({ subject, floor }: Pair): Figures {
  return { memoryStepWorkRatio: mean(subject) / mean(floor), memoryStepWorkUs: mean(subject) }
}
