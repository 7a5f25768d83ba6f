/** Cases about long sessions: nothing is kept that nobody needs, nothing is copied that did not change. */
import { describe, expect, it } from 'vitest'
import type { Script } from '../../src/models/scripted/index.ts'
import { scriptedModel } from '../../src/models/scripted/index.ts'
import type { Message } from '../../src/kernel/message.ts'
import { Messages } from '../../src/kernel/message.ts'
import type { Append, ModelRequest } from '../../src/runtime/ports.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { overStore } from '../../src/stores/over-store.ts'
import { drainMicrotasks, FakeClock } from '../../src/testing/fake-clock.ts'
import { agentOf, heldTool, soon, strictModel, toolOf, useBenches } from './bench.ts'

const bench = useBenches()

/** Listeners that wait for an abort, per signal, while `run` runs: how many there were at most, and how many are left. */
async function countListeners(
  run: () => Promise<void>,
): Promise<{ readonly most: number; readonly left: number; readonly signals: number }> {
  const waiting = new Map<EventTarget, number>()
  let most = 0
  const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype
  const change = (target: EventTarget, by: number): void => {
    const count = (waiting.get(target) ?? 0) + by
    waiting.set(target, count)
    most = Math.max(most, count)
  }
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args: Parameters<typeof add>) {
    if (args[0] === 'abort') change(this, 1)
    return add.apply(this, args)
  }
  EventTarget.prototype.removeEventListener = function (this: EventTarget, ...args: Parameters<typeof remove>) {
    if (args[0] === 'abort') change(this, -1)
    return remove.apply(this, args)
  }
  try {
    await run()
  } finally {
    Object.assign(EventTarget.prototype, { addEventListener: add, removeEventListener: remove })
  }
  let left = 0
  for (const [target, count] of waiting) if (!(target as AbortSignal).aborted) left += count
  return { most, left, signals: waiting.size }
}

/** Four calls per step, for so many steps. */
const working =
  (steps: number): Script =>
  (_request, { position }) =>
    position % (steps + 1) < steps
      ? { emit: ['a', 'b', 'c', 'd'].map((name) => ({ call: { name, args: { position } } })) }
      : { emit: [{ text: 'done' }] }

const tools = ['a', 'b', 'c', 'd'].map((name, n) =>
  toolOf(
    name,
    async ({ position }, { signal }) => {
      const listener = (): void => {}
      signal.addEventListener('abort', listener, { once: true })
      await Promise.resolve()
      signal.removeEventListener('abort', listener)
      return `${name} at ${position as string}`
    },
    { effect: n === 0 ? 'write' : 'read', resources: () => [{ name, mode: 'read' }] },
  ),
)

describe('what a long session keeps', () => {
  it('case 095: listeners on every signal stay few over 500 steps of four calls, and none is left', async () => {
    const one = bench()
    const model = scriptedModel(working(500))
    const counted = await countListeners(async () => {
      const harness = one.harness()
      const session = await harness.open(agentOf(model, { tools, limits: { steps: 600 } }), { session: 's' })
      await session.settled()
      const armed = one.clock.armed
      expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
      await session.settled()
      expect(model.requests).toHaveLength(501)
      // What is due is served first.
      await one.clock.advance(0)
      expect(one.clock.armed).toBe(armed)
      await harness.close()
    })
    expect(counted.signals).toBeGreaterThan(1)
    expect(counted.most).toBeLessThanOrEqual(8)
    expect(counted.left).toBe(0)
  })

  it('case 095: nor do 20 turns with aborts, timeouts, retries and watchers leave a listener or a timer', async () => {
    const one = bench()
    const held = heldTool('slow', { effect: 'read', timeoutMs: 1_000 })
    const model = scriptedModel((request, { attempt }) => {
      if (request.messages.at(-1)!.role === 'tool') return { emit: [{ text: 'done' }] }
      return attempt === 1 ? { fault: { kind: 'http', status: 503 } } : { emit: [{ call: { name: 'slow' } }] }
    })
    let armed = 0
    const counted = await countListeners(async () => {
      const harness = one.harness()
      const session = await harness.open(agentOf(model, { tools: [held.tool] }), { session: 's' })
      await session.settled()
      for (let n = 1; n <= 20; n++) {
        const turn = await session.send(`turn ${n}`)
        await one.run(() => held.starts.length === n)
        if (n % 2 === 0) await session.abort()
        await one.settle(turn.outcome)
        held.starts[n - 1]!.end('too late')
        await session.settled()
        await one.run(async () => (await session.queue.list()).length === 0)
        armed = Math.max(armed, one.clock.armed)
        if (n % 2 === 0) await soon(() => true)
      }
      expect(harness.alive).toEqual({ drivers: 1, listeners: 0 })
      await harness.close()
      expect(harness.alive).toEqual({ drivers: 0, listeners: 0 })
    })
    expect(armed).toBeLessThanOrEqual(2)
    expect(counted.most).toBeLessThanOrEqual(8)
    expect(counted.left).toBe(0)
    expect(one.errors).toEqual([])
  })
})

describe('what a harness keeps of what was closed', () => {
  it('case 095: a handle that was closed is forgotten, whoever opened it', async () => {
    const one = bench()
    const model = scriptedModel(() => ({ emit: [{ text: 'done' }] }))
    const harness = one.harness()
    const session = await harness.open(agentOf(model), { session: 's' })
    const handles = [
      session,
      await harness.attach('s'),
      await harness.open(agentOf(model), { session: 's', readonly: true }),
    ]
    let closedAgain = 0
    for (const handle of handles) {
      await handle.close()
      Object.assign(handle, { close: async () => void closedAgain++ })
    }
    await harness.close()
    expect(closedAgain).toBe(0)
  })
})

describe('what a step of a long session costs', () => {
  it('case 096: a request shares every message with the one before it, and what readers get cannot be changed', async () => {
    const one = bench()
    const views: Message[][] = []
    const model = strictModel((request, turn) => {
      views.push([...request.messages])
      return typeof grows === 'function' ? grows(request, turn) : null
    })
    const session = await one.harness().open(agentOf(model, { tools, limits: { steps: 60 } }))
    await (
      await session.send('go')
    ).outcome
    expect(views).toHaveLength(51)
    for (const [at, view] of views.entries()) {
      const next = views[at + 1]
      if (next === undefined) break
      expect(view.every((message, index) => message === next[index])).toBe(true)
    }
    const requests: readonly ModelRequest[] = model.requests
    expect(requests.every(({ messages }) => messages instanceof Messages)).toBe(true)
    expect(new Set(requests.map((request) => request.tools)).size).toBe(1)
    // An older view does not see what came later.
    expect(requests.map(({ messages }) => [...messages].length)).toEqual(views.map((view) => view.length))
  })

  it('case 096: what a step asks of its store does not grow with the session', async () => {
    const early = await storeWork(20)
    const late = await storeWork(400)
    expect({ ...late, units: 0 }).toEqual({ ...early, units: 0 })
    expect(late.units / early.units).toBeCloseTo(1, 1)
    expect(late.reads).toBe(0)
  })

  it('L3: hearing of a post reads that post, and starting a turn reads none, however many wait', async () => {
    const clock = new FakeClock()
    const inner = memoryStore({ clock })
    const read = { posting: 0, running: 0, lists: 0 }
    let phase: 'posting' | 'running' = 'posting'
    const store = overStore(inner, {
      pending: (...args) => (read.lists++, inner.pending(...args)),
      async pendingSince(...args) {
        const changes = await inner.pendingSince(...args)
        read[phase] += changes.pending.length + changes.gone.length
        return changes
      },
    })
    const one = bench(store, clock)
    const held = heldTool('hold')
    const model = strictModel((_request, { position }) =>
      position === 0 ? { emit: [{ call: { name: 'hold' } }] } : { emit: [{ text: 'done' }] },
    )
    const session = await one.harness().open(agentOf(model, { tools: [held.tool] }))
    await session.send('go')
    const { end } = await held.started()
    for (let post = 0; post < 300; post++) {
      await session.send(`post ${post}`)
      await drainMicrotasks()
    }
    // The first post, and once more as its claim was made.
    expect(read).toEqual({ posting: 302, running: 0, lists: 0 })
    phase = 'running'
    end('held no more')
    await one.settle(session.settled())
    expect(model.requests).toHaveLength(302)
    expect(read).toEqual({ posting: 302, running: 0, lists: 0 })
  })

  const grows = working(50)

  /** What the store is asked for in the tenth step before the last. */
  async function storeWork(steps: number) {
    const clock = new FakeClock()
    const inner = memoryStore({ clock })
    let work = { appends: 0, events: 0, units: 0, pending: 0, reads: 0, snapshots: 0 }
    const store = overStore(inner, {
      append: (append: Append) => {
        work.appends++
        work.events += append.events.length
        work.units += JSON.stringify(append.events.map((event) => ({ ...event, seq: 0, step: 0 }))).replaceAll(
          /"(fingerprint|progress)":"\w*"|\d+/g,
          '',
        ).length
        return inner.append(append)
      },
      pendingSince: (...args) => (work.pending++, inner.pendingSince(...args)),
      read: (...args) => (work.reads++, inner.read(...args)),
    })
    const one = bench(store, clock)
    let seen: typeof work | null = null
    const model = scriptedModel((_request, { position }) => {
      if (position === steps - 10) work = { appends: 0, events: 0, units: 0, pending: 0, reads: 0, snapshots: 0 }
      if (position === steps - 5) seen = { ...work }
      const answer = working(steps)
      return typeof answer === 'function' ? answer(_request, { position, attempt: 1 }) : null
    })
    const session = await one.harness().open(agentOf(model, { tools, limits: { steps: steps + 10 } }))
    await session.send('go')
    await session.settled()
    return seen!
  }
})
