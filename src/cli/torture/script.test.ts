import { describe, expect, it } from 'vitest'
import { nodeClock } from '../../host/node.ts'
import { tool } from '../../runtime/define/define-tool.ts'
import type { Model } from '../../runtime/ports.ts'
import { createHarness } from '../../presets/harness.ts'
import { tortureModel } from './script.ts'

const ran: string[] = []
const named = (name: string) =>
  tool({
    name,
    description: name,
    input: { type: 'object', properties: {} },
    run: () => {
      ran.push(name)
      return name
    },
  })

/** Runs one message after the other, and tells what was run and how the turns ended. */
async function play(model: Model, tools: readonly string[], messages: readonly string[]): Promise<readonly string[]> {
  ran.length = 0
  const harness = await createHarness({ store: 'memory' })
  try {
    const session = await harness.open({ model, tools: tools.map(named) }, { session: 's' })
    for (const message of messages) ran.push((await (await session.send(message)).outcome).kind)
    return [...ran]
  } finally {
    await harness.close()
  }
}

describe('the model of a torture', () => {
  it('calls every tool once for each message, then answers', async () => {
    const once = ['a', 'b', 'c', 'completed']
    expect(await play(tortureModel(null, nodeClock), ['a', 'b', 'c'], ['one', 'two'])).toEqual([...once, ...once])
    expect(await play(tortureModel(null, nodeClock), [], ['one'])).toEqual(['completed'])
  })

  it('says that it is done where a script of steps has come to its end', async () => {
    const script = [{ emit: [{ call: { name: 'a' } }] }, { emit: [{ text: 'so' }] }]
    expect(await play(tortureModel(script, nodeClock), ['a'], ['one', 'two'])).toEqual(['a', 'completed', 'completed'])
  })
})
