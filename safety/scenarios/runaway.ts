/** A model that never stops calling, under the default limits: another call each time, and the same one each time. */
import type { Message } from 'turnstep'
import { openDesk, refundTools, say, sayRequest } from '../desk.ts'
import type { Scenario } from '../rig.ts'
import { call, resultsOf, StandIn, type Said } from '../stand-in.ts'

/** Calls after which the model gives up, so that the run ends whatever happens. */
const CALLS_MAX = 200

/** How a turn of such calls has to end. */
const ENDS: Readonly<Record<string, string>> = { other: 'step-limit', same: 'stuck' }

interface Result {
  readonly outcome: { readonly kind: string; readonly steps?: number; readonly how?: string }
  readonly modelCalls: number
  /** How the turn after it ended. */
  readonly next: string
}

export const runaway: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    let isTold = false
    const decide = (history: readonly Message[]): Said => {
      const n = resultsOf(history, 'note').length
      if (isTold || n >= CALLS_MAX) return { text: 'Done.' }
      return { calls: [call('note', { text: job.variant === 'same' ? 'same' : `note ${n}` })] }
    }
    const model = new StandIn(decide, { latencyMs: 0, onRequest: sayRequest })
    const session = await desk.open({ model, tools: refundTools(job) })
    const outcome = await (await session.send('go')).outcome
    const modelCalls = model.histories.length
    isTold = true
    const next = (await (await session.send('stop that')).outcome).kind
    await desk.harness.close()
    const result: Result = { outcome, modelCalls, next }
    say({ what: 'result', result })
  },

  async run(rig) {
    const all = await rig.inLanes(Object.keys(ENDS), async (variant) => {
      const process = await rig.finish(rig.firstJob('runaway', variant))
      const faults = process.said('request').flatMap((request) => request.faults)
      return { variant, faults, ...((await process.says('result')).result as Result) }
    })
    const stopped = all.find(({ variant }) => variant === 'other')
    return {
      counts: {
        ...(stopped === undefined ? {} : { defaultStop: stopped.outcome.steps ?? stopped.modelCalls }),
        invalid: all.filter(({ faults }) => faults.length > 0).length,
      },
      seen: all
        .map(({ variant, outcome, modelCalls }) => `${variant} calls: ${outcome.kind} after ${modelCalls} model calls`)
        .join('; '),
      wrong: all.flatMap(({ variant, outcome, faults, next }) => [
        ...faults,
        ...(outcome.kind === ENDS[variant] ? [] : [`${variant} calls: ended ${JSON.stringify(outcome)}`]),
        ...(next === 'completed' ? [] : [`${variant} calls: the turn after it ended ${next}`]),
      ]),
    }
  },
}
