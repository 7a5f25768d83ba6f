import { describe, expect, it } from 'vitest'
import { Tools } from '../../../test/kit/tools.ts'
import { useWorlds } from '../../../test/kit/world.ts'
import type { EventOf } from '../../kernel/events.ts'
import { scriptedModel, type Script } from '../../models/scripted/index.ts'
import { deferred } from '../../util/deferred.ts'
import { agent } from '../define/agent.ts'
import type { HookName, Hooks, Plugin } from '../define/plugin.ts'

const worldOf = useWorlds()
const hooking = (name: string, hook: HookName, run: () => unknown): Plugin => ({
  name,
  setup: (scope) => scope.on(hook, run as Hooks[HookName] as never),
})

/** Calls a tool, then talks: every hook of a step is asked. */
const script: Script = ({ messages }) => ({
  emit: messages.length === 1 ? [{ call: { name: 'look' } }] : [{ text: 'ok' }],
})

const HOOKS = ['decideEnter', 'injectContext', 'transformRequest', 'decideCall', 'decideStop'] as const
const INSTANTS = 40

describe('control that comes between two hooks of a name', () => {
  it.each(HOOKS)('I13 T7: %s: the second does not sleep through it, whatever the instant', async (name) => {
    const missed: number[] = []
    for (let instant = 0; instant < INSTANTS; instant++) {
      const world = worldOf()
      const first = deferred<undefined>()
      const tools = new Tools()
      tools.add('look', { kind: 'returns', text: 'seen' }, { effect: 'read' })
      const plugins = [
        hooking('one', name, () => first.promise),
        hooking('two', name, () => new Promise<never>(() => {})),
      ]
      const session = await world.start({ plugins }).open(agent({ model: scriptedModel(script), tools: tools.all }))
      await session.send('go')
      await world.settle()
      const aborting = session.abort()
      for (let tick = 0; tick < instant; tick++) await Promise.resolve()
      first.resolve(undefined)
      await aborting
      await world.settle()
      // The clock stands still: no timeout of a hook has ended it.
      if ((await session.history()).at(-1)?.type !== 'turn.ended') missed.push(instant)
    }
    expect(missed).toEqual([])
  })
})

describe('what is to be done about a failed model call', () => {
  const busy = { fault: { kind: 'http', status: 500 } } as const

  /** A turn whose tool ran out of time, and whose second model call has failed; a hook thinks about it. */
  async function thinking() {
    const world = worldOf()
    const answer = deferred<{ readonly retryInMs: number }>()
    const tools = new Tools()
    tools.add('slow', { kind: 'hangs' }, { effect: 'read', timeoutMs: 1_000 })
    const model = scriptedModel([
      { emit: [{ call: { name: 'slow' } }] },
      busy,
      { emit: [{ text: 'ok' }], optional: true },
    ])
    const plugins = [hooking('patient', 'decideModelError', () => answer.promise)]
    const session = await world.start({ plugins }).open(agent({ model, tools: tools.all }))
    const turn = await session.send('go')
    await world.clock.advance(1_000)
    const failures = async (): Promise<EventOf<'model.failed'>[]> =>
      (await session.history()).filter((event) => event.type === 'model.failed') as EventOf<'model.failed'>[]
    expect(await failures()).toEqual([])
    return { world, answer, tools, session, turn, failures }
  }

  it('I13 T10: is what the hook says, though a late outcome arrives while it thinks', async () => {
    const { world, answer, tools, session, turn, failures } = await thinking()
    tools.hanging('slow').settle({ kind: 'returns', text: 'at last' })
    await world.settle()
    expect((await session.history()).map((event) => event.type)).toContain('call.ended-late')
    answer.resolve({ retryInMs: 61_234 })
    await world.settle()
    expect(await failures()).toMatchObject([{ retryAt: world.clock.now() + 61_234 }])
    expect(await world.within(turn.outcome)).toMatchObject({ kind: 'completed' })
  })

  it('T7: matters no more once the turn is aborted', async () => {
    const { world, tools, session, turn } = await thinking()
    const before = world.clock.now()
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect(world.clock.now()).toBe(before)
    tools.hanging('slow').settle({ kind: 'returns', text: 'at last' })
    await world.within(session.settled())
  })
})
