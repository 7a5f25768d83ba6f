/**
 * A refund that a person has to approve, with two kills: the first on the way to the question, the second anywhere between the
 * opening by the one who approves and the end of the turn, every other time inside the approved tool. A third process brings it
 * to its end, and tries to approve once more what was approved before.
 */
import type { Session } from 'turnstep'
import { openDesk, refundTools, say, sayRequest, sayRest, sendOnce } from '../desk.ts'
import { nameOf, PAYMENT, saidIn, type Moment, type Rig, type Scenario } from '../rig.ts'
import { refundOnce, StandIn } from '../stand-in.ts'
import type { Job } from '../talk.ts'
import { judge, sum, type Killed } from '../verdict.ts'

/** One, and one for each refund that the model asked for anew since it turned out not to have been made. */
const QUESTIONS_MAX = 5

export const approve: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const model = new StandIn(refundOnce, { onRequest: sayRequest })
    const session = await desk.open({ model, tools: refundTools(job, { approval: true }) })
    await sendOnce(job, session, `refund order ${job.order}`)
    if (job.life > 1) await approveAll(session)
    if (job.life > 2) await approveOnceMore(session)
    await sayRest(session)
    await desk.harness.close()
  },

  async run(rig) {
    const askedMs = await rig.span(() => Promise.resolve(rig.firstJob('approve')))
    const answeredMs = await rig.span(async () => {
      const job = rig.firstJob('approve')
      await rig.finish(job)
      return { ...job, life: 2, sends: false }
    })
    const firsts = rig.slices(Math.ceil(rig.options.kills / 2), askedMs)
    const slices = rig.slices(Math.ceil(firsts.length / 2), answeredMs)
    const tasks = firsts.map((first, at) => ({
      job: rig.firstJob('approve'),
      first,
      second: at % 2 === 0 ? slices[at / 2]! : PAYMENT[((at - 1) / 2) % PAYMENT.length]!,
    }))
    const sessions = await rig.inLanes(tasks, (task) => killTwice(rig, task))
    const { counts, wrong } = sum(sessions)
    const kills = 2 * sessions.length
    return {
      counts: { kills, ...counts, approvalsWrong: sessions.filter((one) => judge(one).approval !== undefined).length },
      seen: `${kills} kills in ${sessions.length} sessions, ${counts.unknownOwed} of them inside the approved tool`,
      wrong,
    }
  },
}

/** The person: says yes to every question. */
async function approveAll(session: Session): Promise<void> {
  for (let n = 0; n < QUESTIONS_MAX; n++) {
    const status = await session.settled()
    if (status.kind !== 'waiting') return
    for (const { call } of status.asks) {
      say({ what: 'asked', call })
      await session.approve(call, { id: `yes-${call}` })
    }
  }
  throw new Error(`it asks more than ${QUESTIONS_MAX} times`)
}

async function approveOnceMore(session: Session): Promise<void> {
  for (const event of await session.history()) {
    if (event.type !== 'call.approval-decided') continue
    const receipt = await session.approve(event.call)
    say({ what: 'once-more', state: (await receipt.settled).kind })
  }
}

async function killTwice(
  rig: Rig,
  { job, first, second }: { readonly job: Job; readonly first: Moment; readonly second: Moment },
): Promise<Killed> {
  const one = await rig.kill(job, first)
  const early = await rig.ledger.refunds(job.order)
  const two = await rig.kill({ ...job, life: 2, sends: one.said('sent').length === 0 }, second)
  const three = await rig.finish({ ...job, life: 3, sends: saidIn([one, two], 'sent').length === 0 })
  const found = await three.says('found')
  const session: Killed = {
    at: `${nameOf(first)}, and again ${nameOf(second)}`,
    owed: found.owed,
    told: [...new Set(three.said('request').flatMap(({ unknown }) => unknown))],
    faults: saidIn([one, two, three], 'request').flatMap(({ faults }) => faults),
    paid: await rig.ledger.refunds(job.order),
    rest: await three.says('rest'),
    approval: {
      early,
      askedAgain: three.said('asked').flatMap(({ call }) => (found.decided.includes(call) ? [call] : [])),
      onceMore: three.said('once-more').map(({ state }) => state),
    },
  }
  if (Object.keys(judge(session)).length === 0) rig.forget(job)
  return session
}
