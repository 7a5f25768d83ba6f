import { describe, expect, it } from 'vitest'
import { sessionId } from '../../kernel/ids.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { AbortScope } from '../../util/signal.ts'
import { Follower } from './follow.ts'
import { LiveBus } from './live.ts'

const SESSION = sessionId('s')
const BOUND = 10_000

describe('a slow reader', () => {
  it('keeps a bounded number of deltas, the newest of them', async () => {
    const store = memoryStore({ clock: new FakeClock() })
    await store.create(SESSION)
    const bus = new LiveBus()
    const scope = new AbortScope()
    const follower = new Follower({ store, bus, session: SESSION, after: 0, scope })
    const sent = 3 * BOUND + 7
    for (let n = 1; n <= sent; n++)
      bus.publish(SESSION, { type: 'reasoning', turn: 1, step: 1, attempt: 1, text: String(n) })
    const { live } = (await follower.next())!
    expect(live.length).toBeLessThanOrEqual(BOUND)
    const numbers = live.map((delta) => ('text' in delta ? Number(delta.text) : 0))
    expect(numbers).toEqual(Array.from(live, (_, at) => sent - live.length + 1 + at))
    follower.close()
    expect(bus.size).toBe(0)
    await store.close()
  })
})
