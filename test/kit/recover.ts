/** What comes after a crash: a log that ends somewhere, a lease whose owner is dead, and another process that goes on. */
import type { Event } from '../../src/kernel/events.ts'
import type { SessionId } from '../../src/kernel/ids.ts'
import { scriptedModel } from '../../src/models/scripted/index.ts'
import { agent } from '../../src/runtime/define/agent.ts'
import { balanceFaults, bodyFaults, callFaults, foldLog, inputFaults } from './invariants.ts'
import { postLater, seedLog } from '../../src/testing/sim/prefix.ts'
import { driveToRest } from '../../src/testing/sim/rest.ts'
import { setUpScenario } from './scenario/play.ts'
import { SpyModel } from './spy-model.ts'

export interface Recovery {
  readonly session: SessionId
  readonly events: readonly Event[]
  /** So many of them are in the log; the inputs that enter later are pending. */
  readonly cut: number
  /** The scenario whose tools and limits the agent has. */
  readonly setup: string
}

/** Lets a fresh process go on from a cut log, and then take another message. Answers with what is broken. */
export async function recover({ session, events, cut, setup }: Recovery): Promise<string[]> {
  const scenario = await setUpScenario(setup)
  const { world, tools } = scenario
  const before = events.slice(0, cut)
  await world.store.create(session)
  await seedLog(world, session, before)
  const posted = await postLater(world, session, events.slice(cut))
  tools.behaveAll({ kind: 'returns', text: 'done after the crash' })
  const model = new SpyModel(scriptedModel(() => ({ emit: [{ text: 'I go on' }] })))
  const process = world.start()
  const opened = await process.open(agent({ model, tools: tools.all, limits: scenario.limits }), session)
  await driveToRest(world, opened)
  const next = await opened.send('and now?', { id: 'afterwards' })
  await driveToRest(world, opened)
  const outcome = await world.within(next.outcome)
  const log = await opened.history()
  const { state, broken } = foldLog(log)
  const faults = [
    ...broken,
    ...(JSON.stringify(log.slice(0, cut)) === JSON.stringify(before) ? [] : ['L1: what was in the log was changed']),
    ...balanceFaults(state),
    ...callFaults(log),
    ...bodyFaults(log, tools.runs),
    ...(await inputFaults(world.store, session, log, [...posted, 'afterwards'])),
    ...model.complaints,
    ...(outcome.kind === 'completed' ? [] : [`the next message ended ${outcome.kind}`]),
  ]
  await scenario.end()
  return faults
}
