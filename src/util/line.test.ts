import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Line } from './line.ts'

const numbers = (): Line<number> => new Line((one, other) => one - other)

describe('Line', () => {
  it('keeps its items in order, whatever comes and goes, and wherever', () => {
    const doing = fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { maxLength: 300 })
    fc.assert(
      fc.property(doing, (steps) => {
        const line = numbers()
        let plain: number[] = []
        for (const [comes, item] of steps) {
          const isThere = plain.includes(item)
          if (comes && !isThere) {
            line.add(item)
            plain = [...plain, item].toSorted((one, other) => one - other)
          } else if (!comes && isThere) {
            line.remove(item)
            plain = plain.filter((other) => other !== item)
          }
          expect(line.take()).toEqual(plain)
          expect(line.size).toBe(plain.length)
          expect(line.before(item)).toBe(plain.filter((other) => other < item).at(-1))
          expect(line.find((one) => one > 30)).toBe(plain.find((one) => one > 30))
          expect(line.findLast((one) => one < 30)).toBe(plain.findLast((one) => one < 30))
        }
      }),
    )
  })

  it('takes from the front of a long line without moving the rest each time', () => {
    const line = numbers()
    for (let item = 0; item < 1_000; item++) line.add(item)
    for (let item = 0; item < 990; item++) line.remove(item)
    expect(line.take(3)).toEqual([990, 991, 992])
    line.add(5)
    expect([line.take(1), line.size]).toEqual([[5], 11])
    line.clear()
    expect([line.take(), line.size]).toEqual([[], 0])
  })
})
