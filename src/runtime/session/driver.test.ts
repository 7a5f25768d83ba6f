import { describe, expect, it } from 'vitest'
import { Tools } from '../../../test/kit/tools.ts'
import { useWorlds, type World } from '../../../test/kit/world.ts'
import type { Loop } from '../../kernel/effects.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import { sessionId } from '../../kernel/ids.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
import { react } from '../../plugins/react/react.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { agent, type AgentSpec } from '../define/agent.ts'
import type { Plugin, Scope } from '../define/plugin.ts'
import type { SyncPoints } from '../sync-points.ts'

const worldOf = useWorlds()
const says = (): ReturnType<typeof scriptedModel> => scriptedModel(() => ({ emit: [{ text: 'ok' }] }))
const plugin = (name: string, setup: (scope: Scope) => void): Plugin => ({ name, setup })

const typesOf = async (world: World): Promise<string[]> =>
  (await world.store.read(sessionId('s'))).events.map((event) => event.type)

/** A loop that is broken while `broken`, and counts how often it was. */
function brokenLoop(fault = (): Error => new TypeError('a bug in the loop')): {
  readonly loop: Loop
  readonly seen: { broken: boolean; faults: number }
} {
  const seen = { broken: true, faults: 0 }
  const next: Loop['next'] = (view) => {
    if (!seen.broken) return react.next(view)
    seen.faults++
    throw fault()
  }
  return { loop: { name: 'broken', next }, seen }
}

/** A section of the system text that cannot be made while `broken`. */
function brokenSection(): { readonly plugin: Plugin; readonly seen: { broken: boolean } } {
  const seen = { broken: true }
  const text = (): string => {
    if (seen.broken) throw new Error('the section broke')
    return 'Be brief.'
  }
  return { plugin: plugin('sections', (scope) => scope.section({ name: 'a', text })), seen }
}

describe('after a runner stopped on a fault that does not pass', () => {
  it('W3: what is sent later is driven, and completes', async () => {
    const world = worldOf()
    const { loop, seen } = brokenLoop()
    const session = await world.start().open(agent({ model: says(), loop }))
    await world.settle()
    seen.broken = false
    const turn = await session.send('hello')
    expect(await world.within(turn.outcome)).toMatchObject({ kind: 'completed' })
  })

  it('W3: that happened in a turn, the next input has that turn go on', async () => {
    const world = worldOf()
    const broken = brokenSection()
    const session = await world.start().open(agent({ model: says(), plugins: [broken.plugin] }))
    const first = await session.send('one')
    await expect(world.within(first.outcome)).rejects.toThrow('the section broke')
    broken.seen.broken = false
    const second = await session.send('two')
    expect(await world.within(second.outcome)).toMatchObject({ kind: 'completed' })
    expect(await world.within(first.outcome.catch(() => first.state()))).toMatchObject({ kind: 'entered', turn: 1 })
    expect((await session.context()).system).toBe('Be brief.')
  })

  it('W3: nothing is tried while nothing new comes, and each input is tried once', async () => {
    const world = worldOf()
    const { loop, seen } = brokenLoop(() => new TurnstepError('loop-stalled', 'it turns in circles'))
    const session = await world.start().open(agent({ model: says(), loop }))
    for (const faults of [1, 2, 3]) {
      await world.clock.advance(600_000)
      expect(seen.faults).toBe(faults)
      await session.send('hello')
    }
    await world.clock.advance(600_000)
    expect(seen.faults).toBe(4)
    expect(await typesOf(world)).toEqual(['session.created'])
  })

  it('W3: a fault that nobody knows is not tried again for ever', async () => {
    const world = worldOf()
    const { loop, seen } = brokenLoop()
    const session = await world.start().open(agent({ model: says(), loop }))
    await world.clock.advance(600_000)
    const { faults } = seen
    expect(faults).toBeLessThanOrEqual(10)
    await session.send('hello')
    await world.clock.advance(600_000)
    expect(seen.faults).toBe(faults + 1)
  })

  it('its turn rejects with the fault for whoever asks only now, and resolves once it was driven after all', async () => {
    const world = worldOf()
    const { loop, seen } = brokenLoop()
    const session = await world.start().open(agent({ model: says(), loop }))
    const one = await session.send('one')
    await world.settle()
    await expect(one.settled).rejects.toThrow('a bug in the loop')
    await expect(one.outcome).rejects.toThrow('a bug in the loop')
    seen.broken = false
    const same = await session.send('one', { id: one.id })
    const two = await session.send('two')
    expect(await world.within(two.outcome)).toMatchObject({ kind: 'completed' })
    expect(await world.within(same.outcome)).toMatchObject({ kind: 'completed' })
  })

  it('a turn that was driven after all resolves for whoever did not ask before', async () => {
    const world = worldOf()
    const { loop, seen } = brokenLoop()
    const session = await world.start().open(agent({ model: says(), loop }))
    const one = await session.send('one')
    await world.settle()
    seen.broken = false
    await world.within((await session.send('two')).outcome)
    expect(await world.within(one.outcome)).toMatchObject({ kind: 'completed' })
    expect(await world.within(one.settled)).toMatchObject({ kind: 'entered', turn: 1 })
  })

  it('so does one that another process has driven', async () => {
    const world = worldOf()
    const { loop } = brokenLoop()
    const session = await world.start().open(agent({ model: says(), loop }))
    const one = await session.send('one')
    await world.settle()
    const other = await world.start().open(agent({ model: says() }))
    await world.within(other.settled())
    expect(await world.within(one.outcome)).toMatchObject({ kind: 'completed' })
    expect(await world.within(one.settled)).toMatchObject({ kind: 'entered', turn: 1 })
  })
})

/** Moves on between any two looks at it, as real ones do. */
class TickingClock extends FakeClock {
  readonly #tickMs: number
  #ticked = 0

  constructor(tickMs: number) {
    super()
    this.#tickMs = tickMs
  }

  override now(): number {
    this.#ticked += this.#tickMs
    return super.now() + this.#ticked
  }
}

describe('closing a session at work', () => {
  const calling = (tools: Tools): AgentSpec =>
    agent({
      model: scriptedModel(({ messages }) => ({
        emit: messages.length === 1 ? [{ call: { name: 'slow' } }] : [{ text: 'ok' }],
      })),
      tools: tools.all,
    })

  it.each([
    ['obeys', 0],
    ['obeys', 1],
    ['obeys', 20],
    ['hangs', 0],
    ['hangs', 1],
    ['hangs', 20],
  ] as const)(
    'W5: frees it before it resolves: opened again at once it is not busy (a body that %s, %i ms between looks)',
    async (kind, tickMs) => {
      const world = worldOf({ clock: new TickingClock(tickMs) })
      const tools = new Tools()
      tools.add('slow', { kind }, { effect: 'read' })
      const process = world.start({ leaseTtlMs: 60_000 })
      const session = await process.open(calling(tools))
      await session.send('go')
      await world.settle()
      expect(tools.runs).toHaveLength(1)
      await world.within(session.close())
      tools.behave('slow', { kind: 'returns', text: 'done' })
      const again = await process.open(calling(tools))
      await world.within(again.settled())
      expect((await typesOf(world)).at(-1)).toBe('turn.ended')
    },
  )
})

describe('facts of plugins', () => {
  /** A plugin, and its scope for later. */
  function emitting(): { readonly plugin: Plugin; readonly emit: (data: number) => void } {
    let scope!: Scope
    return {
      plugin: plugin('facts', (given) => void (scope = given)),
      emit: (data) => scope.emit(sessionId('s'), 'seen', data),
    }
  }
  const factsOf = async (world: World): Promise<unknown[]> =>
    (await world.store.read(sessionId('s'))).events.flatMap((event) =>
      event.type === 'x.facts.seen' ? [event.data] : [],
    )

  it('L6: that come while nobody runs wake nobody, and are written with the next run', async () => {
    const world = worldOf()
    const facts = emitting()
    const session = await world.start({ plugins: [facts.plugin] }).open(agent({ model: says() }))
    await world.within(session.settled())
    facts.emit(1)
    facts.emit(2)
    await world.clock.advance(60_000)
    expect(await factsOf(world)).toEqual([])
    await world.within((await session.send('hello')).outcome)
    expect(await factsOf(world)).toEqual([1, 2])
  })

  it('L6 I2: survive a claim that came to nothing, and are written once', async () => {
    const world = worldOf()
    const facts = emitting()
    let withdraw: (() => Promise<void>) | null = null
    const sync: SyncPoints = {
      async reach(point) {
        if (point !== 'after-claim' || withdraw === null) return
        const run = withdraw
        withdraw = null
        facts.emit(2)
        await run()
      },
    }
    const process = world.start({ sync, plugins: [facts.plugin] })
    const session = await process.open(agent({ model: says() }))
    await world.within(session.settled())
    facts.emit(1)
    withdraw = () => session.queue.withdraw('gone')
    await session.send('hello', { id: 'gone' })
    const next = await session.send('world')
    expect(await world.within(next.outcome)).toMatchObject({ kind: 'completed' })
    await world.within(session.settled())
    expect(await factsOf(world)).toEqual([1, 2])
  })

  it('of a session that is not open here are not written', async () => {
    const world = worldOf()
    const facts = emitting()
    const process = world.start({ plugins: [facts.plugin] })
    facts.emit(1)
    const session = await process.open(agent({ model: says() }))
    await world.within((await session.send('hello')).outcome)
    await world.within(session.close())
    facts.emit(2)
    const again = await process.open(agent({ model: says() }))
    await world.within((await again.send('hello')).outcome)
    expect(await factsOf(world)).toEqual([])
  })
})
