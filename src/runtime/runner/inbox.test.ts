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
      const value = target[key as keyof Store] as unknown
      if (key !== 'pendingSince') return typeof value === 'function' ? (value.bind(target) as unknown) : value
      return async (...args: Parameters<Store['pendingSince']>) => {
        const changes = await store.pendingSince(...args)
        const gate = deferred<void>()
        gates.push(gate)
        await gate.promise
        return changes
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

  it('I6: an input that was taken and is edited meanwhile is not taken again before its commit', async () => {
    const { store, inbox, listed } = await inboxWith('one')
    await listed()
    inbox.drop(inbox.messages(['steer']))
    await store.edit(SESSION, inputId('one'), { content: [textPart('changed')] })
    expect(await listed()).toEqual([])
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

  it('I4: gives all steers and notes and so many followups, in order of arrival', async () => {
    const { store, inbox } = await inboxWith()
    const post = (id: string, lane: 'steer' | 'note' | 'followup') =>
      store.put(SESSION, { id: inputId(id), lane, origin: { kind: 'user' }, content: [textPart(id)] })
    for (const [id, lane] of [
      ['f1', 'followup'],
      ['s1', 'steer'],
      ['f2', 'followup'],
      ['n1', 'note'],
    ] as const)
      await post(id, lane)
    await inbox.refresh()
    const entering = (followups?: number) =>
      inbox.messages(['steer', 'note', 'followup'], followups).map((input) => input.id)
    expect(entering(0)).toEqual(['s1', 'n1'])
    expect(entering(1)).toEqual(['f1', 's1', 'n1'])
    expect(entering()).toEqual(['f1', 's1', 'f2', 'n1'])
  })

  it('I6: knows which inputs waited for too long', async () => {
    const clock = new FakeClock()
    const store = memoryStore({ clock })
    await store.create(SESSION)
    for (const [id, inMs] of Object.entries({ a: 30, b: 10, c: 20 })) {
      const expiresAt = clock.now() + inMs
      const origin = { kind: 'user' } as const
      await store.put(SESSION, { id: inputId(id), lane: 'followup', origin, content: [textPart(id)], expiresAt })
    }
    const inbox = new Inbox(store, SESSION)
    await inbox.refresh()
    const expired = () => inbox.expired().map((input) => input.id)
    await clock.advance(10)
    expect(expired()).toEqual([])
    await clock.advance(15)
    expect(expired()).toEqual(['b', 'c'])
    inbox.drop(inbox.expired())
    await clock.advance(100)
    expect(expired()).toEqual(['a'])
  })

  it('L3: an arrival costs one input read, however many wait', async () => {
    const { store, inbox } = await inboxWith(...Array.from({ length: 50 }, (_, at) => `i${at}`))
    await inbox.refresh()
    expect(inbox.takeRead()).toHaveLength(50)
    await store.move(SESSION, inputId('i49'), inputId('i0'))
    await store.withdraw(SESSION, inputId('i7'))
    inbox.touch()
    await inbox.refresh()
    expect(inbox.takeRead().map((input) => input.id)).toEqual(['i49'])
    expect(inbox.messages(['steer']).map((input) => input.id)).toEqual(
      (await store.pending(SESSION)).map((input) => input.id),
    )
  })

  it('I2: a reading that was under way when all was forgotten does not count as one since', async () => {
    const { store } = await inboxWith('one')
    const gates: Deferred<void>[] = []
    const slow = new Inbox(slowStore(store, gates), SESSION)
    const first = slow.refresh()
    await drainMicrotasks()
    gates[0]!.resolve()
    await first
    slow.drop(slow.messages(['steer']))
    slow.touch()
    const second = slow.refresh()
    await drainMicrotasks()
    slow.reset()
    gates[1]!.resolve()
    await drainMicrotasks()
    gates[2]!.resolve()
    await second
    expect(slow.messages(['steer']).map((input) => input.id)).toEqual(['one'])
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
