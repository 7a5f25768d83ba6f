import { barePeer } from '../lib/bare.ts'
import type { Case } from '../lib/case.ts'
import { inPairs, median } from '../lib/measure.ts'
import { turnUs } from '../lib/peer.ts'
import { Script, WAIT_MS } from '../lib/script.ts'
import { turnstepPeer } from '../lib/turnstep.ts'

const CALLS = 20

export const parallel: Case = {
  name: 'parallel',
  title: `one step with ${CALLS} tool calls of ${WAIT_MS} ms at once; over the bare loop, which just waits for all`,
  rounds: 5,
  unit: 'parallelUs',
  async measure({ quick, profile }) {
    const script = new Script()
    const bareScript = new Script()
    const ours = await turnstepPeer(script, { store: 'memory' })
    const bare = barePeer(bareScript)
    const plan = { steps: 1, width: CALLS, tool: 'wait' } as const
    const oursUs = (): Promise<number> => turnUs(ours, script, plan)
    const bareUs = (): Promise<number> => turnUs(bare, bareScript, plan)
    for (let turn = 0; turn < (quick ? 2 : 50); turn++) {
      await oursUs()
      await bareUs()
    }
    const { subject, floor } = await inPairs(oursUs, bareUs, {
      reps: quick ? 2 : profile ? 1_000 : 60,
      budgetMs: profile ? 10_000 : 3_000,
    })
    await ours.close()
    return {
      parallelOverMs: median(subject.map((us, rep) => us - floor[rep]!)) / 1000,
      parallelMs: median(subject) / 1000,
      parallelUs: median(subject),
    }
  },
}
