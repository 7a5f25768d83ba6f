import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { Deadlines } from './deadlines.ts'

describe('deadlines', () => {
  it('C13: are met in order, on time, whichever was set first', async () => {
    const clock = new FakeClock()
    const deadlines = new Deadlines(clock)
    const over: string[] = []
    deadlines.add(300, () => over.push('late'))
    deadlines.add(100, () => over.push('early'))
    await clock.advance(99)
    expect(over).toEqual([])
    await clock.advance(1)
    expect(over).toEqual(['early'])
    await clock.advance(199)
    expect(over).toEqual(['early'])
    await clock.advance(1)
    expect(over).toEqual(['early', 'late'])
    expect(clock.armed).toBe(0)
  })

  it('share one timer, which outlives who took a deadline back and calls nobody', async () => {
    const clock = new FakeClock()
    const deadlines = new Deadlines(clock)
    const over: string[] = []
    const cancel = deadlines.add(100, () => over.push('never'))
    deadlines.add(200, () => over.push('second'))
    expect(clock.armed).toBe(1)
    cancel()
    await clock.advance(200)
    expect(over).toEqual(['second'])
  })

  it('leave no timer once they are cleared', async () => {
    const clock = new FakeClock()
    const deadlines = new Deadlines(clock)
    deadlines.add(100, () => {
      throw new Error('nobody waits for this any more')
    })
    deadlines.clear()
    expect(clock.armed).toBe(0)
    await clock.advance(100)
  })

  it('take a deadline that is set while another is met', async () => {
    const clock = new FakeClock()
    const deadlines = new Deadlines(clock)
    const over: string[] = []
    deadlines.add(100, () => {
      over.push('first')
      deadlines.add(50, () => over.push('second'))
    })
    await clock.advance(150)
    expect(over).toEqual(['first', 'second'])
  })
})
