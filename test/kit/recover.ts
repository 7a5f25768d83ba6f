/** What comes after a crash: a log that ends somewhere, a lease whose owner is dead, and another process that goes on. */
import type { Event, EventOf } from '../../src/kernel/events.ts'
import type { SessionId } from '../../src/kernel/ids.ts'
import { scriptedModel } from '../../src/models/scripted/index.ts'
import { agent } from '../../src/runtime/define/agent.ts'
import { balanceFaults, bodyFaults, callFaults, foldLog, inputFaults } from './invariants.ts'
import { driveToRest } from './rest.ts'
import { setUpScenario } from './scenario/play.ts'
import { SpyModel } from './spy-model.ts'
import { LEASE_MS, type World } from './world.ts'

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
  await seed(world, session, before)
  const posted = await postAll(world, session, events.slice(cut))
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

/** Writes a log as its runners did, one lease after the other, and leaves the last of them behind. */
async function seed(world: World, session: SessionId, events: readonly Event[]): Promise<void> {
  const { store, clock } = world
  await store.create(session)
  let tail = 0
  for (const fence of new Set(events.map((event) => event.fence))) {
    await acquire(world, session, fence)
    const written = events.filter((event) => event.fence === fence)
    const appended = await store.append({ session, fence, tail, events: written, consume: [] })
    if (appended.kind !== 'appended') throw new Error(`not seeded: ${appended.kind}`)
    tail = appended.tail
  }
  await clock.advance(Math.max(0, (events.at(-1)?.at ?? 0) - clock.now()) + LEASE_MS)
}

async function acquire({ store, clock }: World, session: SessionId, fence: number): Promise<void> {
  for (;;) {
    await clock.advance(1)
    const lease = await store.acquire(session, { owner: 'the dead', ttlMs: 1 })
    if (lease.kind !== 'acquired') throw new Error(`not acquired: ${lease.kind}`)
    if (lease.fence === fence) return
  }
}

async function postAll({ store }: World, session: SessionId, later: readonly Event[]): Promise<string[]> {
  const entering = later.filter((event): event is EventOf<'input.entered'> => event.type === 'input.entered')
  const fromPeople = entering.filter(({ origin }) => origin.kind === 'user' || origin.kind === 'steer')
  for (const { input: id, lane, origin, content } of fromPeople) await store.put(session, { id, lane, origin, content })
  return fromPeople.map((event) => event.input)
}
