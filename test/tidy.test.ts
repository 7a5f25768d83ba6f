import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { RULES, showFinding } from './tidy/rules.ts'
import { readTree } from './tidy/tree.ts'

const tree = readTree(fileURLToPath(new URL('..', import.meta.url)))

describe('the project is tidy', () => {
  it.each(Object.entries(RULES))('%s', (_name, rule) => {
    expect(rule(tree).map(showFinding)).toEqual([])
  })
})
