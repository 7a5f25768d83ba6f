import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../models/scripted/index.ts'
import { agent } from '../runtime/define/agent.ts'
import type { Plugin } from '../runtime/define/plugin.ts'
import { createHarness, open } from './harness.ts'

function watched() {
  const unloaded: string[] = []
  const plugin: Plugin = { name: 'watch', setup: (scope) => scope.onUnload(() => void unloaded.push('watch')) }
  return { unloaded, plugin }
}

const guide = agent({ model: scriptedModel([{ emit: [{ text: 'Hello.' }] }]) })

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
