import { describe, expect, it } from 'vitest'
import { drainMicrotasks } from '../testing/fake-clock.ts'
import { deferred } from './deferred.ts'
import { inLanes } from './lanes.ts'

/** Tasks that end when the test says so. */
function held(count: number) {
  const begun: number[] = []
  const ends = Array.from({ length: count }, () => deferred<void>())
  const run = (task: number): Promise<void> => (begun.push(task), ends[task]!.promise)
  return { tasks: ends.map((_, task) => task), begun, ends, run }
}

describe('inLanes', () => {
  it('begins tasks in their order, each as soon as a lane is free, and ends with the last', async () => {
    const { tasks, begun, ends, run } = held(4)
    let over = false
    const all = inLanes(tasks, 2, run).then(() => (over = true))
    expect(begun).toEqual([0, 1])
    ends[1]!.resolve()
    await drainMicrotasks()
    expect(begun).toEqual([0, 1, 2])
    ends[2]!.resolve()
    ends[3]!.resolve()
    await drainMicrotasks()
    expect([begun, over]).toEqual([[0, 1, 2, 3], false])
    ends[0]!.resolve()
    await all
  })

  it('rejects with the first fault, while the other lanes go on', async () => {
    const { tasks, begun, ends, run } = held(3)
    const all = inLanes(tasks, 2, run)
    ends[0]!.reject(new Error('no'))
    await expect(all).rejects.toThrow('no')
    ends[1]!.resolve()
    await drainMicrotasks()
    expect(begun).toEqual([0, 1, 2])
  })

  it('does nothing where there is no task', async () => {
    const { tasks, begun, run } = held(0)
    await inLanes(tasks, 8, run)
    expect(begun).toEqual([])
  })
})
