import { describe, expect, it } from 'vitest'
import { inputId, sessionId } from '../../kernel/ids.ts'
import { textPart } from '../../kernel/message.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { drainMicrotasks, FakeClock } from '../../testing/fake-clock.ts'
import { deferred, type Deferred } from '../../util/deferred.ts'
import { Inbox } from './inbox.ts'
import type { Store } from '../ports.ts'

const SESSION = sessionId('s')

async function inboxWith(...texts: readonly string[]) {
  const store = memoryStore({ clock: new FakeClock() })
  await store.create(SESSION)
  const post = (text: string) =>
    store.put(SESSION, { id: inputId(text), lane: 'steer', origin: { kind: 'steer' }, content: [textPart(text)] })
  for (const text of texts) await post(text)
  const inbox = new Inbox(store, SESSION)
  const listed = async (): Promise<string[]> => {
    inbox.touch()
    await inbox.refresh()
    return inbox.messages(['steer']).map((input) => input.id)
  }
  return { store, inbox, post, listed }
}

/** A store whose queue has been read, and whose answers come when the test lets them. */
function slowStore(store: Store, gates: Deferred<void>[]): Store {
  return new Proxy(store, {
    get(target, key) {
      if (key !== 'pending') return Reflect.get(target, key) as unknown
      return async () => {
        const pending = await store.pending(SESSION)
        const gate = deferred<void>()
        gates.push(gate)
        await gate.promise
        return pending
      }
    },
  })
}

describe('Inbox', () => {
  it('I2: an input that was taken is not taken again by a reading before its commit', async () => {
    const { inbox, post, listed } = await inboxWith('one')
    await listed()
    inbox.drop(inbox.messages(['steer']))
    await post('two')
    expect(await listed()).toEqual(['two'])
    expect(inbox.view.steer).toBe(1)
  })

  it('I2: whoever looks sees at least what was there when he looked, also if a reading was under way', async () => {
    const { store, inbox, post } = await inboxWith('one')
    const gates: Deferred<void>[] = []
    const slow = new Inbox(slowStore(store, gates), SESSION)
    const first = slow.refresh()
    await drainMicrotasks()
    // Comes after the store was read, before the answer is here.
    await post('two')
    slow.touch()
    const second = slow.refresh()
    gates[0]!.resolve()
    await drainMicrotasks()
    gates[1]!.resolve()
    await Promise.all([first, second])
    expect(slow.messages(['steer']).map((input) => input.id)).toEqual(['one', 'two'])
    expect(inbox.isStale).toBe(true)
  })

  it('reads once for several who look, and not at all if nothing came', async () => {
    const { store } = await inboxWith('one')
    const gates: Deferred<void>[] = []
    const slow = new Inbox(slowStore(store, gates), SESSION)
    const looking = [slow.refresh(), slow.refresh()]
    await drainMicrotasks()
    gates[0]!.resolve()
    await Promise.all(looking)
    await slow.refresh()
    expect(gates).toHaveLength(1)
  })

  it('W3: a reading that failed is still to be done', async () => {
    const { store } = await inboxWith('one')
    const gates: Deferred<void>[] = []
    const slow = new Inbox(slowStore(store, gates), SESSION)
    const failing = slow.refresh()
    await drainMicrotasks()
    gates[0]!.reject(new Error('the store is away'))
    await expect(failing).rejects.toThrow('the store is away')
    expect(slow.isStale).toBe(true)
    const again = slow.refresh()
    await drainMicrotasks()
    gates[1]!.resolve()
    await again
    expect(slow.view.steer).toBe(1)
  })

  it('counts its lanes, and knows the newest arrival that can start a turn', async () => {
    const { store } = await inboxWith()
    const post = (id: string, lane: 'steer' | 'note' | 'followup', promptness: 'gate' | 'now' = 'gate') =>
      store.put(SESSION, { id: inputId(id), lane, origin: { kind: 'user' }, content: [textPart(id)], promptness })
    await post('a', 'followup')
    await post('b', 'steer', 'now')
    await post('c', 'note')
    const inbox = new Inbox(store, SESSION)
    expect(inbox.view).toMatchObject({ followup: 0, newestTail: -1 })
    await inbox.refresh()
    expect(inbox.view).toEqual({ control: 0, steer: 1, note: 1, followup: 1, steerNow: 1, newestTail: 0 })
  })

  it('what was taken and not committed is there again once the state is loaded anew', async () => {
    const { inbox, listed } = await inboxWith('one')
    await listed()
    inbox.drop(inbox.messages(['steer']))
    expect(await listed()).toEqual([])
    inbox.reset()
    expect(await listed()).toEqual(['one'])
  })
})
