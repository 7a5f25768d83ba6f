import { describe, expect, it } from 'vitest'
import { agent, createHarness, open } from 'turnstep'
import { resolveModel } from '../../src/presets/resolve-model.ts'
import { FakeClock } from 'turnstep/testing'
import { chatServer } from '../../src/models/chat/server.case.ts'
import { byName, byVariable, inFull } from './main.ts'

describe('examples/15-models', () => {
  it('speaks to an endpoint with the key, the headers and the limits it was given', async () => {
    const server = await chatServer([{ emit: [{ text: 'Hello.' }] }])
    const session = await open(agent({ model: inFull(server.url, 'secret') }), { store: 'memory' })
    const turn = await session.send('Hi.')
    expect((await turn.outcome).kind).toBe('completed')
    const [{ body, headers }] = server.seen as [(typeof server.seen)[number]]
    expect(body).toMatchObject({ model: 'our-model', max_tokens: 2_000 })
    expect(headers).toMatchObject({ 'x-team': 'books', authorization: 'Bearer secret' })
    await session.close()
    await server.close()
  })

  it('finds an endpoint by a variable, and says which variable is missing', async () => {
    const server = await chatServer([{ emit: [{ text: 'Hello.' }] }])
    const env = (name: string) => (name === 'ACME_BASE_URL' ? server.url : undefined)
    const clock = new FakeClock()
    const harness = await createHarness({ store: 'memory', resolveModel: (name) => resolveModel(name, { env, clock }) })
    const turn = await (await harness.open(byVariable)).send('Hi.')
    expect((await turn.outcome).kind).toBe('completed')
    await expect(harness.open(byName)).rejects.toThrow('set DEEPSEEK_API_KEY')
    await harness.close()
    await server.close()
  })
})
