import { describe, expect, it } from 'vitest'
import type { Failure } from '../../kernel/failure.ts'
import { retryDelay } from './retry.ts'

const failure = (change: Partial<Failure> = {}): Failure => ({ kind: 'server', message: '', retry: true, ...change })

describe('the delay before the next attempt', () => {
  it.each([
    ['the first failure, with luck', failure(), 1, 0, 0],
    ['the first failure, without', failure(), 1, 0.999, 499],
    ['the third failure', failure(), 3, 0.5, 1_000],
    ['many failures: it is capped', failure(), 20, 0.5, 15_000],
    ['a provider that names a time', failure({ retryAfterMs: 7_000 }), 1, 0.9, 7_000],
    ['a provider that names no time at all', failure({ retryAfterMs: 0 }), 1, 0.9, 0],
    ['a provider that asks for too much', failure({ retryAfterMs: 120_001 }), 1, 0.9, null],
    ['an empty reply, case 037', failure({ kind: 'empty-response' }), 1, 0.9, 0],
    ['a failure that would come again, case 004', failure({ retry: false }), 1, 0.5, null],
  ] as const)('T10: %s', (_what, seen, attempt, random, delay) => {
    expect(retryDelay(seen, attempt, 99, random)).toBe(delay)
  })

  it('T10: there are so many attempts and no more', () => {
    expect([
      retryDelay(failure(), 3, 4, 0.5),
      retryDelay(failure(), 4, 4, 0.5),
      retryDelay(failure(), 1, 1, 0.5),
    ]).toEqual([1_000, null, null])
  })
})
