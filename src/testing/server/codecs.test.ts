/** Our own codecs against the strict server: the contract of models over real HTTP, and a session of tools over every endpoint, killed and begun again in between. */
import { afterEach, describe, expect, it } from 'vitest'
import { nodeClock } from '../../host/node.ts'
import { IDLE_MS, modelContract } from '../../models/contract.case.ts'
import type { DialectName } from '../../models/chat/dialects.ts'
import { chatModel } from '../../models/chat/index.ts'
import type { ScriptStep } from '../../models/scripted/index.ts'
import { open } from '../../presets/harness.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { agent, type AgentSpec } from '../../runtime/define/agent.ts'
import { tool } from '../../runtime/define/define-tool.ts'
import type { Clock } from '../../runtime/ports.ts'
import { modelServer, type ModelServer } from './server.ts'

/** A dialect of ours, the endpoint that it is for, and a model of it. */
const ENDPOINTS: readonly (readonly [dialect: DialectName, endpoint: string, model: string])[] = [
  ['openai', 'openai', 'gpt-5'],
  ['deepseek', 'deepseek', 'deepseek-v4'],
  ['deepseek', 'deepseek', 'deepseek-v3.2'],
  ['deepseek-r1', 'deepseek', 'deepseek-reasoner'],
  ['kimi', 'kimi', 'kimi-k2'],
  ['qwen', 'qwen', 'qwen3'],
  ['minimax', 'minimax', 'minimax-m2'],
  ['vllm', 'vllm', 'some-model'],
  ['openrouter', 'openrouter', 'any/model'],
]

const modelOf = (server: ModelServer, clock: Clock, [dialect, endpoint, model]: (typeof ENDPOINTS)[number]) =>
  chatModel({
    provider: endpoint,
    model,
    baseUrl: `${server.url}/${endpoint}/v1`,
    apiKey: 'key',
    dialect,
    clock,
    idleTimeoutMs: IDLE_MS,
    firstChunkTimeoutMs: IDLE_MS,
  })

for (const endpoint of ENDPOINTS.filter(([dialect]) => dialect === 'deepseek' || dialect === 'vllm').slice(0, 2)) {
  modelContract(`chat over the strict server, ${endpoint[2]}`, {
    async open(script, clock) {
      const server = await modelServer({ script, estimatesUsage: false })
      const complaints = (): string[] => server.requests.flatMap((request) => request.complaints)
      return { model: modelOf(server, clock, endpoint), complaints, close: () => server.close() }
    },
  })
}

const SCRIPT: readonly ScriptStep[] = [
  {
    emit: [
      { reasoning: 'both at once 一起' },
      { text: 'Let me look.' },
      { call: { name: 'look', args: { at: '海' } } },
      { call: { name: 'look', raw: '{"at":12345678901234567890}' } },
    ],
  },
  { expect: { replayExact: true, prefixSame: true }, emit: [{ reasoning: 'once more' }, { call: { name: 'look' } }] },
  {
    expect: { replayExact: true, prefixSame: true, contains: ['12345678901234567890'] },
    emit: [{ call: { name: 'look', args: { at: 'sky' } } }],
  },
  { expect: { replayExact: true, prefixSame: true }, emit: [{ reasoning: 'enough' }, { text: 'It is blue.' }] },
  { expect: { replayExact: true, lastUser: 'and at night?' }, emit: [{ text: 'Black.' }] },
]

const look = tool({ name: 'look', description: 'looks', input: { type: 'object' }, effect: 'read', run: () => 'blue' })

describe.each(ENDPOINTS)('X7 X1 C1: a session over %s at %s, with %s', (...endpoint) => {
  const servers: ModelServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close()
  })
  const start = async (port?: number): Promise<ModelServer> => {
    const server = await modelServer({ script: SCRIPT, cursor: 'context', ...(port === undefined ? {} : { port }) })
    servers.push(server)
    return server
  }
  const specOf = (server: ModelServer): AgentSpec =>
    agent({ model: modelOf(server, nodeClock, endpoint), tools: [look] })

  it('is never refused, loses no thinking, and goes on at a server that was started again', async () => {
    const store = memoryStore({ clock: nodeClock })
    const first = await start()
    await using session = await open(specOf(first), { session: 's', store })
    expect(await (await session.send('what colour is it?')).outcome).toMatchObject({ kind: 'completed' })
    const faults = first.requests.flatMap(({ complaints }) => complaints)
    const port = Number(new URL(first.url).port)
    await first.close()
    const second = await start(port)
    expect(await (await session.send('and at night?')).outcome).toMatchObject({ kind: 'completed' })
    expect([...faults, ...second.requests.flatMap(({ complaints }) => complaints)]).toEqual([])
    expect([first.requests.length, second.requests.length]).toEqual([4, 1])
  })
})
