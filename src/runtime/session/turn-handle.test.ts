import { describe, expect, it } from 'vitest'
import { Tools } from '../../../test/kit/tools.ts'
import { useWorlds, type World } from '../../../test/kit/world.ts'
import { textOf } from '../../kernel/message.ts'
import { scriptedModel, type ScriptStep } from '../../models/scripted/index.ts'
import { agent } from '../define/agent.ts'
import type { Plugin } from '../define/plugin.ts'
import type { Session, Turn } from '../session.ts'

const worldOf = useWorlds()

/** A session whose first turn waits for a tool. */
async function working({ more = [], plugins = [] }: { more?: ScriptStep[]; plugins?: Plugin[] } = {}): Promise<{
  world: World
  tools: Tools
  session: Session
  first: Turn
}> {
  const world = worldOf()
  const tools = new Tools()
  tools.add('slow', { kind: 'hangs' }, { effect: 'read' })
  const steps: ScriptStep[] = [
    { emit: [{ text: 'wait' }, { call: { name: 'slow' } }] },
    { emit: [{ text: 'do' }, { text: 'ne' }] },
    ...more,
  ]
  const session = await world.start({ plugins }).open(agent({ model: scriptedModel(steps), tools: tools.all }))
  const first = await session.send('go', { id: 'first' })
  await world.settle()
  return { world, tools, session, first }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  )

describe('a turn', () => {
  it('streams its text, and no more than its own', async () => {
    const { world, tools, session, first } = await working({ more: [{ emit: [{ text: 'another' }] }] })
    const second = await session.send('and then')
    const texts = Promise.all([collect(first.text), collect(second.text)])
    await world.settle()
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    const [one, other] = await world.within(texts)
    expect([one.join(''), other.join('')]).toEqual(['waitdone', 'another'])
  })

  it('gives its events from its start to its end, to whoever asks, also afterwards', async () => {
    const { world, tools, session, first } = await working()
    const live = collect(first.events)
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    const events = await world.within(live)
    expect(events.map((event) => event.type)).toEqual(
      (await session.history()).filter((event) => event.turn === 1).map((event) => event.type),
    )
    expect(await world.within(collect(first.events))).toEqual(events)
    expect(await world.within(first.outcome)).toEqual({ kind: 'completed', goal: 'unchecked' })
  })

  it('I1: posted twice is one turn, and both hear of it', async () => {
    const { world, tools, session, first } = await working()
    const again = await session.send('go', { id: 'first' })
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    expect(await world.within(Promise.all([first.outcome, again.outcome]))).toEqual([
      await first.outcome,
      await first.outcome,
    ])
  })

  it('a steer that joins a turn ends with it', async () => {
    const { world, tools, session } = await working()
    const steer = await session.steer('only B')
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    expect(await world.within(steer.outcome)).toMatchObject({ kind: 'completed' })
    expect(await steer.state()).toEqual({ kind: 'entered', turn: 1, step: 2 })
  })

  it('I6: never comes of an input that was withdrawn, whatever happened since', async () => {
    const { world, tools, session } = await working()
    const second = await session.send('later', { id: 'second' })
    const failure = failureOf(world.within(second.outcome))
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    await session.queue.withdraw('second')
    expect(await failure).toMatchObject({ code: 'input-not-entered', data: { why: 'withdrawn' } })
    expect(await world.within(second.settled)).toEqual({ kind: 'withdrawn' })
  })

  it('I6: nor of one that expired', async () => {
    const { world, tools, session } = await working()
    const second = await session.send('later', { expiresInMs: 10 })
    const failure = failureOf(world.within(second.outcome))
    await world.clock.advance(50)
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    expect(await failure).toMatchObject({ code: 'input-not-entered', data: { why: 'expired' } })
    expect(await world.within(second.settled)).toEqual({ kind: 'expired' })
  })

  it('is not waited for once its session is closed here', async () => {
    const { world, session, first } = await working()
    const failure = failureOf(first.outcome)
    await world.within(session.close())
    expect(await failure).toMatchObject({ code: 'session-closed' })
  })
})

describe('the text of a turn', () => {
  const WHOLE = 'abcdefghij'

  /** A turn of two replies, each told slowly, with a tool between them that takes a second. */
  async function telling() {
    const world = worldOf()
    const tools = new Tools()
    tools.add('look', { kind: 'hangs' }, { effect: 'read' })
    const stream = { chunk: 1, delayMs: 10 }
    const model = scriptedModel(
      [
        { emit: [{ text: WHOLE }, { call: { name: 'look' } }], stream },
        { emit: [{ text: WHOLE.toUpperCase() }], stream },
      ],
      { clock: world.clock },
    )
    const session = await world.start().open(agent({ model, tools: tools.all }))
    const turn = await session.send('go')
    const lookLong = async (): Promise<void> => {
      await world.settle()
      const run = tools.runs.find((one) => !one.settled)
      run?.settle({ kind: 'returns', text: 'seen' })
    }
    return { world, session, turn, lookLong }
  }

  it.each([0, 15, 55, 105, 115, 125, 155, 205, 225, 300])(
    'is whole and in order for who asks %i ms after its start',
    async (askedAfterMs) => {
      const { world, session, turn, lookLong } = await telling()
      let text: Promise<string[]> | null = null
      for (let passed = 0; passed < 400; passed += 5) {
        if (passed >= askedAfterMs) text ??= collect(turn.text)
        await lookLong()
        await world.clock.advance(5)
      }
      await world.within(session.settled())
      expect((await world.within(text!)).join('')).toBe(WHOLE + WHOLE.toUpperCase())
    },
  )

  it('is whole though another process drives it, and for who asks afterwards', async () => {
    const world = worldOf()
    const model = scriptedModel(() => ({ emit: [{ text: WHOLE }], stream: { chunk: 1, delayMs: 10 } }), {
      clock: world.clock,
    })
    const driven = await world.start().open(agent({ model }))
    const turn = await (await world.start().harness.attach('s')).send('go')
    const live = collect(turn.text)
    expect((await world.within(live)).join('')).toBe(WHOLE)
    expect((await world.within(collect(turn.text))).join('')).toBe(WHOLE)
    await world.within(driven.settled())
  })
})

describe('a reader of text', () => {
  it('that gives up in the middle answers whoever still waits, and everybody after that', async () => {
    const { world, first } = await working()
    const reader = first.text[Symbol.asyncIterator]()
    expect(await world.within(reader.next())).toEqual({ done: false, value: 'wait' })
    const waiting = reader.next()
    expect(await world.within(reader.return!())).toEqual({ done: true, value: undefined })
    expect(await world.within(waiting)).toEqual({ done: true, value: undefined })
    expect(await world.within(reader.next())).toEqual({ done: true, value: undefined })
  })
})

describe('an input that the gate rejects', () => {
  const picky: Plugin = {
    name: 'picky',
    setup: (scope) =>
      scope.on('decideEnter', ({ inputs }) => ({
        reject: Object.fromEntries(
          inputs.filter((input) => textOf(input.content) === 'bad').map((input) => [input.id, 'not here']),
        ),
      })),
  }

  it('I6 I8: in the middle of a turn has no turn, and the turn itself goes on to its end', async () => {
    const { world, tools, session, first } = await working({ plugins: [picky] })
    const steer = await session.steer('bad')
    const failure = failureOf(steer.outcome)
    tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
    expect(await world.within(first.outcome)).toMatchObject({ kind: 'completed' })
    expect(await failure).toMatchObject({ code: 'input-not-entered', data: { why: 'rejected: not here' } })
    expect(await world.within(steer.settled)).toEqual({ kind: 'rejected', reason: 'not here' })
  })

  it('T11: as the only one of a first gate is what its turn was blocked for', async () => {
    const world = worldOf()
    const model = scriptedModel([])
    const session = await world.start({ plugins: [picky] }).open(agent({ model }))
    const turn = await session.send('bad')
    expect(await world.within(turn.outcome)).toMatchObject({ kind: 'blocked' })
    expect(await turn.settled).toEqual({ kind: 'rejected', reason: 'not here' })
  })
})
