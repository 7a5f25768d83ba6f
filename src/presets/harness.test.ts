import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../models/scripted/index.ts'
import { nodeClock } from '../host/node.ts'
import { agent } from '../runtime/define/agent.ts'
import { tool } from '../runtime/define/define-tool.ts'
import type { Plugin } from '../runtime/define/plugin.ts'
import { chatModel, memoryStore, resolveModel, sqliteStore } from './adapters.ts'
import { codingTools } from './coding-tools.ts'
import { createHarness, open } from './harness.ts'

function watched() {
  const unloaded: string[] = []
  const plugin: Plugin = { name: 'watch', setup: (scope) => scope.onUnload(() => void unloaded.push('watch')) }
  return { unloaded, plugin }
}

it('timers of the process are served while models and tools answer from memory', async () => {
  const timer = { armed: false, served: false }
  const look = tool({
    name: 'look',
    description: 'looks',
    input: { type: 'object' },
    effect: 'read',
    guard: 'off',
    run: () => {
      if (!timer.armed) nodeClock.after(0, () => (timer.served = true))
      timer.armed = true
      return 'there'
    },
  })
  const model = scriptedModel(() => ({ emit: timer.served ? [{ text: 'done' }] : [{ call: { name: 'look' } }] }))
  // Seconds of steps: a process that serves nobody comes to their end.
  await using session = await open(agent({ model, tools: [look], limits: { steps: 20_000 } }), { store: 'memory' })
  expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
})

const guide = agent({ model: scriptedModel([{ emit: [{ text: 'Hello.' }] }]) })

describe('an option that there is not', () => {
  // For those who have no types.
  const wrong = { store: 'memory', sesion: 'trip' } as object

  it('is refused by createHarness and by open, which quote it and list those there are', async () => {
    await expect(createHarness(wrong)).rejects.toMatchObject({
      code: 'config-invalid',
      message:
        'createHarness has no "sesion"; known: store, agents, plugins, locale, onError, leaseTtlMs, pollMs, clock, ids, random, loop, owner, resolveModel, sync',
    })
    await expect(open(guide, wrong)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(/^open has no "sesion"; known: session, readonly, store, /),
    })
    await expect(createHarness({ session: 'trip' } as object)).rejects.toMatchObject({
      message: expect.stringContaining('createHarness has no "session"'),
    })
  })

  it('is refused by harness.open, before there is such a session', async () => {
    await using harness = await createHarness({ store: 'memory' })
    await expect(harness.open(guide, { sesion: 'trip' } as object)).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'harness.open has no "sesion"; known: session, readonly',
    })
    await expect(harness.open(guide, 'trip' as never)).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'harness.open is told "trip"; give an object, or leave it out',
    })
    expect(await harness.list()).toEqual([])
  })

  it.each([
    ['chatModel', () => chatModel({ provider: 'p', model: 'm', baseUrl: 'http://x', apikey: 'k' } as never), 'apikey'],
    ['resolveModel', () => resolveModel('ollama/m', { evn: () => undefined } as object), 'evn'],
    ['memoryStore', () => memoryStore({ clok: 1 } as object), 'clok'],
    ['sqliteStore', () => sqliteStore({ pth: 'x.db' } as never), 'pth'],
    ['codingTools', () => codingTools({ root: '.', fileAproval: 'ask' } as never), 'fileAproval'],
    ['the shell of codingTools', () => codingTools({ root: '.', shell: { aproval: 'ask' } as object }), 'aproval'],
  ])('is refused by %s', async (what, make, name) => {
    await expect((async () => make())()).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(`${what} has no "${name}"; known: `),
    })
  })

  it('is refused in an agent that did not come from `agent()`', async () => {
    await using harness = await createHarness({ store: 'memory' })
    await expect(harness.open({ ...guide, modle: 'x' } as typeof guide)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('agent has no "modle"'),
    })
  })
})

describe('open', () => {
  it('closes the harness with the session that it was made for, once', async () => {
    const { unloaded, plugin } = watched()
    const session = await open(guide, { store: 'memory', plugins: [plugin] })
    const turn = await session.send('Hi')
    expect((await turn.outcome).kind).toBe('completed')
    expect(unloaded).toEqual([])
    await session.close()
    await session[Symbol.asyncDispose]()
    expect(unloaded).toEqual(['watch'])
  })

  it('opens the named session, for reading only where that is asked for', async () => {
    const store = memoryStore()
    await (await open(guide, { store, session: 'trip' })).close()
    const session = await open(guide, { store, session: 'trip', readonly: true })
    expect(session.id).toBe('trip')
    await expect(session.send('Hi')).rejects.toMatchObject({ code: 'session-readonly' })
    await session.close()
  })

  it('closes the harness where the session cannot be opened', async () => {
    const { unloaded, plugin } = watched()
    await expect(open(guide, { store: 'memory', session: '-', plugins: [plugin] })).rejects.toMatchObject({
      code: 'session-id-invalid',
    })
    expect(unloaded).toEqual(['watch'])
  })

  it('of one harness among several sessions leaves the harness open', async () => {
    const { unloaded, plugin } = watched()
    const harness = await createHarness({ store: 'memory', plugins: [plugin] })
    const [one, other] = [
      await harness.open(guide, { session: 'one' }),
      await harness.open(guide, { session: 'other' }),
    ]
    await one.close()
    expect([unloaded, (await other.status()).kind]).toEqual([[], 'idle'])
    await harness.close()
    expect(unloaded).toEqual(['watch'])
  })
})
