/** Approvals across processes, restarts and kills: what was approved runs once, and nothing else runs. */
import { describe, expect, it } from 'vitest'
import { eventsIn, goOnHere, harnessHere, owedWrites, proveWhole, readLog } from './aftermath.ts'
import type { Scene } from './processes.ts'
import { SESSION, useScenes } from './processes.ts'

const scene = useScenes()
const job = { scenario: 'approval' } as const

/** Answers from this process, which drives nothing. */
async function answer(one: Scene, call: string, how: 'approve' | 'deny', id: string): Promise<unknown> {
  const harness = await harnessHere(one)
  try {
    const receipt = await (await harness.attach(SESSION))[how](call, { id })
    return await receipt.state()
  } finally {
    await harness.close()
  }
}

async function asked(one: Scene): Promise<string[]> {
  const harness = await harnessHere(one)
  try {
    const status = await (await harness.attach(SESSION)).status()
    return status.kind === 'waiting' ? status.asks.map((ask) => ask.call) : [status.kind]
  } finally {
    await harness.close()
  }
}

/** Runs a worker until it rests with its questions, or stands still. */
async function run(
  one: Scene,
  more: {
    readonly send?: string
    readonly standIn?: string
    readonly arm?: { readonly point: string; readonly nth: number }
  } = {},
): Promise<string> {
  const worker = one.start({ ...job, ...more })
  const { what } = await worker.says('waiting', 'idle', 'standing')
  await worker.kill()
  return what
}

const removed = (one: Scene): string[] => one.effects().map((line) => line.call)

describe('A2, A3: approvals', () => {
  it('are answered by another process while nobody drives the session, in any order, and each runs what it was for', async () => {
    const one = scene()
    expect(await run(one, { send: 'go' })).toBe('waiting')
    expect(await asked(one)).toEqual(['t1s1c1', 't1s1c2'])
    expect(removed(one)).toEqual([])
    await answer(one, 't1s1c2', 'approve', 'yes-2')
    expect(await run(one)).toBe('waiting')
    expect(await asked(one)).toEqual(['t1s1c1'])
    await answer(one, 't1s1c1', 'approve', 'yes-1')
    expect(await run(one)).toBe('idle')
    expect(removed(one).toSorted()).toEqual(['t1s1c1', 't1s1c2'])
    proveWhole(one, await readLog(one, ['go']), new Set(), 'approved from outside')
  })

  it('are heard by the process that has the session open', async () => {
    const one = scene()
    const worker = one.start({ ...job, send: 'go', stay: true })
    await worker.until(() => worker.lines.some((line) => line.what === 'sent'))
    while ((await asked(one)).length < 2) await worker.says('sent')
    await answer(one, 't1s1c1', 'approve', 'yes-1')
    await answer(one, 't1s1c2', 'approve', 'yes-2')
    expect(await worker.says('ended')).toMatchObject({ kind: 'completed' })
    expect(removed(one).toSorted()).toEqual(['t1s1c1', 't1s1c2'])
  })

  it('given twice, or for a call that is over, are stale', async () => {
    const one = scene()
    await run(one, { send: 'go' })
    await answer(one, 't1s1c1', 'approve', 'yes-1')
    await answer(one, 't1s1c1', 'approve', 'yes-1')
    await answer(one, 't1s1c1', 'approve', 'yes-again')
    await answer(one, 't1s1c1', 'deny', 'no')
    await run(one)
    expect(removed(one)).toEqual(['t1s1c1'])
    const log = await readLog(one, ['yes-1', 'yes-again', 'no'])
    expect(log.receipts).toMatchObject({
      'yes-1': { kind: 'entered' },
      'yes-again': { kind: 'rejected', reason: 'stale' },
      no: { kind: 'rejected', reason: 'stale' },
    })
    expect(eventsIn(log, 'call.approval-decided')).toHaveLength(1)
  })

  it('a kill inside the approved tool: it is not run again, the model is told, and the other question stands; killed there too, and again', async () => {
    const one = scene()
    await run(one, { send: 'go' })
    await answer(one, 't1s1c1', 'approve', 'yes-1')
    expect(await run(one, { standIn: 'remove' })).toBe('standing')
    expect(owedWrites(await readLog(one))).toEqual(['t1s1c1'])
    expect(await run(one)).toBe('waiting')
    expect(await asked(one)).toEqual(['t1s1c2'])
    await answer(one, 't1s1c2', 'approve', 'yes-2')
    expect(await run(one, { standIn: 'remove' })).toBe('standing')
    expect(owedWrites(await readLog(one))).toEqual(['t1s1c2'])
    expect(await run(one)).toBe('idle')
    expect(removed(one)).toEqual(['t1s1c1', 't1s1c2'])
    proveWhole(one, await readLog(one, ['go']), new Set(['t1s1c1', 't1s1c2']), 'killed inside')
  })

  it.each([
    ['before-append', 1],
    ['after-append', 1],
    ['before-append', 2],
    ['after-append', 2],
    ['before-body', 1],
    ['after-body', 1],
    ['before-append', 3],
    ['after-append', 3],
  ] as const)(
    'a kill at %s %i after the answer: it is consumed once, and its call has one effect at most',
    async (point, nth) => {
      const one = scene()
      await run(one, { send: 'go' })
      await answer(one, 't1s1c1', 'approve', 'yes-1')
      await answer(one, 't1s1c2', 'approve', 'yes-2')
      await run(one, { arm: { point, nth } })
      const owed = new Set(owedWrites(await readLog(one)))
      await goOnHere(one, job)
      const log = await readLog(one, ['go'])
      proveWhole(one, log, owed, `${point} ${nth}`)
      expect(eventsIn(log, 'call.approval-decided').map((decided) => decided.call)).toEqual(['t1s1c1', 't1s1c2'])
      expect(eventsIn(log, 'call.approval-asked')).toHaveLength(2)
    },
  )
})
