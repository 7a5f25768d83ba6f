/** Two processes at one session: who drives, who may post, who takes over, and who waits. */
import { describe, expect, it } from 'vitest'
import { nodeClock } from '../../src/host/node.ts'
import { sessionId } from '../../src/kernel/ids.ts'
import { textOf } from '../../src/kernel/message.ts'
import { pause } from '../../src/runtime/pause.ts'
import { eventually } from '../kit/eventually.ts'
import { agentHere, eventsIn, goOnHere, harnessHere, owedWrites, proveWhole, readLog, withStore } from './aftermath.ts'
import { SESSION, useScenes } from './processes.ts'

const scene = useScenes()

describe('L4, W1: a session that another process drives', () => {
  it('the second driver is told busy, by whom; it may post, and its steer is in the very next request', async () => {
    const one = scene()
    const worker = one.start({ scenario: 'held', send: 'go' })
    await worker.says('effect')
    const harness = await harnessHere(one)
    try {
      const opening = harness.open(await agentHere(one, 'held'), { session: SESSION })
      await expect(opening).rejects.toMatchObject({ code: 'session-busy', data: { owner: `worker ${worker.pid}` } })
      const outside = await harness.attach(SESSION)
      const turn = await outside.steer('rather left', { id: 'left' })
      worker.tell('go on')
      expect((await turn.outcome).kind).toBe('completed')
      expect(await turn.state()).toEqual({ kind: 'entered', turn: 1, step: 2 })
      const { messages } = await outside.context({ turn: 1, step: 2 })
      const last = messages.at(-1)!
      expect(last.role === 'user' && textOf(last.content)).toMatch(/rather left$/)
    } finally {
      await harness.close()
    }
    await worker.says('idle')
    proveWhole(one, await readLog(one, ['go', 'left']), new Set(), 'steered from outside')
  })

  it('I13: an abort from another process is heard in the middle of a tool, within the quarter of a second of L4 and the grace', async () => {
    const one = scene()
    const worker = one.start({ scenario: 'held', send: 'go' })
    await worker.says('effect')
    const harness = await harnessHere(one)
    try {
      const outside = await harness.attach(SESSION)
      const receipt = await outside.abort({ graceMs: 50 })
      expect(await receipt.settled).toMatchObject({ kind: 'entered' })
      await worker.says('held')
    } finally {
      await harness.close()
    }
    const log = await readLog(one, ['go'])
    expect(eventsIn(log, 'turn.ended').map((end) => end.outcome.kind)).toEqual(['aborted'])
    expect(eventsIn(log, 'call.ended').map((end) => end.outcome)).toEqual([{ kind: 'unknown', reason: 'aborted' }])
  })

  it('W3, W4: one that waits beside it takes over as soon as it is killed, and finishes the same turn', async () => {
    const one = scene()
    const first = one.start({ scenario: 'turn', send: 'go', standIn: 'stamp' })
    await first.says('standing')
    const second = one.start({ scenario: 'turn', stay: true })
    expect(await second.says('failed')).toMatchObject({ code: 'session-busy', data: { owner: `worker ${first.pid}` } })
    await second.ended()
    const owed = new Set(owedWrites(await readLog(one)))
    await first.kill()
    await goOnHere(one, { scenario: 'turn', send: 'go' })
    proveWhole(one, await readLog(one, ['go']), owed, 'taken over')
  })

  it('W3: a session that is open in two processes, at rest, goes on in the other one when its driver is killed', async () => {
    const one = scene()
    const first = one.start({ scenario: 'turn', stay: true, standIn: 'stamp' })
    await first.says('open')
    await eventually(() => withStore(one, async (store) => (await store.list())[0]?.resting === true))
    const harness = await harnessHere(one)
    try {
      const session = await harness.open(await agentHere(one, 'turn'), { session: SESSION })
      await session.settled()
      const other = one.start({ scenario: 'turn', stay: true, standIn: 'stamp' })
      await other.says('open')
      await harness.close()
      await withStore(one, async (store) => {
        await store.put(sessionId(SESSION), {
          id: 'go' as never,
          lane: 'followup',
          origin: { kind: 'user' },
          content: [{ type: 'text', text: 'go' }],
        })
      })
      await eventually(() => [...first.lines, ...other.lines].some((line) => line.what === 'standing'))
      const [driver, waiting] = first.lines.some((line) => line.what === 'standing') ? [first, other] : [other, first]
      expect(waiting.lines.some((line) => line.what === 'effect')).toBe(false)
      const owed = new Set(owedWrites(await readLog(one)))
      await driver.kill()
      // The other one stands still in the same tool, which starts again under its key: there it is killed as well.
      await waiting.says('standing')
      for (const call of owedWrites(await readLog(one))) owed.add(call)
      await waiting.kill()
      await goOnHere(one, { scenario: 'turn' })
      proveWhole(one, await readLog(one, ['go']), owed, 'in the other one')
    } finally {
      await harness.close()
    }
  })

  it('W1: a process that is merely stopped keeps its session, and goes on when it is woken', async () => {
    const one = scene()
    const worker = one.start({ scenario: 'held', send: 'go' })
    await worker.says('effect')
    worker.signal('SIGSTOP')
    const harness = await harnessHere(one)
    try {
      for (let n = 0; n < 3; n++) {
        await pause(nodeClock, 100)
        await expect(harness.open(await agentHere(one, 'held'), { session: SESSION })).rejects.toMatchObject({
          code: 'session-busy',
        })
      }
      const outside = await harness.attach(SESSION)
      await outside.note('meanwhile', { id: 'note' })
    } finally {
      await harness.close()
      worker.signal('SIGCONT')
    }
    worker.tell('go on')
    await worker.says('idle')
    proveWhole(one, await readLog(one, ['go', 'note']), new Set(), 'stopped and woken')
  })
})

describe('L4: a reader', () => {
  it('opens a session for reading while it rests and while another process drives it, and writes nothing', async () => {
    const one = scene()
    const worker = one.start({ scenario: 'held', send: 'go' })
    await worker.says('effect')
    await read(one, 'running')
    worker.tell('go on')
    await worker.says('idle')
    await worker.ended()
    await read(one, 'idle')

    const killed = scene()
    const other = killed.start({ scenario: 'held', send: 'go', standIn: 'hold' })
    await other.says('standing')
    await other.kill()
    await read(killed, 'running')
    expect(owedWrites(await readLog(killed))).toEqual(['t1s1c1'])
  })

  async function read(one: ReturnType<typeof scene>, kind: string): Promise<void> {
    const before = await dump(one)
    const harness = await harnessHere(one)
    try {
      const reader = await harness.open(await agentHere(one, 'held'), { session: SESSION, readonly: true })
      expect((await reader.status()).kind).toBe(kind)
      expect((await reader.history()).length).toBeGreaterThan(3)
      expect((await reader.context()).messages.length).toBeGreaterThan(0)
      await expect(reader.send('no')).rejects.toMatchObject({ code: 'session-readonly' })
      await expect(reader.queue.withdraw('x')).rejects.toMatchObject({ code: 'session-readonly' })
      await pause(nodeClock, 300)
    } finally {
      await harness.close()
    }
    expect(await dump(one)).toEqual(before)
  }

  /** Every row of every table. */
  async function dump(one: ReturnType<typeof scene>): Promise<unknown> {
    const { loadDriver } = await import('../../src/stores/sqlite/driver.ts')
    const connection = (await loadDriver()).open(one.db)
    try {
      const tables = connection.prepare("select name from sqlite_master where type = 'table' order by name").all([])
      return tables.map(({ name }) => [name, connection.prepare(`select * from "${name as string}"`).all([])])
    } finally {
      connection.close()
    }
  }
})
