/**
 * Reasoning and opaque state of a reply, full of characters that a careless copy spoils: they come back byte for byte in the same
 * process, after a kill inside the tool that the reply called, and after a kill at rest.
 */
import type { Message } from 'turnstep'
import { openDesk, say, sayRequest, sayRest, sendOnce, slowTool } from '../desk.ts'
import { saidIn, type Scenario } from '../rig.ts'
import { call, StandIn } from '../stand-in.ts'

const REASONING = 'I think  “so”\n\n\t— 先查账，再退款 🙂\u00a0\u200b\u2028 \\u0000 '
const STATE = `EqQBCkYIB+/=é"\\"\\u0000\u0000\u2028\u2029\ud800 {"signature":"${'x'.repeat(2_000)}=="}\r\n `

export const reasoning: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const model = new StandIn(
      (history) =>
        history.some((message) => message.role === 'tool')
          ? { text: 'Done.' }
          : { reasoning: REASONING, replay: STATE, calls: [call('work', {})] },
      {
        onRequest: (history) => {
          sayRequest(history)
          const result = history.flatMap(changesOf)
          if (result.length > 0) say({ what: 'result', result })
        },
      },
    )
    const session = await desk.open({ model, tools: [slowTool('work', { ms: () => 100, effect: 'read' })] })
    await sendOnce(job, session, 'go')
    await sayRest(session)
    if (job.stays !== true) {
      await session.send('again')
      await sayRest(session)
    }
    await desk.harness.close()
  },

  async run(rig) {
    const sessions = await rig.inLanes(['in one process', 'killed in the tool', 'killed at rest'], async (variant) => {
      const job = rig.firstJob('reasoning', variant)
      const lives = []
      if (variant !== 'in one process') {
        const first = rig.start({ ...job, stays: true })
        await first.says(variant === 'killed in the tool' ? 'body' : 'rest')
        await first.kill()
        lives.push(first)
      }
      lives.push(await rig.finish({ ...job, life: lives.length + 1, sends: lives.length === 0 }))
      return {
        variant,
        kills: lives.length - 1,
        seen: saidIn(lives, 'result').flatMap(({ result }) => result as string[]),
        faults: saidIn(lives, 'request').flatMap((request) => request.faults),
      }
    })
    const changed = sessions.flatMap(({ variant, seen }) =>
      (seen.length === 0 ? ['never came back'] : seen.filter((text) => text !== 'same')).map(
        (text) => `${variant}: ${text}`,
      ),
    )
    return {
      counts: {
        kills: sessions.reduce((sum, { kills }) => sum + kills, 0),
        reasoningChanged: changed.length,
        invalid: sessions.filter(({ faults }) => faults.length > 0).length,
      },
      seen: `came back ${sessions.reduce((sum, { seen }) => sum + seen.length, 0)} times, ${changed.length} times changed`,
      wrong: [...changed, ...sessions.flatMap(({ faults }) => faults)],
    }
  },
}

/** Of the reply with the reasoning: `same`, or what is not. */
function changesOf(message: Message): string[] {
  if (message.role !== 'assistant' || message.calls.length === 0) return []
  const thought = message.parts.find((part) => part.type === 'reasoning')?.text
  if (thought !== REASONING) return [`the reasoning is ${JSON.stringify(thought)}`]
  return message.replay?.state === STATE ? ['same'] : [`the state is ${JSON.stringify(message.replay?.state)}`]
}
