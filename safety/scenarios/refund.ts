/**
 * A refund, and `kill -9` at any moment of its turn: one in each of N slices of it, and some when the payment has arrived at the
 * ledger, stands in its books, or has been answered. Then the program is started again.
 */
import { openDesk, refundTools, sayRequest, sayRest, sendOnce } from '../desk.ts'
import type { Talker } from '../process.ts'
import { nameOf, PAYMENT, saidIn, type Moment, type Rig, type Scenario } from '../rig.ts'
import { refundOnce, StandIn } from '../stand-in.ts'
import type { Job, Line } from '../talk.ts'
import { judge, sum, tally, type Killed } from '../verdict.ts'

export const refund: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const model = new StandIn(refundOnce, { onRequest: sayRequest })
    const session = await desk.open({ model, tools: refundTools(job) })
    await sendOnce(job, session, `refund order ${job.order}`)
    await sayRest(session)
    await desk.harness.close()
  },

  async run(rig) {
    const { kills } = rig.options
    const spanMs = await rig.span(() => Promise.resolve(rig.firstJob('refund')))
    // A third as many again at the moments that matter most.
    const around = Array.from({ length: Math.ceil(kills / 3) }, (_, at) => PAYMENT[at % PAYMENT.length]!)
    const tasks = [...rig.slices(kills, spanMs), ...around].map((moment) => ({ moment, job: rig.firstJob('refund') }))
    const sessions = await rig.inLanes(tasks, ({ job, moment }) => killAndGoOn(rig, job, moment))
    const { counts, wrong } = sum(sessions)
    return {
      counts: { kills: sessions.length, ...counts },
      seen: `${sessions.length} kills over a turn of ${spanMs.toFixed(0)} ms: ${tally(sessions.map(({ stage }) => stage))}`,
      wrong,
    }
  },
}

async function killAndGoOn(rig: Rig, job: Job, moment: Moment): Promise<Killed & { readonly stage: string }> {
  const first = await rig.kill(job, moment)
  const isPaid = (await rig.ledger.refunds(job.order)).length > 0
  // A user who has no receipt sends again, under the same id.
  const second = await rig.finish({ ...job, life: 2, sends: first.said('sent').length === 0 })
  const { owed } = await second.says('found')
  const stage = stageOf(first, { isPaid, isOwed: owed.length > 0 })
  const session = {
    at: `${nameOf(moment)} (${stage})`,
    owed,
    told: [...new Set(second.said('request').flatMap(({ unknown }) => unknown))],
    faults: saidIn([first, second], 'request').flatMap(({ faults }) => faults),
    paid: await rig.ledger.refunds(job.order),
    rest: await second.says('rest'),
    stage,
  }
  if (Object.keys(judge(session)).length === 0) rig.forget(job)
  return session
}

/** Where the turn stood when its process died. */
function stageOf(
  life: Talker<Line>,
  { isPaid, isOwed }: { readonly isPaid: boolean; readonly isOwed: boolean },
): string {
  if (life.said('rest').length > 0) return 'at rest'
  if (isPaid) return isOwed ? 'paid and not recorded' : 'recorded'
  if (isOwed) return 'started and not paid'
  if (life.said('request').length > 0) return 'with the model'
  return life.said('sent').length > 0 ? 'acknowledged' : 'not acknowledged'
}
