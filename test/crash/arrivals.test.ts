/**
 * Something comes at every instant that has a name, each time that it is reached: it is seen at once, without the clock moving. A
 * runner that went to sleep over it would sleep on.
 */
import { describe, expect, it } from 'vitest'
import { inputId, sessionId } from '../../src/kernel/ids.ts'
import { textOf, textPart } from '../../src/kernel/message.ts'
import { scriptedModel, type Script } from '../../src/models/scripted/index.ts'
import { agent } from '../../src/runtime/define/agent.ts'
import type { Clock, Store } from '../../src/runtime/ports.ts'
import type { SyncPoint, SyncPoints } from '../../src/runtime/sync-points.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { foldLog } from '../kit/invariants.ts'
import { noopPlugin } from '../kit/noop.ts'
import { Tools } from '../kit/tools.ts'
import { World } from '../kit/world.ts'

const SESSION = sessionId('s')
const LISTENER = { ...noopPlugin, name: 'listener' }

/** Calls two tools, one of which hangs; then talks. */
const SCRIPT: Script = ({ messages }) => {
  const last = messages.at(-1)!
  const isOpening = last.role === 'user' && textOf(last.content) === 'go'
  return { emit: isOpening ? [{ call: { name: 'quick' } }, { call: { name: 'slow' } }] : [{ text: 'done' }] }
}

type Verb = 'abort' | 'steer'

/** Only talks. */
const TALK: Script = () => ({ emit: [{ text: 'done' }] })

/** Plays a turn; `verb` comes at the `nth` time that `point` is reached. Answers how often each point was, and what is in the log. */
async function play(verb: Verb, at: { readonly point: SyncPoint; readonly nth: number } | null, script = SCRIPT) {
  const world = new World()
  const tools = new Tools()
  tools.add('quick', { kind: 'returns', text: 'ok' }, { effect: 'read' })
  tools.add('slow', { kind: 'obeys' }, { effect: 'read' })
  const reached = new Map<SyncPoint, number>()
  await world.store.create(SESSION)
  const handle = await world.start().harness.attach(SESSION)
  let isOver = false
  /** The log's tail when it came. */
  let tail = 0
  const sync: SyncPoints = {
    async reach(point) {
      if (isOver) return
      const times = (reached.get(point) ?? 0) + 1
      reached.set(point, times)
      if (point !== at?.point || times !== at.nth) return
      tail = (await world.store.read(SESSION, { limit: 0 })).tail
      await (verb === 'abort' ? handle.abort({ id: 'it' }) : handle.steer('hear this', { id: 'it' }))
    },
  }
  await handle.send('go')
  await world.start({ sync, plugins: [LISTENER] }).open(agent({ model: scriptedModel(script), tools: tools.all }))
  await world.settle()
  // A steer waits for the gate, so for the tool; an abort waits for nothing.
  const isHanging = tools.runs.some((run) => !run.settled)
  if (verb === 'steer' && isHanging) tools.hanging('slow').settle({ kind: 'returns', text: 'ok' })
  await world.settle()
  isOver = true
  const receipt = await world.store.receipt(SESSION, inputId('it'))
  const { events } = await world.store.read(SESSION)
  return { world, reached, receipt, events, since: events.slice(tail) }
}

describe.each(['abort', 'steer'] as const)('%s', async (verb) => {
  const whole = await play(verb, null)
  await whole.world.close()

  it.each([...whole.reached.keys()])('I13 I4 W3: is seen at once if it comes at %s', async (point) => {
    for (let nth = 1; nth <= whole.reached.get(point)!; nth++) {
      const { world, receipt, events, since } = await play(verb, { point, nth })
      const { state, broken } = foldLog(events)
      expect([point, nth, broken]).toEqual([point, nth, []])
      expect([point, nth, receipt?.kind]).not.toEqual([point, nth, 'queued'])
      // An abort that comes before its turn has nothing to stop: the tool is still at work then.
      const rests = verb === 'steer' || receipt?.kind === 'entered'
      if (rests) expect([point, nth, receipt?.kind, state.turn]).toEqual([point, nth, 'entered', null])
      // The commit of a request is the cut: what was durable before it is in it.
      const types = since.map((event) => ('input' in event && event.input === inputId('it') ? 'it' : event.type))
      if (types.includes('model.requested'))
        expect([point, nth, types.indexOf('it') < types.indexOf('model.requested')]).toEqual([point, nth, true])
      await world.close()
    }
  })
})

it('T7 I13: an abort that is durable before the end of its turn ends it, whatever the instant', async () => {
  const whole = await play('abort', null, TALK)
  await whole.world.close()
  const ends: { readonly at: string; readonly outcome: string }[] = []
  for (const [point, times] of whole.reached) {
    for (let nth = 1; nth <= times; nth++) {
      const { world, since } = await play('abort', { point, nth }, TALK)
      await world.close()
      // Before its turn there is nothing to stop yet, and after it nothing any more.
      if (since.some((event) => event.type === 'turn.started')) continue
      for (const event of since)
        if (event.type === 'turn.ended') ends.push({ at: `${point} ${nth}`, outcome: event.outcome.kind })
    }
  }
  expect(ends.length).toBeGreaterThan(3)
  expect(ends.filter(({ outcome }) => outcome !== 'aborted')).toEqual([])
})

it('W3: what refuses a release is looked at, though the store gave no hint of it', async () => {
  const mute = (clock: Clock): Store => Object.assign(memoryStore({ clock }), { watch: () => () => {} })
  const world = new World({ store: mute })
  await world.store.create(SESSION)
  const post = (id: string): Promise<unknown> =>
    world.store.put(SESSION, { id: inputId(id), lane: 'followup', origin: { kind: 'user' }, content: [textPart(id)] })
  let releases = 0
  const sync: SyncPoints = {
    async reach(point) {
      if (point === 'before-release' && ++releases === 1) await post('second')
    },
  }
  await post('first')
  const model = scriptedModel(() => ({ emit: [{ text: 'done' }] }))
  await world.start({ sync }).open(agent({ model }))
  await world.settle()
  expect(await world.store.receipt(SESSION, inputId('second'))).toMatchObject({ kind: 'entered', turn: 2 })
  expect(releases).toBe(2)
  await world.close()
})
