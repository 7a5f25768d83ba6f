/** Replies that were cut at the output limit, with calls in them: none runs, whether its arguments happen to be whole or not. */
import type { Message } from 'turnstep'
import { openDesk, refundTools, sayRequest, sayRest } from '../desk.ts'
import { textOf } from '../history.ts'
import type { Scenario } from '../rig.ts'
import { StandIn, type Said } from '../stand-in.ts'

/** The calls of the cut reply. */
const CUTS: Readonly<Record<string, (order: string) => readonly string[]>> = {
  'in the arguments': (order) => [`{"order":"${order}","amount":10`],
  'behind whole arguments': (order) => [`{"order":"${order}","amount":10}`],
  'in the second call': (order) => [`{"order":"${order}","amount":10}`, `{"order":"${order}","am`],
}

export const truncated: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const args = CUTS[job.variant!]!(job.order)
    const model = new StandIn((history) => cutOnce(history, args), { onRequest: sayRequest })
    const session = await desk.open({ model, tools: refundTools(job) })
    for (const text of ['go', 'again']) {
      await session.send(text)
      await sayRest(session)
    }
    await desk.harness.close()
  },

  async run(rig) {
    const jobs = Object.keys(CUTS).map((variant) => rig.firstJob('truncated', variant))
    const sessions = await rig.inLanes(jobs, async (job) => {
      const process = await rig.finish(job)
      return {
        variant: job.variant!,
        executed: Math.max(process.said('body').length, (await rig.ledger.refunds(job.order)).length),
        faults: process.said('request').flatMap((request) => request.faults),
        turns: process.said('rest').at(-1)!.turns.join(', then '),
      }
    })
    return {
      counts: {
        cutExecuted: sessions.reduce((sum, { executed }) => sum + executed, 0),
        invalid: sessions.filter(({ faults }) => faults.length > 0).length,
      },
      seen: `${sessions.length} cut replies; the turns ended ${[...new Set(sessions.map(({ turns }) => turns))].join(' | ')}`,
      wrong: sessions.flatMap(({ variant, executed, faults, turns }) => [
        ...(executed > 0 ? [`cut ${variant}: ${executed} bodies were run`] : []),
        ...faults.map((fault) => `cut ${variant}: ${fault}`),
        ...(turns === 'max-tokens, then completed' ? [] : [`cut ${variant}: the turns ended ${turns}`]),
      ]),
    }
  },
}

function cutOnce(history: readonly Message[], args: readonly string[]): Said {
  const isFirst = !history.some((message) => message.role === 'assistant')
  if (isFirst) return { calls: args.map((one) => ({ name: 'refund', args: one })), cut: true }
  const last = history.at(-1)
  return { text: last?.role === 'user' ? `To ${textOf(last.content)}: done.` : 'I could not finish.' }
}
