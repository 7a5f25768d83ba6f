/** Cases about the state that a provider wants back: the very bytes, at their place, or none of it. */
import { afterEach, describe, expect, it } from 'vitest'
import { nodeIds } from '../../src/host/node.ts'
import type { Message } from '../../src/kernel/message.ts'
import type { Script, ScriptStep } from '../../src/models/scripted/index.ts'
import type { Model, ModelChunk } from '../../src/runtime/ports.ts'
import type { SqliteBench } from '../../src/stores/sqlite/bench.case.ts'
import { sqliteBench } from '../../src/stores/sqlite/bench.case.ts'
import type { StrictModel } from './bench.ts'
import { agentOf, eventsOf, linesOf, strictModel, toolOf, unclosed, useBenches } from './bench.ts'

const bench = useBenches()
const files: SqliteBench[] = []
afterEach(async () => {
  for (const file of files.splice(0)) await file.close()
})

async function fileBench() {
  const file = await sqliteBench()
  files.push(file)
  return bench(unclosed(file.store), file.clock)
}

/** What came out of the model itself, before anybody else had it. */
function listening(model: StrictModel): { readonly model: Model; readonly received: string[] } {
  const received: string[] = []
  return {
    received,
    model: {
      ...model,
      async *stream(request, signal): AsyncGenerator<ModelChunk> {
        for await (const chunk of model.stream(request, signal)) {
          if (chunk.type === 'end' && 'reply' in chunk && chunk.reply.replay !== null)
            received.push(hash(chunk.reply.replay))
          yield chunk
        }
      },
    },
  }
}

const hash = (text: string): string => nodeIds.sha256(text)
const hashes = (messages: Iterable<Message>): string[] =>
  [...messages].flatMap((message) =>
    message.role === 'assistant' && message.replay !== undefined ? [hash(message.replay.state)] : [],
  )
const exact: ScriptStep = { expect: { replayExact: true } }
const tools = ['a', 'b', 'c'].map((name) => toolOf(name, () => name.toUpperCase()))

describe('replay state', () => {
  it('case 024: it is the same at receipt, in the log, after a reload and in the outbound request, and the parts keep their order', async () => {
    const one = await fileBench()
    const script: Script = [
      {
        emit: [{ reasoning: 'think t1' }, { call: { name: 'a' } }, { reasoning: 'think t2' }, { call: { name: 'b' } }],
      },
      { ...exact, emit: [{ text: 'half' }, { reasoning: 'after' }, { call: { name: 'c' } }] },
      { ...exact, emit: [{ text: 'done' }] },
      { ...exact, emit: [{ text: 'more' }] },
    ]
    const strict = strictModel(script, { cursor: 'context' })
    const { model, received } = listening(strict)
    const spec = agentOf(model, { tools })
    const first = await one.harness().open(spec, { session: 's' })
    expect(await (await first.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(received).toHaveLength(3)
    expect((await eventsOf(first, 'reply.completed')).map((reply) => hash(reply.replay!.state))).toEqual(received)
    await first.close()

    const again = await one.harness().open(spec, { session: 's' })
    expect(hashes((await again.context()).messages)).toEqual(received)
    expect(await (await again.send('more')).outcome).toMatchObject({ kind: 'completed' })
    const outbound = strict.requests.at(-1)!.messages
    expect(hashes(outbound)).toEqual(received.slice(0, 3))
    const said = outbound.at(1)!
    expect(
      said.role === 'assistant' && said.parts.map((part) => (part.type === 'call' ? part.call : part.text)),
    ).toEqual(['think t1', 't1s1c1', 'think t2', 't1s1c2'])
    expect(strict.failures).toEqual([])
    expect(strict.refusals).toEqual([])
  })

  it('case 024: an abort, a steer and a late result between do not change it', async () => {
    const one = await fileBench()
    const strict = strictModel(
      [
        { emit: [{ reasoning: 'r1' }, { call: { name: 'a' } }] },
        { ...exact, emit: [{ text: 'spoken' }] },
        { ...exact, emit: [{ text: 'end' }] },
      ],
      { cursor: 'context' },
    )
    const { model, received } = listening(strict)
    const session = await one.harness().open(agentOf(model, { tools }), { session: 's' })
    await (
      await session.send('go')
    ).outcome
    await session.note('by the way')
    await (
      await session.steer('and left')
    ).outcome
    expect(hashes(strict.requests.at(-1)!.messages)).toEqual(received.slice(0, 2))
    expect(strict.failures).toEqual([])
  })

  it('case 026: all calls of one reply stay in one message, in order, and the state stays with the reply that brought it', async () => {
    const one = bench()
    const strict = strictModel([
      { emit: ['a', 'b', 'c'].map((name) => ({ call: { name } })) },
      { ...exact, expect: { replayExact: true, replayCount: 1 }, emit: [{ text: 'done' }] },
    ])
    const { model, received } = listening(strict)
    const session = await one.harness().open(agentOf(model, { tools }))
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    const messages = strict.requests[1]!.messages
    expect(linesOf(messages)).toEqual([
      'user go',
      'assistant a#t1s1c1 b#t1s1c2 c#t1s1c3',
      'tool t1s1c1 ok',
      'tool t1s1c2 ok',
      'tool t1s1c3 ok',
    ])
    expect(hashes(messages)).toEqual([received[0]])
    expect(strict.failures).toEqual([])
  })
})
