import { afterEach, describe, expect, it } from 'vitest'
import { nodeIds } from '../../host/node.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { sessionId } from '../../kernel/ids.ts'
import { LiveBus } from './live.ts'
import { StoredSession } from './session-handle.ts'

const handles: StoredSession[] = []
afterEach(async () => {
  for (const handle of handles.splice(0)) await handle.close()
})

async function handleOf(...inputs: readonly string[]): Promise<StoredSession> {
  const clock = new FakeClock()
  const store = memoryStore({ clock })
  const session = sessionId('s')
  await store.create(session)
  const handle = new StoredSession({ session, store, clock, ids: nodeIds, bus: new LiveBus(), onClose: () => {} })
  handles.push(handle)
  for (const id of inputs) await handle.send(id, { id })
  return handle
}

describe('the queue of a session', () => {
  it('I7: moves an input before another, or to the end', async () => {
    const { queue } = await handleOf('a', 'b', 'c')
    const order = async (): Promise<string[]> => (await queue.list()).map(({ id }) => id)
    await queue.move('c', { before: 'a' })
    expect(await order()).toEqual(['c', 'a', 'b'])
    await queue.move('c')
    expect(await order()).toEqual(['a', 'b', 'c'])
  })

  it('I7: names the input that is not there, the one that moves or the one before which it is to stand', async () => {
    const { queue } = await handleOf('a', 'b')
    const missing = (id: string) => ({
      code: 'input-missing',
      message: `session "s" has no pending input "${id}"; \`queue\` lists what is pending`,
      data: { session: 's', input: id },
    })
    await expect(queue.move('x', { before: 'a' })).rejects.toMatchObject(missing('x'))
    await expect(queue.move('a', { before: 'x' })).rejects.toMatchObject(missing('x'))
    await expect(queue.move('x')).rejects.toMatchObject(missing('x'))
    await queue.withdraw('b')
    await expect(queue.move('a', { before: 'b' })).rejects.toMatchObject(missing('b'))
    await expect(queue.move('b')).rejects.toMatchObject({
      code: 'input-settled',
      message: expect.stringContaining('"b"'),
    })
  })
})

describe('an option that there is not', () => {
  // For those who have no types. What was meant by it would be left out without a word: a hash that binds nothing (A2), an id that is no key (I1).
  const wrong = { argHash: 'h', nope: 1 } as object
  const refused = (verb: string) => ({
    code: 'config-invalid',
    message: expect.stringMatching(new RegExp(`^${verb} has no "argHash"; known: `)),
  })

  it('is refused by every verb that posts, and nothing is posted', async () => {
    const session = await handleOf()
    await expect(session.send('x', wrong)).rejects.toMatchObject(refused('send'))
    await expect(session.steer('x', wrong)).rejects.toMatchObject(refused('steer'))
    await expect(session.note('x', wrong)).rejects.toMatchObject(refused('note'))
    await expect(session.abort(wrong)).rejects.toMatchObject(refused('abort'))
    await expect(session.approve('c', wrong)).rejects.toMatchObject(refused('approve'))
    await expect(session.deny('c', wrong)).rejects.toMatchObject(refused('deny'))
    await expect(session.answer('c', 'x', wrong)).rejects.toMatchObject(refused('answer'))
    await expect(session.resume(wrong)).rejects.toMatchObject(refused('resume'))
    expect(await session.queue.list()).toEqual([])
  })

  it('is refused by every verb that reads, and by a move', async () => {
    const session = await handleOf('a')
    await expect(session.history(wrong)).rejects.toMatchObject(refused('history'))
    await expect(session.watch(wrong).next()).rejects.toMatchObject(refused('watch'))
    await expect(session.queue.move('a', wrong)).rejects.toMatchObject(refused('queue.move'))
  })

  it('lists those there are', async () => {
    const session = await handleOf()
    await expect(session.approve('c', wrong)).rejects.toThrow(
      'approve has no "argHash"; known: id, from, expiresInMs, always, argsHash',
    )
  })
})
