import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Tools } from '../../../test/kit/tools.ts'
import { LEASE_MS, useWorlds } from '../../../test/kit/world.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
import { deferred } from '../../util/deferred.ts'
import { agent } from '../define/agent.ts'
import { tool } from '../define/define-tool.ts'
import type { Plugin } from '../define/plugin.ts'
import type { Live } from '../session.ts'
import type { SyncPoints } from '../sync-points.ts'
import type { ToolContext } from '../define/tool.ts'

const worldOf = useWorlds()
const calling = (...names: readonly string[]): ReturnType<typeof scriptedModel> =>
  scriptedModel(({ messages }) => ({
    emit: messages.at(-1)!.role === 'user' ? names.map((name) => ({ call: { name } })) : [{ text: 'ok' }],
  }))

describe('a body', () => {
  it('C4 W1: is told its call, its key and its fence', async () => {
    const world = worldOf()
    let seen!: ToolContext
    const look = tool({
      name: 'look',
      description: 'looks',
      input: z.looseObject({}),
      effect: 'read',
      run: (_args, context) => {
        seen = context
        return 'seen'
      },
    })
    const session = await world.start().open(agent({ model: calling('look'), tools: [look] }))
    await world.within((await session.send('go')).outcome)
    expect(seen).toMatchObject({ session: 's', call: 't1s1c1', idempotencyKey: 's/t1s1c1', fence: 1 })
    expect(seen.clock.now()).toBe(world.clock.now())
  })

  it('C13 C6: that ends with its signal holds nothing any more: the next write begins, and its end is late news', async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('save', { kind: 'obeys' }, { effect: 'write', timeoutMs: 10_000 })
    const model = scriptedModel([
      { emit: [{ call: { name: 'save' } }] },
      { emit: [{ call: { name: 'save' } }] },
      { emit: [{ text: 'ok' }] },
    ])
    const session = await world.start().open(agent({ model, tools: tools.all }))
    const turn = await session.send('go')
    await world.clock.advance(10_000)
    expect(tools.runs.map((run) => run.call)).toEqual(['t1s1c1', 't1s2c1'])
    await world.clock.advance(10_000)
    expect(await world.within(turn.outcome)).toMatchObject({ kind: 'completed' })
    const log = await session.history()
    const ended = log.flatMap((event) => (event.type === 'call.ended' ? [event.outcome.kind] : []))
    expect(ended).toEqual(['timeout', 'timeout'])
    expect(log.filter((event) => event.type === 'call.ended-late' && event.call === 't1s1c1')).toHaveLength(1)
  })

  it('shows its progress to whoever watches, until its call is closed', async () => {
    const world = worldOf()
    let context!: ToolContext
    const end = deferred<string>()
    const slow = tool({
      name: 'slow',
      description: 'is slow',
      input: z.looseObject({}),
      effect: 'read',
      timeoutMs: 1_000,
      run: (_args, given) => ((context = given), end.promise),
    })
    const session = await world.start().open(agent({ model: calling('slow'), tools: [slow] }))
    const lines: Live[] = []
    const watching = (async () => {
      for await (const seen of session.watch())
        if (seen.kind === 'live' && seen.live.type === 'progress') lines.push(seen.live)
    })()
    await session.send('go')
    await world.settle()
    context.progress('half way')
    await world.clock.advance(1_000)
    context.progress('too late')
    expect(context.signal.aborted).toBe(true)
    end.resolve('at last')
    await world.within(session.settled())
    await world.within(session.close())
    await watching
    expect(lines).toEqual([{ type: 'progress', call: 't1s1c1', text: 'half way' }])
  })

  it('W1 W2: does not begin on a machine that slept between its start and now, and lost its lease', async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('save', { kind: 'returns', text: 'saved' }, { effect: 'write' })
    const spec = agent({ model: calling('save'), tools: tools.all })
    const asleep = deferred<void>()
    const sync: SyncPoints = { reach: (point) => (point === 'before-body' ? asleep.promise : undefined) }
    const sleeper = world.start({ sync })
    const slept = await sleeper.open(spec)
    await slept.send('go')
    await world.settle()
    sleeper.mortal.freeze()
    await world.clock.advance(LEASE_MS)
    const session = await world.start().open(spec)
    await world.within(session.settled())
    // It goes on before any timer of its own could tell it.
    asleep.resolve()
    await world.settle()
    sleeper.mortal.thaw()
    await world.clock.advance(1_000)
    expect(tools.runs).toEqual([])
    expect((await session.history()).find((event) => event.type === 'call.ended')).toMatchObject({
      outcome: { kind: 'unknown' },
    })
  })

  it('T7: that was told to stop by a closing process and answers all the same is heard of', async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('save', { kind: 'hangs' }, { effect: 'write' })
    const spec = agent({ model: calling('save'), tools: tools.all })
    const first = await world.start().open(spec)
    await first.send('go')
    await world.settle()
    await world.within(first.close())
    tools.hanging('save').settle({ kind: 'returns', text: 'saved after all' })
    await world.settle()
    const second = await world.start().open(spec)
    await world.within(second.settled())
    expect((await second.history()).filter((event) => event.type === 'call.ended')).toMatchObject([
      { outcome: { kind: 'ok' }, content: [{ text: 'saved after all' }] },
    ])
  })
  it.each([
    ['came back in time', 50, 'ok'],
    ['did not', 150, 'timeout'],
  ] as const)('C13: that %s is judged by that, however long its result is looked at', async (_what, bodyMs, kind) => {
    const world = worldOf()
    const later = <T>(ms: number, value: T): Promise<T> =>
      new Promise((resolve) => world.clock.after(ms, () => resolve(value)))
    const look = tool({
      name: 'look',
      description: 'looks',
      input: z.looseObject({}),
      effect: 'read',
      timeoutMs: 100,
      run: () => later(bodyMs, 'seen'),
    })
    const slow: Plugin = { name: 'slow', setup: (scope) => scope.on('transformResult', (end) => later(300, end)) }
    const session = await world.start({ plugins: [slow] }).open(agent({ model: calling('look'), tools: [look] }))
    expect(await world.within((await session.send('go')).outcome)).toMatchObject({ kind: 'completed' })
    await world.clock.advance(1_000)
    const ends = (await session.history()).filter((event) => event.type === 'call.ended')
    expect(ends).toMatchObject([{ outcome: { kind } }])
    await world.within(session.settled())
  })
})
