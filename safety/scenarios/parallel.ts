/** Three calls at once, the last done first and the middle one failing: three results, in the order of the calls. */
import type { Message } from 'turnstep'
import { openDesk, say, sayRequest, slowTool } from '../desk.ts'
import { textOf } from '../history.ts'
import type { Scenario } from '../rig.ts'
import { call, StandIn } from '../stand-in.ts'

const CALLS = [
  { part: 'a', ms: 60 },
  { part: 'b', ms: 30 },
  { part: 'c', ms: 5 },
]
const WANTED = ['work done', 'Error: boom', 'work done']

interface Result {
  readonly texts: readonly string[]
  readonly end: string
}

export const parallel: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const model = new StandIn(
      (history) =>
        results(history).length > 0 ? { text: 'Done.' } : { calls: CALLS.map((args) => call('work', args)) },
      { onRequest: sayRequest },
    )
    const work = slowTool('work', {
      ms: ({ ms }) => Number(ms),
      throws: ({ part }) => part === 'b',
      effect: 'read',
    })
    const session = await desk.open({ model, tools: [work] })
    const turn = await session.send('go')
    const end = (await turn.outcome).kind
    await desk.harness.close()
    const result: Result = { texts: results(model.histories.at(-1)!), end }
    say({ what: 'result', result })
  },

  async run(rig) {
    const process = await rig.finish(rig.firstJob('parallel'))
    const { texts, end } = (await process.says('result')).result as Result
    const faults = process.said('request').flatMap((request) => request.faults)
    const isRight = texts.join() === WANTED.join() && end === 'completed' && faults.length === 0
    return {
      counts: { invalid: isRight ? 0 : 1 },
      seen: `results in the order of the calls: ${texts.join(' | ')}`,
      wrong: isRight ? [] : [`${texts.join(' | ')}; the turn ended ${end}; ${faults.join('; ')}`],
    }
  },
}

function results(history: readonly Message[]): string[] {
  return history.flatMap((message) => (message.role === 'tool' ? [textOf(message.content)] : []))
}
