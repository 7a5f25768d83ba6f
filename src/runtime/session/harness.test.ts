import { describe, expect, it } from 'vitest'
import { Tools } from '../../../test/kit/tools.ts'
import { LEASE_MS, useWorlds, type Process, type World } from '../../../test/kit/world.ts'
import { nodeIds } from '../../host/node.ts'
import type { Event } from '../../kernel/events.ts'
import { inputId, sessionId } from '../../kernel/ids.ts'
import { scriptedModel, type Script } from '../../models/scripted/index.ts'
import { react } from '../../plugins/react/react.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { overStore } from '../../stores/over-store.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { agent, type AgentSpec } from '../define/agent.ts'
import { Harness } from './harness.ts'
import type { Hooks, Plugin, Scope } from '../define/plugin.ts'
import type { Session } from '../session.ts'

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

/** Why runners of a session stop here, as it comes. */
function stopsOf(session: Session): unknown[] {
  const stops: unknown[] = []
  const listen = async (): Promise<void> => {
    for await (const seen of session.watch())
      if (seen.kind === 'live' && seen.live.type === 'stopped') stops.push(seen.live.error)
  }
  void listen()
  return stops
}

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

  it('W5: closed while a session is still being opened, it leaves nobody behind who drives it', async () => {
    const world = worldOf()
    const { harness } = world.start()
    const opening = harness.open(talker(), { session: 's' })
    await harness.close()
    await expect(opening).rejects.toMatchObject({ code: 'session-closed' })
    expect(harness.alive).toEqual({ drivers: 0, listeners: 0 })
  })

  it('W1: a runner whose lease was over before it heard of it says so, and records nothing', async () => {
    const world = worldOf()
    const late = world.start()
    // It has the lease, and stands still before it is told.
    const { acquire } = late.mortal.store
    late.mortal.store.acquire = async (...args) => {
      late.mortal.store.acquire = acquire
      const lease = await acquire(...args)
      late.mortal.freeze()
      await late.mortal.pause()
      return lease
    }
    const opening = late.open(talker())
    await world.clock.advance(LEASE_MS)
    const next = await world.start().open(talker())
    await world.within((await next.send('hello')).outcome)
    await next.close()
    const content = [{ type: 'text', text: 'more' }] as const
    await world.store.put(sessionId('s'), { id: inputId('more'), lane: 'followup', origin: { kind: 'user' }, content })
    late.mortal.thaw()
    const stops = stopsOf(await opening)
    await world.settle()
    expect(stops).toMatchObject([{ code: 'lease-lost' }])
  })

  it('closed again, an old handle does not end the newer one of the same session', async () => {
    const world = worldOf()
    const process = world.start()
    const spec = talker()
    const old = await process.open(spec)
    await world.within(old.close())
    const session = await process.open(spec)
    await world.within(old.close())
    expect(process.harness.alive.drivers).toBe(1)
    expect(await world.within((await session.send('hello')).outcome)).toMatchObject({ kind: 'completed' })
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

  it('W5: a `decideWake` that hangs does not hold up the closing of its session', async () => {
    const world = worldOf()
    const hanging = hooking({ decideWake: () => new Promise<never>(() => {}) })
    const session = await world.start({ plugins: [hanging] }).open(talker())
    await world.within(session.settled())
    await session.send('hello')
    await world.settle()
    const before = world.clock.now()
    await session.close()
    expect(world.clock.now()).toBe(before)
  })

  it('W3: one that does not answer in its own time has no say', async () => {
    const world = worldOf()
    const slow = plugin('slow', (scope) =>
      scope.on('decideWake', () => new Promise<never>(() => {}), { timeoutMs: 100 }),
    )
    const process = world.start({ plugins: [slow] })
    const session = await process.open(talker())
    await world.within(session.settled())
    const turn = await session.send('hello')
    await world.clock.advance(99)
    expect(await typesOf(world)).not.toContain('turn.started')
    await world.clock.advance(1)
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    expect(process.errors.splice(0)).toMatchObject([{ message: expect.stringContaining('no answer within 100 ms') }])
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

  it('are those of the agent that drives the session, whoever opened it, with all that they folded', async () => {
    const world = worldOf()
    const heard: string[] = []
    const turns = new Map<string, () => number>()
    const watching = (name: string): Plugin =>
      plugin(name, (scope) => {
        const { read } = scope.fold({ initial: 0, apply: (n: number, e) => n + (e.type === 'turn.ended' ? 1 : 0) })
        turns.set(name, () => read(sessionId('s')))
        scope.on('onDelta', ({ type }) => void heard.push(`${name} ${type}`))
        scope.on('onEvent', ({ type }) => void (type === 'turn.ended' && heard.push(`${name} ${type}`)))
        scope.on('decideStop', () => void heard.push(`${name} decideStop`))
      })
    const agents = (['A', 'B'] as const).map((name) => talker({ name, plugins: [watching(name)] }))
    const first = await world.start({ agents }).harness.open('B', { session: 's' })
    await world.within((await first.send('one')).outcome)
    await world.within(first.close())
    heard.length = 0
    const second = await world.start({ agents }).harness.open('A', { session: 's' })
    await world.within((await second.send('two')).outcome)
    expect(heard).toEqual(['B text', 'B decideStop', 'B turn.ended'])
    expect(turns.get('B')!()).toBe(2)
  })

  it('X1: whose tools and sections come after setup are seen at the next turn, in a new epoch', async () => {
    const world = worldOf()
    let scope!: Scope
    const late = plugin('late', (given) => void (scope = given))
    const model = scriptedModel(({ system, tools }) => ({
      emit: [{ text: `${system || 'nothing'}; ${tools.map((tool) => tool.name).join() || 'no tool'}` }],
    }))
    const session = await world.start({ plugins: [late] }).open(talker({ model }))
    await world.within((await session.send('one')).outcome)
    scope.tool(new Tools().add('look', { kind: 'returns', text: '' }))
    scope.section({ name: 'a', text: 'Be brief.' })
    await world.within((await session.send('two')).outcome)
    const history = await session.history()
    expect(history.flatMap((event) => (event.type === 'reply.completed' ? event.parts : []))).toEqual([
      { type: 'text', text: 'nothing; no tool' },
      { type: 'text', text: 'Be brief.; look' },
    ])
    expect(history.flatMap((event) => (event.type === 'epoch.started' ? [event.n] : []))).toEqual([1, 2])
  })

  it("that bring a tool of the agent's own name are refused, and whoever waits for the turn is told", async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('look', { kind: 'returns', text: '' })
    const bringing = plugin('bringing', (scope) => scope.tool(new Tools().add('look', { kind: 'returns', text: '' })))
    const session = await world.start().open(talker({ tools: tools.all, plugins: [bringing] }))
    for (const message of ['one', 'two']) {
      const turn = await session.send(message)
      await expect(world.within(turn.outcome)).rejects.toMatchObject({
        code: 'plugin-invalid',
        message: expect.stringContaining('"look"'),
      })
    }
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

describe('a plugin that fails to unload', () => {
  const stuck = (name: string, undone: string[]): Plugin =>
    plugin(name, (scope) =>
      scope.onUnload(() => {
        undone.push(name)
        throw new Error(`${name} is stuck`)
      }),
    )

  it('does not keep the store open, nor the other plugins; the failure is told, once', async () => {
    const clock = new FakeClock()
    const undone: string[] = []
    const store = overStore(memoryStore({ clock }), { close: async () => void undone.push('store') })
    const ports = {
      store,
      clock,
      ids: { ...nodeIds },
      random: { next: () => 0 },
      loop: react,
      owner: 'me',
      resolveModel: () => expect.fail(),
    }
    const harness = new Harness(ports, { plugins: [stuck('first', undone), stuck('second', undone)] })
    const session = await harness.open(talker({ plugins: [stuck('own', undone)] }), { session: 's' })
    await session.send('hello')
    await expect(harness.close()).rejects.toThrow('own is stuck')
    expect([undone, harness.alive]).toEqual([['own', 'second', 'first', 'store'], { drivers: 0, listeners: 0 }])
    await harness.close()
    expect(undone).toHaveLength(4)
    await expect(session.send('more')).rejects.toMatchObject({ code: 'session-closed' })
    expect(clock.armed).toBe(0)
  })

  it('does not keep its session open', async () => {
    const world = worldOf()
    const process = world.start()
    const session = await process.open(talker({ plugins: [stuck('own', [])] }))
    const watching = (async () => {
      for await (const _seen of session.watch()) continue
    })()
    await world.within(session.settled())
    await expect(world.within(session.close())).rejects.toThrow('own is stuck')
    await watching
    expect([process.harness.alive, process.mortal.leftovers]).toEqual([
      { drivers: 0, listeners: 0 },
      { timers: 0, watchers: 0 },
    ])
    await expect(session.send('more')).rejects.toMatchObject({ code: 'session-closed' })
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
