/** L2: what a model was sent over real HTTP is rebuilt from the stored log, byte for byte, by another process's worth of objects. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { nodeClock } from '../../src/host/node.ts'
import { sessionId } from '../../src/kernel/ids.ts'
import { Messages } from '../../src/kernel/message.ts'
import { chatServer, type ChatServer, type WireStep } from '../../src/models/chat/server.case.ts'
import { agent, chatModel, createHarness, tool, type Model, type Plugin } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'turnstep-rebuild-'))
const servers: ChatServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const script: WireStep[] = [
  { emit: [{ reasoning: '先看一月。' }, { call: { name: 'bill', args: { month: 1 }, id: 'functions.bill:0' } }] },
  { fault: { kind: 'http', status: 503 } },
  {
    emit: [
      { text: '看过一月了 🙂' },
      { call: { name: 'bill', raw: '{"month": 12345678901234567890, "x":1.0}', id: 'functions.bill:0' } },
      { call: { name: 'bill', raw: '{"month": 2', id: '' } },
      { call: { name: 'nobody', raw: '' } },
    ],
  },
  { emit: [{ reasoning: '够了。' }, { text: '一月 100 元。' }] },
  { emit: [{ text: '不客气。' }] },
]

it('L2: every request is rebuilt from the log alone, byte for byte', async () => {
  const server = await chatServer(script, { reasoning: 'spans' })
  servers.push(server)
  const path = join(folder, 'sessions.db')
  const harness = await createHarness({ store: path, plugins: [options] })
  const session = await harness.open(agent({ model: modelAt(server), instructions: '只看账单。', tools: [bill] }), {
    session: 'bills',
  })
  const first = await session.send('一月的账单是多少？\u0000\ud800')
  await session.steer('只看一月')
  expect((await first.outcome).kind).toBe('completed')
  expect((await (await session.send('谢谢')).outcome).kind).toBe('completed')
  await harness.close()
  expect(server.complaints).toEqual([])

  const rebuilt = await rebuild(path)
  const sent = server.seen.map((request) => request.raw)
  expect(sent).toHaveLength(5)
  // The failed attempt and the one after it are the same step, hence the same request.
  expect(rebuilt).toEqual([sent[0], sent[2], sent[3], sent[4]])
  expect(sent[1]).toBe(sent[2])
})

const bill = tool({
  name: 'bill',
  description: 'The bill of a month',
  effect: 'read',
  input: z.object({ month: z.number() }),
  run: ({ month }) => `month ${month}: 100\u0000 \udfff 元`,
})

/** Provider options are part of a request, so they are part of the log. */
const options: Plugin = {
  name: 'options',
  setup: (scope) => scope.on('transformRequest', (_options, { step }) => ({ temperature: step / 10 })),
}

function modelAt({ url }: ChatServer): Model {
  return chatModel({
    provider: 'local',
    model: 'm1',
    baseUrl: url,
    apiKey: 'key',
    dialect: 'deepseek',
    clock: nodeClock,
  })
}

/** Reads the log with fresh objects and sends each request to a server that only takes note. */
async function rebuild(path: string): Promise<string[]> {
  const notes = await chatServer(script.map(() => ({ emit: [{ text: 'noted' }] })))
  servers.push(notes)
  const model = modelAt(notes)
  const harness = await createHarness({ store: path })
  const session = await harness.attach('bills')
  for (const event of await session.history()) {
    if (event.type !== 'reply.completed') continue
    const { messages, ...request } = await session.context({ turn: event.turn, step: event.step })
    const tools = request.tools as never
    const copy = new Messages(structuredClone(messages) as never)
    for await (const chunk of model.stream(
      { ...request, tools, messages: copy, session: sessionId('bills') },
      new AbortController().signal,
    ))
      void chunk
  }
  await harness.close()
  return notes.seen.map((request) => request.raw)
}
