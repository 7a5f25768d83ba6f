/** `kill -9` at every sync point, at each of its occurrences, and then another process goes on. */
import { beforeAll, describe, expect, it } from 'vitest'
import { inLanes } from '../../src/util/lanes.ts'
import { goOnHere, owedWrites, proveWhole, readLog } from './aftermath.ts'
import { LANES, Scene, useScenes } from './processes.ts'

const scene = useScenes()
const job = { scenario: 'turn', send: 'go', delayMs: 1 } as const

/** Kills at the nth time that `point` is reached. False: it is not reached so often. */
async function killAt(one: Scene, point: string, nth: number): Promise<boolean> {
  const worker = one.start({ ...job, arm: { point, nth } })
  const { what } = await worker.says('standing', 'idle')
  await worker.kill()
  return what === 'standing'
}

async function prove(one: Scene, where: string): Promise<void> {
  const owed = new Set(owedWrites(await readLog(one)))
  await goOnHere(one, job)
  proveWhole(one, await readLog(one, ['go']), owed, where)
}

describe('C4, I2, W4: a process that is killed', () => {
  let reached: Readonly<Record<string, number>> = {}
  beforeAll(async () => {
    const whole = new Scene()
    reached = (await whole.start(job).says('idle')).reached ?? {}
    await whole.remove()
  })

  // How often each is reached at least: before and after each commit, model call, body, piece of output, hook, and the release.
  const POINTS: readonly (readonly [point: string, least: number])[] = [
    ['before-append', 6],
    ['after-append', 6],
    ['after-claim', 3],
    ['before-model', 3],
    ['model-output', 6],
    ['before-body', 3],
    ['after-body', 5],
    ['before-hook', 5],
    ['before-release', 1],
    ['after-release', 1],
  ]

  it.each(POINTS)(
    'at %s, each time that it is reached: the next one finishes the same turn, nothing is lost or done twice',
    async (point, least) => {
      const times = reached[point] ?? 0
      expect(times).toBeGreaterThanOrEqual(least)
      let killed = 0
      await inLanes(
        Array.from({ length: times }, (_, n) => n + 1),
        LANES,
        async (nth) => {
          const one = scene()
          if (await killAt(one, point, nth)) killed++
          await prove(one, `${point} ${nth}`)
        },
      )
      // The last ones may not come when two results happen to land together.
      expect(killed).toBeGreaterThanOrEqual(Math.min(least, times))
    },
    60_000,
  )
})
