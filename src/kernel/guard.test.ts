import { describe, expect, it } from 'vitest'
import { log } from '../../test/kit/log.ts'
import { guardStepOf, isAttempt, progressOf } from './guard.ts'
import { GUARD_STEPS_MAX } from './state.ts'

describe('progress', () => {
  it.each([
    ['a time stamp', 'at 2026-01-01T10:00:00Z: pending', 'at 2027-12-31 23:59:59.123+02:00: pending'],
    ['a duration', 'done in 12 ms', 'done in 3.5 seconds'],
    ['white space', 'a  b\n', 'a b'],
  ])('T6: %s is no news', (_what, one, other) => {
    expect(progressOf(one)).toBe(progressOf(other))
  })

  it('T6: another number is', () => {
    expect(progressOf('3 of 7 files')).not.toBe(progressOf('4 of 7 files'))
  })
})

describe('an attempt', () => {
  it.each([
    [{ kind: 'ok' }, true],
    [{ kind: 'error', code: 'failed', message: '' }, true],
    [{ kind: 'intercepted', by: 'loop-guard', message: '' }, true],
    [{ kind: 'error', code: 'busy', message: '', retryable: true }, false],
    [{ kind: 'denied', by: 'user', reason: '' }, false],
    [{ kind: 'timeout', afterMs: 1 }, false],
    [{ kind: 'not-started', reason: 'aborted' }, false],
    [{ kind: 'unknown', reason: 'crashed' }, false],
    [{ kind: 'invalid', problem: 'json', message: '' }, false],
  ] as const)('T6: $kind', (outcome, counts) => {
    expect(isAttempt(outcome)).toBe(counts)
  })
})

describe('what the guard remembers', () => {
  it('T6: a step in which nothing was attempted is none', () => {
    const { step } = log().asked().calls({}).ended('t1s1c1', { kind: 'denied', by: 'user', reason: '' }).state
    expect(guardStepOf([], step!.calls)).toBeNull()
  })

  it('L3: is bounded', () => {
    const session = log().open().turn({ steps: 100 }).entered('go')
    for (let step = 0; step < GUARD_STEPS_MAX + 5; step++) session.worked({ name: `tool${step}` })
    expect(session.state.turn!.guard).toHaveLength(GUARD_STEPS_MAX)
    expect(session.state.turn!.guard.at(-1)!.inOrder).toEqual([`tool${GUARD_STEPS_MAX + 4}()`])
  })

  it('T6: is the turn\u2019s: the next one starts anew', () => {
    const session = log()
      .open()
      .turn()
      .entered('go')
      .worked({})
      .step()
      .requested()
      .said('done')
      .stepEnded()
      .turnEnded()
      .turn()
    expect(session.state.turn!.guard).toEqual([])
  })
})
