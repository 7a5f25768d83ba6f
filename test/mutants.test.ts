/** The list of planted faults: that each can still be planted, and that the page about it says what it says. Catching them is `npm run mutants`. */
import { existsSync, readFileSync } from 'node:fs'
import { transformWithOxc } from 'vite'
import { describe, expect, it } from 'vitest'
import { MUTANTS } from '../mutants/list/index.ts'
import { plant } from '../mutants/mutant.ts'
import { page } from '../mutants/page.ts'

const textOf = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const CONTRACT = textOf('CONTRACT.md')

describe('planting', () => {
  const at = { file: 'a.ts', find: 'one  + two', replace: 'three' }

  it('takes any white space for any other, and leaves the rest as it is', () => {
    const planted = plant('let a =\n  one +\n    two // why\n', at)
    expect(planted).toEqual({ kind: 'planted', text: 'let a =\n  three // why\n' })
  })

  it.each([
    ['not at all', 'let a = one', 0],
    ['twice', 'one + two, one + two', 2],
  ])('is refused where the snippet occurs %s', (_how, text, times) => {
    expect(plant(text, at)).toMatchObject({ kind: 'stale', why: expect.stringContaining(`${times} times in a.ts`) })
  })
})

describe('the planted faults', () => {
  it('have names of their own', () => {
    expect(new Set(MUTANTS.map(({ id }) => id)).size).toBe(MUTANTS.length)
  })

  it.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
    '%s can be planted, and compiles',
    async (_id, mutant) => {
      const source = textOf(mutant.file)
      const planted = plant(source, mutant)
      if (planted.kind === 'stale') throw new Error(planted.why)
      expect(planted.text).not.toBe(source)
      await transformWithOxc(planted.text, mutant.file)
    },
  )

  it.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))(
    '%s is caught by somebody, for a reason',
    (_id, mutant) => {
      expect(mutant.caughtBy.length).toBeGreaterThan(0)
      for (const { test, name, says } of mutant.caughtBy) {
        expect(says).not.toBe('')
        expect([test, existsSync(new URL(`../${test}`, import.meta.url))]).toEqual([test, true])
        const played = /^scenarios > (.+)$/.exec(name)?.[1]
        if (played !== undefined)
          expect([played, existsSync(new URL(`scenarios/${played}`, import.meta.url))]).toEqual([played, true])
      }
    },
  )

  it.each(MUTANTS.map((mutant) => [mutant.id, mutant] as const))('%s breaks rules that there are', (_id, { rules }) => {
    for (const rule of rules.filter((one) => !/^case \d{3}$/.test(one)))
      expect(CONTRACT).toMatch(new RegExp(`\\b${rule}\\b`))
  })

  it('stand on their page as they are: `npm run mutants -- --page` writes it', () => {
    expect(textOf('mutants/README.md')).toBe(page(MUTANTS))
  })
})
