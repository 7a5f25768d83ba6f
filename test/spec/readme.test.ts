/** `spec/README.md`, in both languages, and the corpus say the same. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FORMAT } from '../../src/kernel/events.ts'
import { RULE_TEXTS } from '../../src/cli/texts/rules.ts'
import { textsOf } from '../docs/declared.ts'
import { codesIn, tableRows, type Row } from '../docs/tables.ts'
import type { Manifest } from './corpus.ts'
import { readSpec } from './files.ts'

const manifest = JSON.parse(readSpec('manifest.json')) as Manifest
const checked = readFileSync(new URL('../../src/protocol/log-check.ts', import.meta.url), 'utf8')

interface Legal {
  readonly event: string | null
  readonly rule: string
  readonly logs: readonly string[]
}

/** The rows of a table, its columns by place: their heads are in the language of the page. */
function cells(page: string, columns: number): readonly (readonly string[])[] {
  return tableRows(page)
    .map((row: Row) => Object.values(row))
    .filter((row) => row.length === columns)
}

function legalRows(page: string): Legal[] {
  return cells(page, 4).map(([event, , rule, logs]) => ({
    event: codesIn(event!)[0] ?? null,
    rule: rule!,
    logs: codesIn(logs!),
  }))
}

describe.each(['README.md', 'README.zh-CN.md'])('spec/%s', (file) => {
  const page = readSpec(file)
  const rows = legalRows(page)

  it('has a row for every way to break a rule, and no other', () => {
    const listed = rows.flatMap(({ event, rule, logs }) => logs.map((log) => `${log} ${rule} ${event}`))
    const broken = manifest.broken
      .filter(({ log, code }) => code === 'rule' || log.includes('session.created-newer'))
      .map(({ log, rule, event }) => {
        const name = log.replace('broken/', '').replace('.jsonl', '')
        return `${name} ${rule} ${rows.find(({ logs }) => logs.includes(name))?.event === null ? null : event}`
      })
    expect(listed.toSorted()).toEqual(broken.toSorted())
  })

  it('lists every code of a fault, with the rule that goes with it', () => {
    const codes = new Map(cells(page, 3).map(([code, rule]) => [codesIn(code!)[0]!, rule!]))
    expect([...codes.keys()].toSorted()).toEqual(textsOf(checked, 'FaultCode').toSorted())
    for (const { log, code, rule } of manifest.broken) if (code !== 'rule') expect(codes.get(code), log).toBe(rule)
  })

  it('is about this version', () => {
    expect(page.split('\n')[0]).toContain(String(FORMAT))
    expect(manifest.format).toBe(FORMAT)
  })
})

describe('the two languages of spec/README', () => {
  it('have the same rows in the same order', () => {
    expect(legalRows(readSpec('README.zh-CN.md'))).toEqual(legalRows(readSpec('README.md')))
  })
})

describe('what `verify` says was wanted', () => {
  it('is there for every rule that a log can break', () => {
    const rules = new Set(manifest.broken.filter(({ code }) => code === 'rule').map(({ rule }) => rule))
    expect([...rules].filter((rule) => !(rule in RULE_TEXTS))).toEqual([])
  })
})
