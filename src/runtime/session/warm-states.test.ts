import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../host/node.ts'
import type { Event } from '../../kernel/events.ts'
import { sessionId } from '../../kernel/ids.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
import { react } from '../../plugins/react/react.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { overStore } from '../../stores/over-store.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { agent } from '../define/agent.ts'
import type { Plugin } from '../define/plugin.ts'
import type { Store } from '../ports.ts'
import type { Session } from '../session.ts'
import { Harness } from './harness.ts'
import { WarmStates } from './warm-states.ts'

const SESSION = sessionId('s')

/** A store whose reading is counted: the events that were read of the session's log. */
function counted(): { readonly store: Store; readonly clock: FakeClock; eventsRead: number } {
  const clock = new FakeClock()
  const inner = memoryStore({ clock })
  const seen = { clock, eventsRead: 0 }
  const read: Store['read'] = async (...args) => {
    const answer = await inner.read(...args)
    // What is followed from the tail on is news, not the log; one event alone says under which lease it was written.
    if ((args[1]?.after ?? 0) === 0 && args[1]?.limit === undefined) seen.eventsRead += answer.events.length
    return answer
  }
  const store = overStore(inner, { read })
  return Object.assign(seen, { store })
}

function harnessOf(store: Store, clock: FakeClock, plugins: readonly Plugin[] = []): Harness {
  const ports = { store, clock, ids: nodeIds, random: { next: () => 0 }, loop: react, owner: 'a test' }
  return new Harness({ ...ports, resolveModel: () => scriptedModel([]) }, { plugins })
}

const talker = agent({ model: scriptedModel(() => ({ emit: [{ text: 'ok' }] })) })
const say = async (session: Session): Promise<string> => (await (await session.send('go')).outcome).kind

/** Counts the events that it has folded. */
function folding(): { readonly plugin: Plugin; count(): number } {
  let read: (session: typeof SESSION) => number = () => 0
  const plugin: Plugin = {
    name: 'counts',
    setup: (scope) => {
      const fold = scope.fold({ initial: 0, apply: (count: number, _event: Event) => count + 1 })
      read = (session) => fold.read(session)
    },
  }
  return { plugin, count: () => read(SESSION) }
}

describe('a session that rested here', () => {
  it('L3: goes on from its state, and reads no log, however many turns it had', async () => {
    const seen = counted()
    const { plugin, count } = folding()
    const harness = harnessOf(seen.store, seen.clock, [plugin])
    const session = await harness.open(talker, { session: SESSION })
    expect(await say(session)).toBe('completed')
    const { eventsRead } = seen
    for (let turn = 0; turn < 5; turn++) expect(await say(session)).toBe('completed')
    expect(seen.eventsRead).toBe(eventsRead)
    await session.settled()
    expect(count()).toBe((await session.history()).length)
    await harness.close()
  })

  it('L1: reads the log again where another went on with it', async () => {
    const { store, clock } = counted()
    const { plugin, count } = folding()
    const [here, there] = [harnessOf(store, clock, [plugin]), harnessOf(store, clock)]
    const session = await here.open(talker, { session: SESSION })
    expect(await say(session)).toBe('completed')
    await session.settled()
    const other = await there.open(talker, { session: SESSION })
    expect(await say(other)).toBe('completed')
    await other.settled()
    await other.close()
    expect(await say(session)).toBe('completed')
    await session.settled()
    const log = await session.history()
    expect(log.filter((event) => event.type === 'turn.ended')).toHaveLength(3)
    expect(count()).toBe(log.length)
    await here.close()
    await there.close()
  })

  it('is not taken for another of its name, though that has grown as long', async () => {
    const { store, clock } = counted()
    const [here, there] = [harnessOf(store, clock), harnessOf(store, clock)]
    const session = await here.open(talker, { session: SESSION })
    expect(await say(session)).toBe('completed')
    await session.settled()
    const { length } = await session.history()
    await there.remove(SESSION)
    const other = await there.open(talker, { session: SESSION })
    await (
      await other.send('something else')
    ).outcome
    await other.settled()
    await other.close()
    expect(await session.history()).toHaveLength(length)
    expect(await say(session)).toBe('completed')
    await session.settled()
    const context = await session.context()
    expect([...context.messages].map((message) => JSON.stringify(message)).join()).toContain('something else')
    await here.close()
    await there.close()
  })
})

describe('warm states', () => {
  const warm = { state: { turn: null }, agent: {}, version: 0, life: 1, snapshotAt: 0 } as never

  it('A3: are not kept of a session that waits in the middle of a turn', () => {
    const states = new WarmStates()
    states.keep(SESSION, { state: { turn: {} } } as never)
    expect(states.take(SESSION)).toBeNull()
  })

  it('are given once, and forgotten', () => {
    const states = new WarmStates()
    states.keep(SESSION, warm)
    expect(states.take(SESSION)).toBe(warm)
    expect(states.take(SESSION)).toBeNull()
    states.keep(SESSION, warm)
    states.forget(SESSION)
    expect(states.take(SESSION)).toBeNull()
  })

  it('are bounded: those that rested last are kept', () => {
    const states = new WarmStates()
    const ids = Array.from({ length: 17 }, (_, n) => sessionId(`s${n}`))
    for (const id of ids) states.keep(id, warm)
    expect(ids.filter((id) => states.take(id) === null)).toEqual([ids[0]])
  })
})
