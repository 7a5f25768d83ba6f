import { describe, expect, it } from 'vitest'
import { Tools } from '../../test/kit/tools.ts'
import { LEASE_MS, useWorlds, type Process, type World } from '../../test/kit/world.ts'
import type { Event } from '../kernel/events.ts'
import { inputId, sessionId } from '../kernel/ids.ts'
import { scriptedModel, type Script } from '../models/scripted/index.ts'
import { agent, type AgentSpec } from './agent.ts'
import type { Hooks, Plugin, Scope } from './plugin.ts'

const worldOf = useWorlds()
const says =
  (text: string): Script =>
  () => ({ emit: [{ text }] })
const talker = (more: Partial<AgentSpec> = {}): AgentSpec => agent({ model: scriptedModel(says('ok')), ...more })
const plugin = (name: string, setup: (scope: Scope) => void): Plugin => ({ name, setup })
const hooking = (hooks: Partial<Hooks>): Plugin =>
  plugin('hooks', (scope) => {
    for (const [name, hook] of Object.entries(hooks)) scope.on(name as keyof Hooks, hook as never)
  })

const typesOf = async (world: World): Promise<string[]> =>
  (await world.store.read(sessionId('s'))).events.map((event) => event.type)

describe('opening', () => {
  it('L4: a second driver of a session is told who has it, and since when', async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('slow', { kind: 'hangs' }, { effect: 'read' })
    const busy = agent({
      model: scriptedModel([{ emit: [{ call: { name: 'slow' } }] }, { emit: [{ text: 'ok' }] }]),
      tools: tools.all,
    })
    const first = world.start()
    const session = await first.open(busy)
    await session.send('go')
    await world.settle()
    const since = world.clock.now()
    await expect(world.start().open(talker())).rejects.toMatchObject({
      code: 'session-busy',
      data: { session: 's', owner: 'process 1', since },
    })
    await expect(first.open(busy)).rejects.toMatchObject({ code: 'session-busy' })
    tools.hanging('slow').settle({ kind: 'returns', text: 'done' })
    await world.within(session.settled())
  })

  it('L4 W1: a session at rest is open for others, and whoever comes first drives it', async () => {
    const world = worldOf()
    const one = await world.start().open(talker())
    await world.within(one.settled())
    const other = await world.start().open(talker())
    await world.within(other.settled())
    const turn = await other.send('hello')
    expect(await world.within(turn.outcome)).toMatchObject({ kind: 'completed' })
    expect((await one.history()).filter((event) => event.type === 'turn.started')).toHaveLength(1)
  })

  it('L4: for reading writes nothing, and can do nothing', async () => {
    const world = worldOf()
    const { harness } = world.start()
    await expect(harness.open(talker(), { session: 's', readonly: true })).rejects.toMatchObject({
      code: 'session-missing',
    })
    await world.store.create(sessionId('s'))
    const session = await harness.open(talker(), { session: 's', readonly: true })
    await expect(session.send('hello')).rejects.toMatchObject({ code: 'session-readonly' })
    await expect(session.queue.withdraw('a')).rejects.toMatchObject({ code: 'session-readonly' })
    expect([await session.settled(), await typesOf(world)]).toEqual([{ kind: 'idle' }, []])
  })

  it('refuses names that are none', async () => {
    const { harness } = worldOf().start()
    for (const name of ['', '../etc', '-x', 'a b', 'x'.repeat(129)])
      await expect(harness.open(talker(), { session: name })).rejects.toMatchObject({ code: 'session-id-invalid' })
    expect((await harness.open(talker(), { session: '行程.1@home' })).id).toBe('行程.1@home')
  })

  it('knows its agents by name, and says which there are', async () => {
    const { harness } = worldOf().start({ agents: [talker({ name: 'guide' })] })
    await expect(harness.open('nobody')).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('guide'),
    })
    await harness.open('guide', { session: 's' })
  })

  it('is over once it is closed', async () => {
    const world = worldOf()
    const { harness } = world.start()
    const session = await harness.open(talker(), { session: 's' })
    await world.within(harness.close())
    await expect(harness.open(talker())).rejects.toMatchObject({ code: 'session-closed' })
    await expect(session.send('hello')).rejects.toMatchObject({ code: 'session-closed' })
    await harness.close()
  })

  it('removes sessions that nobody drives', async () => {
    const world = worldOf()
    const { harness } = world.start()
    await expect(harness.remove('s')).rejects.toMatchObject({ code: 'session-missing' })
    const session = await harness.open(talker(), { session: 's' })
    await session.send('hello')
    await expect(harness.remove('s')).rejects.toMatchObject({ code: 'session-busy' })
    await world.within(session.settled())
    await harness.remove('s')
    expect(await harness.list()).toEqual([])
  })
})

describe('waking', () => {
  it('W3 W4: a process that has the session open takes over from a dead one, within the lease time and a look', async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('look', { kind: 'hangs' }, { effect: 'read' })
    const spec = agent({
      model: scriptedModel(({ messages }) => ({
        emit: messages.length === 1 ? [{ call: { name: 'look' } }] : [{ text: 'ok' }],
      })),
      tools: tools.all,
    })
    const dying = world.start()
    const standby = world.start()
    await standby.open(spec)
    await world.settle()
    const driver = await takenBy(dying, standby, spec, world)
    expect(tools.runs).toHaveLength(1)
    tools.behaveAll({ kind: 'returns', text: 'seen' })
    driver.mortal.die()
    await world.clock.advance(LEASE_MS + 1_000)
    expect(tools.runs).toHaveLength(2)
    expect(await typesOf(world)).toContain('turn.ended')
  })

  it('W3: `decideWake` has a session wait for another time, and `settled` does not wait for it', async () => {
    const world = worldOf()
    let mayWake = true
    const process = world.start({ plugins: [hooking({ decideWake: () => mayWake })] })
    const session = await process.open(talker())
    await world.within(session.settled())
    mayWake = false
    await session.send('hello')
    expect(await world.within(session.settled())).toEqual({ kind: 'idle' })
    expect(await typesOf(world)).not.toContain('turn.started')
    mayWake = true
    await world.clock.advance(1_000)
    expect(await typesOf(world)).toContain('turn.ended')
  })

  it('a `decideWake` that throws has no say', async () => {
    const world = worldOf()
    const process = world.start({
      plugins: [
        hooking({
          decideWake: () => {
            throw new Error('out of order')
          },
        }),
      ],
    })
    const session = await process.open(talker())
    await world.within(session.settled())
    expect(await world.within((await session.send('hello')).outcome)).toMatchObject({ kind: 'completed' })
    expect(process.errors.splice(0).map((error) => error.message)).toEqual([expect.stringContaining('out of order')])
  })

  it('an input for later wakes the session in its time', async () => {
    const world = worldOf()
    const session = await world.start().open(talker())
    await world.within(session.settled())
    const later = {
      id: inputId('later'),
      lane: 'followup',
      origin: { kind: 'timer' },
      content: [{ type: 'text', text: 'wake up' }],
    } as const
    await world.store.put(sessionId('s'), later, { notBefore: world.clock.now() + 60_000 })
    await world.clock.advance(59_000)
    expect(await typesOf(world)).not.toContain('turn.started')
    await world.clock.advance(2_000)
    expect(await typesOf(world)).toContain('turn.ended')
  })
})

/** Has `driver` take the session from one that rests, and work on it. */
async function takenBy(driver: Process, other: Process, spec: AgentSpec, world: World): Promise<Process> {
  other.mortal.freeze()
  const session = await driver.open(spec)
  await session.send('go')
  await world.settle()
  other.mortal.thaw()
  await world.settle()
  return driver
}

describe('plugins', () => {
  it('hear of every event once it is durable, in order', async () => {
    const world = worldOf()
    const heard: Event[] = []
    const session = await world
      .start({ plugins: [hooking({ onEvent: (event) => void heard.push(event) })] })
      .open(talker())
    await world.within((await session.send('hello')).outcome)
    await world.within(session.settled())
    expect(heard).toEqual(await session.history())
  })

  it('that throw while they watch are reported, and nothing else happens', async () => {
    const world = worldOf()
    const boom = (): never => {
      throw new Error('boom')
    }
    const process = world.start({ plugins: [hooking({ onEvent: boom, onDelta: boom })] })
    const session = await process.open(talker())
    expect(await world.within((await session.send('hello')).outcome)).toMatchObject({ kind: 'completed' })
    expect(new Set(process.errors.splice(0).map((error) => error.message))).toEqual(new Set(['boom']))
  })

  it('L6: write facts of their own with the next commit, the last ones of a turn included', async () => {
    const world = worldOf()
    const counting = plugin('count', (scope) => {
      scope.on('onEvent', (event, { session }) => {
        if (event.type === 'turn.ended') scope.emit(session, 'turns', event.turn)
      })
    })
    const session = await world.start({ plugins: [counting] }).open(talker())
    await world.within((await session.send('hello')).outcome)
    await world.within(session.settled())
    expect((await session.history()).at(-1)).toMatchObject({ type: 'x.count.turns', data: 1 })
  })

  it('L3: fold state of their own, also after a restart', async () => {
    const world = worldOf()
    let read!: (session: ReturnType<typeof sessionId>) => number
    const counting = plugin('count', (scope) => {
      ;({ read } = scope.fold({ initial: 0, apply: (count, event) => count + (event.type === 'turn.ended' ? 1 : 0) }))
    })
    const first = await world.start({ plugins: [counting] }).open(talker())
    await world.within((await first.send('one')).outcome)
    await world.within(first.close())
    const second = await world.start({ plugins: [counting] }).open(talker())
    await world.within((await second.send('two')).outcome)
    expect(read(sessionId('s'))).toBe(2)
  })

  it('that answer nothing change nothing: not even the request', async () => {
    const world = worldOf()
    const session = await world.start({ plugins: [hooking({ transformRequest: (options) => options })] }).open(talker())
    const quiet = await world
      .start({ plugins: [hooking({ transformRequest: async () => undefined })] })
      .open(talker(), 'quiet')
    for (const one of [session, quiet]) await world.within((await one.send('hello')).outcome)
    expect((await session.history()).find((event) => event.type === 'model.requested')).toHaveProperty('options', {})
    expect((await quiet.history()).find((event) => event.type === 'model.requested')).not.toHaveProperty('options')
  })
})

describe('a long session', () => {
  it('L3: is opened from its newest snapshot and what came after it', async () => {
    const world = worldOf()
    const session = await world.start().open(talker())
    for (let turn = 0; turn < 100; turn++) await session.send(`message ${turn}`)
    await world.within(session.settled())
    const before = await session.context()
    await world.within(session.close())
    const snapshot = await world.store.readSnapshot(sessionId('s'))
    expect(snapshot?.seq).toBeGreaterThan(500)
    const again = await world.start().open(talker())
    await world.within((await again.send('one more')).outcome)
    const after = await again.context()
    expect(after.messages.slice(0, before.messages.length)).toEqual(before.messages)
    expect(after.messages).toHaveLength(202)
  })
})

describe('what cannot be said', () => {
  it('is refused: a message without anything in it', async () => {
    const session = await worldOf().start().open(talker())
    for (const content of ['', ' \n', []])
      await expect(session.send(content)).rejects.toMatchObject({ code: 'content-invalid' })
  })

  it('X8: an empty part of a message is left out, and spoils no session', async () => {
    const world = worldOf()
    const session = await world.start().open(talker())
    const turn = await session.send([
      { type: 'text', text: 'hello' },
      { type: 'text', text: '' },
    ])
    expect(await world.within(turn.outcome)).toMatchObject({ kind: 'completed' })
    expect((await session.context()).messages[0]).toMatchObject({ content: [{ type: 'text', text: 'hello' }] })
  })

  it('X8: nor does an empty word of a plugin', async () => {
    const world = worldOf()
    let vetoes = 0
    const blank = hooking({
      injectContext: () => [{ type: 'text', text: '' }],
      decideStop: () => (vetoes++ === 0 ? { veto: '' } : undefined),
    })
    const session = await world.start({ plugins: [blank] }).open(talker())
    expect(await world.within((await session.send('hello')).outcome)).toMatchObject({ kind: 'completed' })
    expect(vetoes).toBe(2)
  })

  it.each([
    { steps: 0 },
    { steps: Number.POSITIVE_INFINITY },
    { pool: 0 },
    { attempts: 0.5 },
    { cuts: 0 },
    { graceMs: -1 },
    { vetoes: Number.NaN },
  ])('limits that no run could keep: %j', (limits) => {
    expect(() => talker({ limits })).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })
})
