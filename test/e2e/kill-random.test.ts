/** `kill -9` at any moment, twice in the life of one turn, while somebody else steers it; then a third process finishes. */
import { describe, expect, it } from 'vitest'
import { env, nodeClock } from '../../src/host/node.ts'
import { pause } from '../../src/runtime/pause.ts'
import { inLanes } from '../../src/util/lanes.ts'
import { agentHere, eventsIn, goOnHere, harnessHere, owedWrites, proveWhole, readLog } from './aftermath.ts'
import type { Scene, Worker } from './processes.ts'
import { LANES, SESSION, useScenes } from './processes.ts'

const scene = useScenes()
const job = { scenario: 'turn', send: 'go', delayMs: 3 } as const
const LIVES = 20

/** So many milliseconds after so many effects of its own; after none: after it was sent the input. */
interface Moment {
  readonly effects: number
  readonly ms: number
}

/** A small generator of numbers in [0, 1), the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const SEED = Number(env('TURNSTEP_SEED') ?? 20_251)

describe('C4, I2, W4: a process that is killed at random', () => {
  it(`40 times, two of them in each turn: nothing is lost, doubled or invented (TURNSTEP_SEED=${SEED})`, async () => {
    const random = seeded(SEED)
    const moment = (): Moment => {
      const effects = Math.floor(random() * 5)
      return { effects, ms: random() * (effects === 0 ? 200 : 25) }
    }
    const turns = Array.from({ length: LIVES }, (_, n) => ({
      n,
      first: moment(),
      second: moment(),
      steerAfter: random() < 0.5 ? 0 : random() * 20,
    }))
    let inside = 0
    let owing = 0
    await inLanes(turns, LANES, async ({ n, first, second, steerAfter }) => {
      const one = scene()
      const owed = new Set<string>()
      const where = `turn ${n}, killed at ${JSON.stringify([first, second])}`
      const steering = await killIn(one, first, steerAfter)
      let log = await readLog(one)
      for (const call of owedWrites(log)) owed.add(call)
      if (!isOver(log) && !steering) await steer(one)
      await killIn(one, second, null)
      log = await readLog(one)
      for (const call of owedWrites(log)) owed.add(call)
      if (!isOver(log)) inside++
      if (owed.size > 0) owing++
      await goOnHere(one, job)
      log = await readLog(one, ['go', 'left'])
      const steered = log.receipts['left'] !== null
      proveWhole(one, steered ? log : await readLog(one, ['go']), owed, where)
      expect(log.receipts['go'], where).toMatchObject({ turn: 1 })
      expect(
        eventsIn(log, 'input.entered').filter((event) => event.lane === 'steer'),
        `${where}: the steer`,
      ).toHaveLength(steered ? 1 : 0)
    })
    expect(inside, 'turns that were not over when their second process was killed').toBeGreaterThan(LIVES / 4)
    expect(owing, 'turns with a write that was started and not recorded').toBeGreaterThan(0)
  }, 60_000)

  const isOver = (log: Parameters<typeof eventsIn>[0]): boolean => eventsIn(log, 'turn.ended').length > 0

  /** True: somebody steered it before it was killed. */
  async function killIn(one: Scene, { effects, ms }: Moment, steerAfter: number | null): Promise<boolean> {
    const worker = one.start(job)
    await worker.says('sent')
    const steering = steerAfter === null ? null : steerSoon(one, worker, steerAfter)
    await worker.until(() => worker.lines.filter((line) => line.what === 'effect').length >= effects || worker.isOver)
    await pause(nodeClock, ms)
    await worker.kill()
    return (await steering) ?? false
  }

  async function steerSoon(one: Scene, worker: Worker, ms: number): Promise<boolean> {
    await worker.until(() => worker.lines.some((line) => line.what === 'effect') || worker.isOver)
    if (worker.isOver) return false
    await pause(nodeClock, ms)
    await steer(one)
    return true
  }

  /** Whoever drives it, or if nobody does. */
  async function steer(one: Scene): Promise<void> {
    const harness = await harnessHere(one)
    try {
      await (await harness.attach(SESSION)).steer('rather left', { id: 'left' })
    } finally {
      await harness.close()
    }
  }

  it('the workers run the same agent as the one that goes on here', async () => {
    const spec = await agentHere(scene(), 'turn')
    expect(spec.tools?.map((tool) => `${tool.name} ${tool.effect}`)).toEqual([
      'look read',
      'pay write',
      'stamp idempotent',
      'hold write',
      'remove write',
    ])
  })
})
