import { describe, expect, it } from 'vitest'
import type { Turn } from '../../kernel/state.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Grace } from './grace.ts'

const abort = { at: 1_000, until: 6_000, reason: 'stop', pending: 'keep' } as const
const aborted = { abort } as Turn

function graceAt(now: number) {
  const clock = new FakeClock()
  let rung = 0
  const grace = new Grace(clock, () => rung++)
  grace.begin(abort, now)
  return { clock, grace, rung: () => rung }
}

describe('Grace', () => {
  it.each([
    ['as it was asked for', 1_000, 5_000],
    ['by one who takes over later: what is left', 4_000, 2_000],
    ['by one whose clock was set back: what was given, and no more', -9_000_000, 5_000],
    ['by one who comes when it is over: nothing', 7_000, 0],
  ])('T7: is over in time, begun %s', async (_how, now, ms) => {
    const { clock, grace, rung } = graceAt(now)
    if (ms > 0) await clock.advance(ms - 1)
    expect([rung(), grace.timeIn(aborted, now)]).toEqual([0, now])
    await clock.advance(1)
    expect([rung(), grace.timeIn(aborted, now)]).toEqual([1, Math.max(now, 6_000)])
  })

  it('T7: changes the time for the turn that was aborted only: what has a time of its own goes by the clock', async () => {
    const { clock, grace } = graceAt(1_000)
    await clock.advance(5_000)
    expect(grace.timeIn(aborted, 500)).toBe(6_000)
    expect(grace.timeIn(aborted, 8_000)).toBe(8_000)
    expect(grace.timeIn({ abort: null } as Turn, 500)).toBe(500)
    expect(grace.timeIn({ abort: { ...abort, until: 9_000 } } as Turn, 500)).toBe(500)
    expect(grace.timeIn(null, 500)).toBe(500)
  })

  it('leaves no timer when the runner ends', () => {
    const { clock, grace } = graceAt(1_000)
    grace.end()
    expect(clock.armed).toBe(0)
  })
})
