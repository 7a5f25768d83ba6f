/**
 * The process dies at every instant that has a name, each time that it is reached; what comes next must go on from there by the
 * ordinary path, and nothing may be lost, doubled or run twice.
 */
import { describe, expect, it } from 'vitest'
import { sessionId } from '../../src/kernel/ids.ts'
import { textOf } from '../../src/kernel/message.ts'
import { scriptedModel, type Script } from '../../src/models/scripted/index.ts'
import { agent, type AgentSpec } from '../../src/runtime/define/agent.ts'
import type { SessionHandle } from '../../src/runtime/session.ts'
import { SYNC_POINTS, type SyncPoint, type SyncPoints } from '../../src/runtime/sync-points.ts'
import { balanceFaults, bodyFaults, callFaults, foldLog, inputFaults } from '../kit/invariants.ts'
import { noopPlugin } from '../kit/noop.ts'
import { driveToRest } from '../../src/testing/sim/rest.ts'
import { SpyModel } from '../kit/spy-model.ts'
import { Tools } from '../kit/tools.ts'
import { World, type Process } from '../kit/world.ts'

const SESSION = sessionId('s')
/** So that there are hooks to die before. */
const LISTENER = { ...noopPlugin, name: 'listener' }
interface Instant {
  readonly point: SyncPoint
  readonly nth: number
}

/** Calls for work once in each turn that asks for it, else answers in text. */
const SCRIPT: Script = ({ messages }) => {
  const last = messages.at(-1)!
  const asked = last.role === 'user' ? textOf(last.content) : ''
  if (!asked.includes('work')) return { emit: [{ text: 'so ' }, { text: 'it is' }] }
  const calls = ['look', 'save', 'put', 'pay', 'order'].map((name) => ({ call: { name, args: { for: asked } } }))
  return { emit: [{ text: 'I will' }, ...calls] }
}

class Run {
  readonly world = new World()
  readonly tools = new Tools()
  readonly model: SpyModel
  readonly reached = new Map<SyncPoint, number>()
  readonly posted: string[] = []
  readonly #spec: AgentSpec
  #worker: Process | null = null

  constructor() {
    this.tools.add(
      'look',
      { kind: 'returns', text: 'seen' },
      { effect: 'read', resources: [{ name: 'a', mode: 'read' }] },
    )
    this.tools.add('save', { kind: 'hangs' }, { effect: 'write', resources: [{ name: 'b', mode: 'write' }] })
    this.tools.add(
      'put',
      { kind: 'returns', text: 'put' },
      { effect: 'idempotent', resources: [{ name: 'c', mode: 'write' }] },
    )
    this.tools.add(
      'pay',
      { kind: 'returns', text: 'paid' },
      { effect: 'write', approval: true, resources: [{ name: 'd', mode: 'write' }] },
    )
    this.tools.add(
      'order',
      { kind: 'defers', text: 'a parcel' },
      { effect: 'write', resources: [{ name: 'e', mode: 'write' }] },
    )
    this.model = new SpyModel(scriptedModel(SCRIPT))
    this.#spec = agent({ model: this.model, tools: this.tools.all })
  }

  /** Plays the whole story; dies on the way if it is told where. */
  async play(instant: Instant | null): Promise<void> {
    const front = this.world.start()
    const sync: SyncPoints = { reach: (point) => this.#reach(point, instant) }
    await this.world.store.create(SESSION)
    const handle = await front.harness.attach(SESSION)
    await this.#post(handle, 'send', 'work, please')
    this.#worker = this.world.start({ sync, plugins: [LISTENER] })
    void this.#worker.open(this.#spec).catch(() => {})
    await this.world.settle()
    await this.#post(handle, 'steer', 'and be quick')
    await this.#post(handle, 'note', 'by the way')
    await this.#post(handle, 'send', 'thanks')
    for (const run of this.tools.runs) if (!run.settled) run.settle({ kind: 'returns', text: 'saved' })
    await this.world.settle()
    await handle.approve('t1s1c4')
    await this.world.settle()
    await handle.answer('t1s1c5', 'the parcel')
    await this.world.settle()
    await this.#post(handle, 'send', 'more work')
    await handle.abort({ graceMs: 1_000 })
    await this.world.clock.advance(1_000)
  }

  /** Another process takes over, and what is broken then. */
  async takeOver(): Promise<string[]> {
    if (!this.#worker!.mortal.isDead) await this.world.within(this.#worker!.harness.close())
    else await this.world.crash(this.#worker!)
    this.tools.behaveAll({ kind: 'returns', text: 'done after the crash' })
    const session = await this.world.start({ plugins: [LISTENER] }).open(this.#spec)
    await driveToRest(this.world, session)
    const next = await session.send('and now?', { id: 'afterwards' })
    await driveToRest(this.world, session)
    const outcome = await this.world.within(next.outcome)
    const log = await session.history()
    const { state, broken } = foldLog(log)
    return [
      ...broken,
      ...balanceFaults(state),
      ...callFaults(log),
      ...bodyFaults(log, this.tools.runs),
      ...(await inputFaults(this.world.store, SESSION, log, [...this.posted, 'afterwards'])),
      ...this.model.complaints,
      ...(outcome.kind === 'completed' ? [] : [`the next message ended ${outcome.kind}`]),
    ]
  }

  async #post(handle: SessionHandle, verb: 'send' | 'steer' | 'note', text: string): Promise<void> {
    const id = `input ${this.posted.length + 1}`
    this.posted.push(id)
    await handle[verb](text, { id })
    await this.world.settle()
  }

  #reach(point: SyncPoint, instant: Instant | null): void | Promise<void> {
    const times = (this.reached.get(point) ?? 0) + 1
    this.reached.set(point, times)
    if (point !== instant?.point || times !== instant.nth) return undefined
    this.#worker!.mortal.die()
    return new Promise(() => {})
  }
}

describe('a process that dies', async () => {
  const whole = new Run()
  await whole.play(null)
  const faults = await whole.takeOver()
  await whole.world.close()

  it('goes through the whole story if it is left alone', () => {
    expect(faults).toEqual([])
    expect([...whole.reached.keys()].toSorted()).toEqual(SYNC_POINTS.toSorted())
  })

  it.each(SYNC_POINTS)('I2 C3 C4 W4: at every %s is taken over without loss', async (point) => {
    for (let nth = 1; nth <= whole.reached.get(point)!; nth++) {
      const run = new Run()
      await run.play({ point, nth })
      expect([point, nth, await run.takeOver()]).toEqual([point, nth, []])
      await run.world.close()
    }
  })
})
