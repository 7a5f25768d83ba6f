/** Cases about input that comes while a turn runs: none is lost, none is doubled, none enters in the wrong place. */
import { describe, expect, it } from 'vitest'
import { textOf } from '../../src/kernel/message.ts'
import type { PendingPolicy } from '../../src/kernel/input.ts'
import type { ModelRequest } from '../../src/runtime/ports.ts'
import type { Script } from '../../src/models/scripted/index.ts'
import type { Session } from '../../src/runtime/session.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { drainMicrotasks, FakeClock } from '../../src/testing/fake-clock.ts'
import { layerOver, type Verb } from '../../src/testing/sim/store-layer.ts'
import {
  agentOf,
  eventsOf,
  heldTool,
  linesOf,
  outcomesOf,
  soon,
  strictModel,
  syncAt,
  toolOf,
  useBenches,
} from './bench.ts'

const bench = useBenches()

/** Two calls first, then text for as long as somebody asks. */
const callsThenText: Script = (_request, { position }) =>
  position === 0
    ? { emit: [{ call: { name: 'a', id: '1' } }, { call: { name: 'b', id: '2' } }] }
    : { emit: [{ text: `text ${position}` }] }

const tools = [toolOf('a', () => 'A'), toolOf('b', () => 'B', { effect: 'write' })]

describe('a steer at any instant of a turn', () => {
  it('case 011: at every await point of a turn it is in exactly one place, once, after all results', async () => {
    const whole = await play(null)
    expect(whole.verbs).toBeGreaterThan(10)
    for (let at = 1; at <= whole.verbs; at++) {
      for (const side of ['before', 'after'] as const) {
        const { requests, session, posted, refusals, close } = await play({ at, side })
        const where = `${side} store verb ${at}`
        expect(posted, where).toBe(true)
        expect(refusals, where).toEqual([])
        const entered = (await eventsOf(session, 'input.entered')).filter((event) => event.lane === 'steer')
        expect(entered, where).toHaveLength(1)
        expect(
          (await eventsOf(session, 'turn.ended')).map((event) => event.outcome.kind),
          where,
        ).not.toContain('error')
        const last = linesOf(requests.at(-1)!.messages)
        expect(
          last.filter((line) => line.includes('rather left')),
          where,
        ).toHaveLength(1)
        const withSteer = requests.filter((request) =>
          linesOf(request.messages).some((line) => line.includes('rather left')),
        )
        expect(withSteer.length, where).toBeGreaterThan(0)
        expect(Object.keys(await outcomesOf(session)), where).toEqual(['t1s1c1', 't1s1c2'])
        await close()
      }
    }
  })

  const AROUND: ReadonlySet<Verb> = new Set<Verb>([
    'append',
    'pending',
    'release',
    'acquire',
    'due',
    'readSnapshot',
    'writePartial',
  ])

  interface Injection {
    readonly at: number
    readonly side: 'before' | 'after'
  }

  /** Plays the turn; posts a steer around the nth verb that the runner asks of its store. */
  async function play(injection: Injection | null) {
    const clock = new FakeClock()
    const inner = memoryStore({ clock })
    let session: Session | null = null
    let verbs = 0
    let posted = false
    let counting = true
    const post = async (): Promise<void> => {
      counting = false
      posted = true
      await session!.steer('rather left')
    }
    const store = layerOver(inner, async (verb, _args, run) => {
      if (!counting || session === null || !AROUND.has(verb)) return run()
      const nth = ++verbs
      if (injection?.at === nth && injection.side === 'before') await post()
      const answer = await run()
      if (injection?.at === nth && injection.side === 'after') await post()
      return answer
    })
    const one = bench(store, clock)
    const model = strictModel(callsThenText)
    session = await one.harness().open(agentOf(model, { tools }), { session: 's' })
    await session.settled()
    const turn = await session.send('go')
    await turn.outcome
    await session.settled()
    counting = false
    await soon(async () => (await session!.queue.list()).length === 0)
    await session.settled()
    expect((await session.status()).kind).toBe('idle')
    return { requests: model.requests, refusals: model.refusals, session, posted, verbs, close: () => session!.close() }
  }
})

describe('an abort between claim and append', () => {
  it.each(['keep', 'return', 'drop'] as const)(
    'case 012: with policy "%s" the claimed steer is in one place, and nothing starts by itself',
    async (pending) => {
      const { session, one, model, abort } = await open()
      let claims = 0
      abort.run = async () => {
        if (++claims === 2) await session.abort({ pending })
      }
      const turn = await session.send('go')
      const first = await abort.held.started()
      const steer = await session.steer('rather left')
      const later = await session.send('afterwards')
      first.end('A')
      expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'aborted' })
      await drainMicrotasks()
      expect(model.requests).toHaveLength(1)
      expect(await steer.state()).toMatchObject({ kind: 'entered', turn: 1 })
      expect((await eventsOf(session, 'input.entered')).filter((event) => event.input === steer.id)).toHaveLength(1)
      await provePolicy(pending, later.state())

      const next = await session.send('next')
      await next.outcome
      await session.settled()
      const lines = linesOf(model.requests.at(-1)!.messages)
      expect(lines.filter((line) => line.includes('rather left'))).toHaveLength(1)
      expect(lines.filter((line) => line === 'user afterwards')).toHaveLength(pending === 'keep' ? 1 : 0)
      expect(lines.filter((line) => line === 'user next')).toHaveLength(1)
      expect(model.refusals).toEqual([])
    },
  )

  it('case 012: a steer that was not claimed yet stays queued, waits, and is handed on by the next input', async () => {
    const { session, one, model, abort } = await open()
    const turn = await session.send('go')
    const first = await abort.held.started()
    const steer = await session.steer('rather left')
    await session.abort()
    first.fail(new Error('stopped'))
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'aborted' })
    await drainMicrotasks()
    expect(await steer.state()).toEqual({ kind: 'queued' })
    expect((await session.status()).kind).toBe('held')
    expect(model.requests).toHaveLength(1)
    await (
      await session.send('next')
    ).outcome
    const lines = linesOf(model.requests[1]!.messages)
    expect(lines.filter((line) => line.includes('rather left'))).toHaveLength(1)
    expect(lines.at(-1)).toBe('user next')
    expect(model.refusals).toEqual([])
  })

  it('case 012: `resume` lets a kept queue go on', async () => {
    const { session, one, model, abort } = await open()
    const turn = await session.send('go')
    const first = await abort.held.started()
    const later = await session.send('afterwards')
    await session.abort()
    first.fail(new Error('stopped'))
    await one.settle(turn.outcome)
    await session.resume()
    expect(await later.outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[1]!.messages).at(-1)).toBe('user afterwards')
  })

  async function open() {
    const one = bench()
    const held = heldTool('a', { effect: 'write' })
    const abort = { held, run: async (): Promise<void> => {} }
    const sync = { reach: (point: string) => (point === 'after-claim' ? abort.run() : undefined) }
    const model = strictModel(callsThenText)
    const session = await one
      .harness({ sync })
      .open(agentOf(model, { tools: [held.tool, tools[1]!] }), { session: 's' })
    return { one, session, model, abort }
  }

  async function provePolicy(policy: PendingPolicy, state: Promise<unknown>): Promise<void> {
    const reasons = { keep: null, return: 'returned', drop: 'dropped' }
    const reason = reasons[policy]
    expect(await state).toEqual(reason === null ? { kind: 'queued' } : { kind: 'rejected', reason })
  }
})

describe('a steer without a tool batch', () => {
  it('case 014: sent while idle it is in the first request', async () => {
    const one = bench()
    const model = strictModel([{ emit: [{ text: 'one' }] }])
    const session = await one.harness().open(agentOf(model))
    const turn = await session.steer('left, please')
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[0]!.messages)).toEqual(['user left, please'])
  })

  it("case 014: sent before a run, beside the run's own input, both are in the first request", async () => {
    const one = bench()
    const model = strictModel([{ emit: [{ text: 'one' }] }])
    const first = await one.harness().open(agentOf(model), { session: 's' })
    await first.close()
    const outside = await one.harness().attach('s')
    await outside.steer('left, please')
    await outside.send('go')
    const session = await one.harness().open(agentOf(model), { session: 's' })
    await session.settled()
    expect(linesOf(model.requests[0]!.messages)).toEqual(['user left, please', 'user go'])
    model.verify()
  })

  it('case 014: sent while plain text streams it keeps the turn from ending', async () => {
    const one = bench()
    const model = strictModel(
      [{ emit: [{ text: 'one two three' }], stream: { chunk: 4, delayMs: 10 } }, { emit: [{ text: 'left it is' }] }],
      { clock: one.clock },
    )
    const session = await one.harness().open(agentOf(model))
    const turn = await session.send('go')
    await one.clock.advance(20)
    const steer = await session.steer('left, please')
    expect(await one.settle(turn.outcome)).toMatchObject({ kind: 'completed' })
    expect(await steer.state()).toEqual({ kind: 'entered', turn: 1, step: 2 })
    expect(model.requests).toHaveLength(2)
    const last: ModelRequest = model.requests[1]!
    expect(linesOf(last.messages).slice(0, 2)).toEqual(['user go', 'assistant one two three'])
    const said = last.messages.at(-1)!
    expect(said.role === 'user' && textOf(said.content)).toMatch(/left, please$/)
    model.verify()
  })

  it('case 014: sent while the turn is ending it keeps it from ending, or starts the next one', async () => {
    const one = bench()
    const model = strictModel(callsThenText)
    let post = async (): Promise<void> => {}
    const session = await one
      .harness({ sync: syncAt('before-append', () => post(), 5) })
      .open(agentOf(model, { tools }))
    post = async () => void (await session.steer('left, please'))
    await (
      await session.send('go')
    ).outcome
    await session.settled()
    expect(linesOf(model.requests.at(-1)!.messages).filter((line) => line.includes('left, please'))).toHaveLength(1)
  })
})
