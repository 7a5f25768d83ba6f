import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { useWorlds } from '../../../test/kit/world.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
import { deferred } from '../../util/deferred.ts'
import { agent } from '../define/agent.ts'
import type { Model, ModelChunk, ModelReply } from '../ports.ts'

const worldOf = useWorlds()
const reply: ModelReply = {
  parts: [{ type: 'text', text: 'done' }],
  calls: [],
  replay: null,
  usage: null,
  rawFinish: 'stop',
}
const ENDS: readonly ModelChunk[] = [
  { type: 'end', kind: 'done', reply },
  {
    type: 'end',
    kind: 'error',
    failure: { kind: 'invalid-request', message: 'no', retry: false },
    usage: null,
  },
]

describe('an adapter that would hang after its terminal', () => {
  it.each(ENDS.map((end) => [end.type === 'end' ? end.kind : '', end] as const))(
    'T7: %s: is closed, and nothing of it is left',
    async (_kind, end) => {
      const world = worldOf()
      const signals: AbortSignal[] = []
      let closed = 0
      const model: Model = {
        ...scriptedModel([]),
        async *stream(_request, signal): AsyncGenerator<ModelChunk> {
          signals.push(signal)
          try {
            yield end
            await deferred<void>().promise
          } finally {
            closed++
          }
        },
      }
      const session = await world.start().open(agent({ model }))
      const before = world.clock.now()
      const turn = await session.send('go')
      expect(await turn.outcome).toMatchObject({
        kind: end.type === 'end' && end.kind === 'done' ? 'completed' : 'error',
      })
      await session.settled()
      expect([world.clock.now(), closed, signals.length]).toEqual([before, 1, 1])
      expect(getEventListeners(signals[0]!, 'abort')).toEqual([])
    },
  )
})
