import { describe, expect, it } from 'vitest'
import { isKill, isMoment, kindOf, pick, sample } from './moments.ts'

describe('moments', () => {
  it.each(['after-append/3', 'inside/refund/1', 'begun/a-b_c/12', 'after-put/1+before-append/2'])(
    '%s is one',
    (text) => {
      expect(isMoment(text)).toBe(true)
    },
  )

  it.each([
    '',
    'after-append',
    'after-append/0',
    'after-append/x',
    'refund/1',
    'inside/1',
    'inside/a/b/1',
    'after-put/1+',
    'toString/1',
  ])('"%s" is none', (text) => {
    expect(isMoment(text)).toBe(false)
  })

  it('are kills, but for those that tell the agent to stop', () => {
    expect(['after-append/1', 'inside/a/1', 'ended/a/1'].every(isKill)).toBe(true)
    expect(['abort/a/1', 'stop/a/1'].some(isKill)).toBe(false)
  })
})

describe('a sample', () => {
  const moments = [
    'before-append/1',
    'after-append/1',
    'begun/a/1',
    'before-append/2',
    'after-append/2',
    'begun/a/2',
    'after-put/1',
  ]

  it('has one of every kind before it has two of any, in their order', () => {
    const taken = sample(moments, 4, 7)
    expect(taken.map(kindOf).toSorted()).toEqual(['after-append', 'after-put', 'before-append', 'begun/a'])
    expect(taken).toEqual(moments.filter((moment) => taken.includes(moment)))
  })

  it('is the same for the same seed, and another for some other', () => {
    expect(sample(moments, 3, 5)).toEqual(sample(moments, 3, 5))
    const seeds = Array.from({ length: 20 }, (_, seed) => sample(moments, 3, seed).join())
    expect(new Set(seeds).size).toBeGreaterThan(1)
  })

  it('is all of them where so many are wanted, and picks none of nothing', () => {
    expect(sample(moments, 99, 1)).toEqual(moments)
    expect(pick([], 1)).toBeNull()
    expect(moments).toContain(pick(moments, 1))
  })
})
