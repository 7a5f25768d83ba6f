/** The code of docs/guides/model-server.md: an agent against an endpoint that refuses what real ones refuse. */
import { expect, it } from 'vitest'
import { agent, chatModel, open, tool } from 'turnstep'
import { modelServer } from 'turnstep/testing'

const weather = tool<{ city: string }>({
  name: 'weather',
  description: 'The weather in a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'read',
  run: ({ city }) => `${city}: 31 °C`,
})

it('is never refused, and gives the model back what it thought', async () => {
  const server = await modelServer({
    script: [
      { emit: [{ reasoning: 'Both at once.' }, { call: { name: 'weather', args: { city: '北京' } } }] },
      { expect: { replayExact: true, prefixSame: true, contains: ['31 °C'] }, emit: [{ text: 'Hot.' }] },
    ],
  })
  const model = chatModel({
    provider: 'deepseek',
    model: 'deepseek-v4',
    dialect: 'deepseek',
    baseUrl: `${server.url}/deepseek/v1`,
    apiKey: 'any',
  })
  const session = await open(agent({ model, tools: [weather] }), { store: 'memory' })

  const turn = await session.send('How is it in Beijing?')
  expect(await turn.outcome).toMatchObject({ kind: 'completed' })
  server.verify() // throws: a request was refused, an expectation did not hold, a step was never played
  await session.close()
  await server.close()
})

it('comes through an overload and a reply that breaks off', async () => {
  const server = await modelServer({
    script: [
      { fault: { kind: 'http', status: 503, retryAfterSeconds: 0 } },
      { emit: [{ text: 'Once upon a time' }], stream: { chunk: 5, splitBytes: 1 }, fault: { kind: 'cut', after: 2 } },
      { emit: [{ text: 'Once upon a time, and so on.' }] },
    ],
  })
  const model = chatModel({
    provider: 'openai',
    model: 'gpt-5',
    dialect: 'openai',
    baseUrl: `${server.url}/v1`,
    apiKey: 'any',
  })
  const session = await open(agent({ model }), { store: 'memory' })

  const turn = await session.send('Tell me a story')
  expect(await turn.outcome).toMatchObject({ kind: 'completed' })
  expect(server.requests.map(({ status, frames }) => [status, frames > 0])).toEqual([
    [503, false],
    [200, true],
    [200, true],
  ])
  await session.close()
  await server.close()
}, 30_000)
