/** The table of rules in ARCHITECTURE.md: complete, and true about files, functions and tests. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isTest, readTree } from '../tidy/tree.ts'
import type { Files } from './pages.ts'
import { contractRules, faultsOfRow, type RuleRow } from './rules.ts'
import { tableRows } from './tables.ts'

const { files } = readTree(fileURLToPath(new URL('../..', import.meta.url)))
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const rows: readonly RuleRow[] = tableRows(read('ARCHITECTURE.md'), 'The rules').map((row) => ({
  rule: row['rule']!,
  short: row['in short']!,
  enforced: row['enforced in']!,
  proved: row['proved by']!,
}))
const rules = contractRules(read('CONTRACT.md'))

describe('the rules', () => {
  it('are numbered without gaps in the contract', () => {
    const groups = new Map<string, number[]>()
    for (const rule of rules) groups.set(rule[0]!, [...(groups.get(rule[0]!) ?? []), Number(rule.slice(1))])
    for (const numbers of groups.values()) expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    expect([...groups.keys()].join('')).toBe('LITCAXGWB')
  })

  it('stand each once in the table of ARCHITECTURE.md', () => {
    expect(rows.map(({ rule }) => rule)).toEqual(rules)
  })

  it('are enforced and proved where the table says', () => {
    expect(rows.flatMap((row) => faultsOfRow(files, row))).toEqual([])
  })

  it('are all that refusals of the kernel, titles of tests and heads of scenarios cite', () => {
    const cited = new Map<string, string>()
    for (const [path, text] of files) {
      for (const [, title] of text.matchAll(titlesIn(path)))
        for (const [rule] of title!.matchAll(/\b[LITCAXGWB]\d{1,2}\b/g)) cited.set(rule, path)
    }
    for (const rule of rules) cited.delete(rule)
    expect(Object.fromEntries(cited)).toEqual({})
  })
})

/** Where a file names the rules that it is about. */
function titlesIn(path: string): RegExp {
  if (path.startsWith('test/scenarios/')) return /^# (.*)/gm
  if (path.startsWith('test/docs/') || !path.endsWith('.ts')) return /(?!)/g
  return isTest(path) ? /\b(?:it|describe)(?:\.\w+\([^)]*\))?\(\s*['"`]([^'"`]*)/g : /\bno\('([A-Z]\d+)'/g
}

describe('the checks of a row', () => {
  const sample: Files = new Map([
    ['src/a.ts', 'export function lock() {}'],
    ['test/a.test.ts', "it('T1: locks once', () => {})"],
    ['test/b.txt', '# T2: other'],
  ])
  const good: RuleRow = {
    rule: 'T1',
    short: 'One turn at a time.',
    enforced: '`src/a.ts` `lock`',
    proved: '`test/a.test.ts` › locks once',
  }

  it('pass a good row, and one that is not built', () => {
    expect(faultsOfRow(sample, good)).toEqual([])
    expect(faultsOfRow(sample, { ...good, enforced: 'later', proved: 'later' })).toEqual([])
  })

  it('fail on files, functions and tests that are not there, on empty cells, and on many words', () => {
    expect(faultsOfRow(sample, { ...good, enforced: '`src/b.ts`' })).toEqual(['T1: no file src/b.ts'])
    expect(faultsOfRow(sample, { ...good, enforced: '`src/a.ts` `open`' })).toEqual(['T1: src/a.ts has no open'])
    expect(faultsOfRow(sample, { ...good, proved: '`test/a.test.ts` › locks twice' })).toEqual([
      'T1: test/a.test.ts has no "locks twice"',
    ])
    expect(faultsOfRow(sample, { ...good, proved: '`test/b.txt`' })).toEqual(['T1: test/b.txt does not name T1'])
    expect(faultsOfRow(sample, { ...good, enforced: '', proved: 'soon' })).toEqual([
      'T1: enforced nowhere, and not marked `later`',
      'T1: proved nowhere, and not marked `later`',
    ])
    expect(faultsOfRow(sample, { ...good, proved: 'later' })).toEqual(['T1: built, and proved by no test'])
    expect(faultsOfRow(sample, { ...good, short: 'a b c d e f g h i j k l m' })).toEqual(['T1: 13 words'])
  })
})
