import { expect, it } from 'vitest'
import { FakeClock } from '../../testing/fake-clock.ts'
import { FairShare } from './fair-share.ts'

/** Effects until there is a pause, at most `max` of them. */
function effectsUntilPause(share: FairShare, max = 1_000): number | null {
  for (let n = 1; n <= max; n++) if (share.pause() !== undefined) return n
  return null
}

/** Time passes, and no timer is served: what a chain of promises does to a process. */
function hold(clock: FakeClock): { pass(ms: number): void } {
  let now = clock.now()
  clock.now = () => now
  return { pass: (ms) => void (now += ms) }
}

it('no pause while timers are served, however long it goes on', async () => {
  const clock = new FakeClock()
  const share = new FairShare(clock)
  for (let n = 0; n < 50; n++) {
    expect(effectsUntilPause(share, 100)).toBeNull()
    await clock.advance(40)
  }
})

it('a pause once timers have waited for 100 ms, that ends as soon as they are served', async () => {
  const clock = new FakeClock()
  const time = hold(clock)
  const share = new FairShare(clock)
  expect(effectsUntilPause(share, 100)).toBeNull()
  time.pass(99)
  expect(effectsUntilPause(share, 100)).toBeNull()
  time.pass(1)
  expect(effectsUntilPause(share, 100)).not.toBeNull()

  await clock.advance(0)
  expect(effectsUntilPause(share, 100)).toBeNull()
})
