/**
 * Steers at any moment: while a tool runs, while the model answers, while it gives its last answer. Each has to be in the very next
 * request, once; where nothing was going on when it became durable, a request may have been on its way.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Message } from 'turnstep'
import { Chance } from '../../src/testing/sim/chance.ts'
import { openDesk, say, slowTool, type Desk } from '../desk.ts'
import { faultsOf, textOf } from '../history.ts'
import type { Scenario } from '../rig.ts'
import { call, resultsOf, StandIn, type Said } from '../stand-in.ts'
import { judgeSteer, type Steered } from '../verdict.ts'

const STEERS = 60
const TOOL_MS = 30
const LATENCY_MS = 20
const MOMENTS = ['tool', 'model', 'last answer'] as const

type SteerMoment = (typeof MOMENTS)[number]

export const steer: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const chance = new Chance(job.seed)
    const result: Steered[] = []
    for (let n = 0; n < STEERS; n++) result.push(await steerOnce(desk, n, chance))
    await desk.harness.close()
    say({ what: 'result', result })
  },

  async run(rig) {
    const process = await rig.finish(rig.firstJob('steer'))
    const steers = (await process.says('result')).result as Steered[]
    const late = steers.map(judgeSteer).filter((text) => text !== '')
    const invalid = steers.filter(({ faults }) => faults.length > 0)
    return {
      counts: { steersLate: late.length, invalid: invalid.length },
      seen: `${steers.length} steers, ${steers.filter((one) => one.wasBusy).length} of them durable while a tool or the model was at work`,
      wrong: [...late, ...invalid.map(({ faults }) => faults.join('; '))],
    }
  },
}

async function steerOnce(desk: Desk, n: number, chance: Chance): Promise<Steered> {
  const moment = MOMENTS[n % MOMENTS.length]!
  const lead = { ms: chance.next() * (moment === 'tool' ? TOOL_MS : LATENCY_MS), tell: () => {} }
  const come = new Promise<void>((resolve) => (lead.tell = resolve))
  let isRunning = false
  const onBody = (running: boolean): void => {
    isRunning = running
    if (running && moment === 'tool') lead.tell()
  }
  const onRequest = (history: readonly Message[]): void => {
    if (moment !== 'tool' && resultsOf(history, 'work').length === RESULTS_AT[moment]) lead.tell()
  }
  const model = new StandIn(workTwice, { latencyMs: LATENCY_MS, onRequest })
  const tools = [slowTool('work', { ms: () => TOOL_MS, onBody })]
  const session = await desk.open({ model, tools, session: `steer${n}` })
  const turn = await session.send('go')
  await come
  await wait(lead.ms)
  const tag = `steer number ${n}!`
  await session.steer(tag)
  const durable = { requests: model.histories.length, wasBusy: isRunning || model.isSpeaking }
  await session.settled()
  const end = (await turn.outcome).kind
  await session.close()
  return {
    ...durable,
    counts: model.histories.map((history) => countOf(tag, history)),
    faults: model.histories.flatMap(faultsOf),
    end,
  }
}

/** How many results stand in the request during which the steer comes. */
const RESULTS_AT: Readonly<Record<Exclude<SteerMoment, 'tool'>, number>> = { model: 1, 'last answer': 2 }

function workTwice(history: readonly Message[]): Said {
  const done = resultsOf(history, 'work').length
  return done < 2 ? { calls: [call('work', { part: done + 1 })] } : { text: 'Done.' }
}

function countOf(tag: string, history: readonly Message[]): number {
  return history.filter((message) => message.role === 'user' && textOf(message.content).includes(tag)).length
}
