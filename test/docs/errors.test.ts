import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/kernel/errors.ts'
import { readTree, shippedSources } from '../tidy/tree.ts'

interface Row {
  readonly code: string
  readonly class: string
  readonly when: string
  readonly todo: string
  readonly zh: string
}

const page = readFileSync(new URL('../../docs/reference/errors.md', import.meta.url), 'utf8')

/** The rows of the table of codes. */
const rows: readonly Row[] = page.split('\n').flatMap((line) => {
  const [, code, kind, when, todo, zh] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
  const name = /^`([a-z-]+)`$/.exec(code ?? '')?.[1]
  return name === undefined || zh === undefined
    ? []
    : [{ code: name, class: kind ?? '', when: when ?? '', todo: todo ?? '', zh }]
})

describe('docs/reference/errors.md and the registry', () => {
  it('name the same codes, each once, with the same class', () => {
    expect(Object.fromEntries(rows.map((row) => [row.code, row.class]))).toEqual(ERRORS)
    expect(rows.length).toBe(Object.keys(ERRORS).length)
  })

  it('say of every code when it comes, what to do, and both in Chinese', () => {
    const bare = rows.filter(({ when, todo, zh }) => when === '' || todo === '' || !/\p{Script=Han}/u.test(zh))
    expect(bare.map(({ code }) => code)).toEqual([])
  })

  it('hold no code that nobody throws', () => {
    const tree = readTree(fileURLToPath(new URL('../..', import.meta.url)))
    const shipped = shippedSources(tree).filter(({ path }) => path !== 'src/kernel/errors.ts')
    const idle = Object.keys(ERRORS).filter((code) => !shipped.some(({ text }) => text.includes(`'${code}'`)))
    expect(idle).toEqual([])
  })
})
