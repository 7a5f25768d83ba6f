import { describe, expect, it } from 'vitest'
import { CONTENT, entered, LIMITS } from '../../../test/kit/log.ts'
import type { Event } from '../../kernel/events.ts'
import { emptyState } from '../../kernel/fold.ts'
import { inputId, sessionId } from '../../kernel/ids.ts'
import { memoryStore } from '../../stores/memory/index.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { InputsGone, Journal } from './journal.ts'
import { noSyncPoints } from '../sync-points.ts'

const SESSION = sessionId('s')
const ENTERED = { kind: 'entered', turn: 1, step: 1 } as const

/** A journal on an open turn. */
async function writing() {
  const clock = new FakeClock()
  const store = memoryStore({ clock })
  await store.create(SESSION)
  await store.acquire(SESSION, { owner: 'a', ttlMs: 1_000 })
  const durable: Event[] = []
  const state = emptyState()
  const journal = new Journal({
    store,
    session: SESSION,
    fence: 1,
    state,
    sync: noSyncPoints,
    onDurable: (events) => durable.push(...events),
  })
  journal.record({ type: 'session.created', format: 1, agent: 'a', locale: 'en' })
  journal.record({ type: 'epoch.started', n: 1, reason: 'created', content: CONTENT })
  journal.record({ type: 'turn.started', trigger: 'input', limits: LIMITS })
  const post = (id: string, lane: 'steer' | 'followup' = 'steer'): ReturnType<typeof store.put> =>
    store.put(SESSION, { id: inputId(id), lane, origin: { kind: 'user' }, content: [{ type: 'text', text: id }] })
  const pending = async (id: string) => (await store.pending(SESSION)).find((input) => input.id === id)!
  const stored = async (): Promise<string[]> => (await store.read(SESSION)).events.map((event) => event.type)
  return { clock, store, journal, durable, post, pending, stored }
}

const END = { type: 'turn.ended', outcome: { kind: 'blocked', reason: 'r' }, goal: 'unchecked' } as const

/** What is done at once may throw at once. */
const asked = async <T>(ask: () => T): Promise<Awaited<T>> => await ask()

describe('the journal', () => {
  it('folds at once, and shows to watchers only what is durable', async () => {
    const { journal, durable, stored } = await writing()
    expect([journal.state.turn?.n, durable, await stored(), journal.isClean]).toEqual([1, [], [], false])
    await journal.flush()
    expect(await stored()).toEqual(['session.created', 'epoch.started', 'turn.started'])
    expect(durable.map((event) => [event.seq, event.fence, event.turn, event.step])).toEqual([
      [1, 1, 0, 0],
      [2, 1, 0, 0],
      [3, 1, 1, 0],
    ])
    expect([journal.tail, journal.isClean]).toEqual([3, true])
  })

  it('flushes nothing if there is nothing', async () => {
    const { journal, durable } = await writing()
    await journal.flush()
    await journal.flush()
    expect(durable).toHaveLength(3)
  })

  it('refuses what is illegal, with its rule, and goes on', async () => {
    const { journal, stored } = await writing()
    expect(() => journal.record({ type: 'step.ended' })).toThrow(
      expect.objectContaining({ code: 'rule-broken', data: { rule: 'T1', type: 'step.ended', seq: 4 } }),
    )
    await expect(asked(() => journal.commit({ type: 'step.ended' }, []))).rejects.toMatchObject({ code: 'rule-broken' })
    await journal.flush()
    expect(await stored()).toHaveLength(3)
  })

  it('I5: a commit that its lanes forbid changes nothing, neither here nor there', async () => {
    const { journal, post, stored } = await writing()
    await post('a')
    expect(await journal.commit(END, ['steer'])).toBe('pending')
    expect([journal.state.turn?.n, await stored(), journal.isClean]).toEqual([1, [], false])
    expect(await journal.commit(END, ['control'])).toBe('done')
    expect([journal.state.turn, (await stored()).at(-1)]).toEqual([null, 'turn.ended'])
  })

  it('I2: what an event says of an input, and that it is settled, come true together', async () => {
    const { journal, store, post, pending } = await writing()
    await post('a')
    journal.record(entered('a'))
    journal.consume(await pending('a'), ENTERED)
    expect(await store.receipt(SESSION, inputId('a'))).toEqual({ kind: 'queued' })
    expect(await journal.commit({ type: 'step.started', purpose: 'step' }, ['steer'])).toBe('done')
    expect(await store.receipt(SESSION, inputId('a'))).toEqual(ENTERED)
    await journal.flush()
  })

  it('I7: a claim of an input that was changed meanwhile is void: nothing is written', async () => {
    const { journal, store, post, pending, stored } = await writing()
    await post('a')
    journal.record(entered('a'))
    journal.consume(await pending('a'), ENTERED)
    await store.edit(SESSION, inputId('a'), { content: [{ type: 'text', text: 'better' }] })
    expect(await journal.commit({ type: 'step.started', purpose: 'step' }, [])).toBe('gone')
    await expect(asked(() => journal.flush())).rejects.toBeInstanceOf(InputsGone)
    expect(await stored()).toEqual([])
  })

  it('knows whether results would be lost with its buffer', async () => {
    const { journal } = await writing()
    await journal.flush()
    expect(journal.holdsResults).toBe(false)
    journal.record(entered('a'))
    journal.record({ type: 'step.started', purpose: 'step' })
    expect(journal.holdsResults).toBe(false)
    await journal.commit({ type: 'model.requested', attempt: 1, purpose: 'step', messages: 1, toolChoice: 'auto' }, [])
    journal.record({
      type: 'model.failed',
      attempt: 1,
      failure: { kind: 'server', message: '', retry: true },
      retryAt: 1,
      text: '',
      usage: { known: true, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    })
    expect(journal.holdsResults).toBe(true)
    await journal.flush()
    expect(journal.holdsResults).toBe(false)
  })

  it('W1: a writer whose lease was taken is told so, and has written nothing', async () => {
    const { journal, clock, store, durable } = await writing()
    await clock.advance(1_000)
    await store.acquire(SESSION, { owner: 'b', ttlMs: 1_000 })
    await expect(asked(() => journal.flush())).rejects.toMatchObject({ code: 'lease-lost' })
    expect([durable, (await store.read(SESSION)).events]).toEqual([[], []])
  })

  it('L1: a log that grew under its writer is a conflict', async () => {
    const { journal, store } = await writing()
    const event = { type: 'loop.noted', key: 'k', value: 1, seq: 1, at: 0, fence: 1, turn: 0, step: 0 } as const
    await store.append({ session: SESSION, fence: 1, tail: 0, events: [event], consume: [] })
    await expect(asked(() => journal.flush())).rejects.toMatchObject({
      code: 'log-conflict',
      message: expect.stringContaining('its tail is 1, expected 0'),
    })
  })
})
