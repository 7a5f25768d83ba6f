import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Alarm } from './alarm.ts'

function alarmAt() {
  const clock = new FakeClock()
  const rung: number[] = []
  const start = clock.now()
  const alarm = new Alarm(clock, () => rung.push(clock.now() - start))
  return { clock, alarm, rung, in: (ms: number) => alarm.by(start + ms) }
}

describe('an alarm', () => {
  it('C13: rings for the earliest time, whichever was set first, with one timer', async () => {
    const { clock, rung, ...set } = alarmAt()
    set.in(300)
    set.in(100)
    set.in(200)
    expect(clock.armed).toBe(1)
    await clock.advance(1_000)
    expect(rung).toEqual([100])
    expect(clock.armed).toBe(0)
  })

  it('rings again once it is set again, also by who is rung', async () => {
    const { clock, rung, ...set } = alarmAt()
    set.in(100)
    await clock.advance(100)
    set.in(150)
    await clock.advance(100)
    expect(rung).toEqual([100, 150])
  })

  it('leaves no timer when it is stopped, and may be set again', async () => {
    const { clock, alarm, rung, ...set } = alarmAt()
    set.in(100)
    alarm.stop()
    expect(clock.armed).toBe(0)
    set.in(200)
    await clock.advance(200)
    expect(rung).toEqual([200])
  })
})
