/** The logs of `spec/` are those that the sources yield, and the checker says of each what its list says. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkFile, corpus, type Manifest } from './corpus.ts'
import { asLatin1, HOW, isWriting, readFolder, readSpec, writeFolder, writeSpec } from './files.ts'
import { brokenFiles } from './odd-files.ts'
import { ID, schemaFiles } from './schemas.ts'

const made = corpus()
if (isWriting) {
  writeFolder('broken', made.broken)
  writeFolder('odd', made.odd)
  writeSpec('manifest.json', made.manifest)
}

const manifest = JSON.parse(readSpec('manifest.json')) as Manifest
const read = (path: string): Buffer => readFileSync(new URL(`../../spec/${path}`, import.meta.url))

describe('the corpus of spec/', () => {
  it('is what the sources yield', () => {
    expect(readFolder('broken'), HOW).toEqual(asLatin1(made.broken))
    expect(readFolder('odd'), HOW).toEqual(asLatin1(made.odd))
    expect(readSpec('manifest.json'), HOW).toBe(made.manifest)
  })

  it('breaks every rule that the kernel refuses an event by', () => {
    const legality = readFileSync(new URL('../../src/kernel/legality.ts', import.meta.url), 'utf8')
    const cited = [...legality.matchAll(/'([A-Z]\d+)'/g)].map(([, rule]) => rule!)
    const broken = new Set(manifest.broken.map(({ rule }) => rule))
    expect([...new Set(cited)].filter((rule) => !broken.has(rule))).toEqual([])
    expect(manifest.broken.length).toBeGreaterThan(150)
  })

  it.each(manifest.broken)('$rule: $log is refused where its list says', ({ log, rule, code, line, seq, event }) => {
    const { fault, events } = checkFile(read(log))
    expect(fault).toMatchObject({ rule, code, line, seq, type: event })
    expect(log.startsWith(`broken/${rule}-`)).toBe(true)
    expect(events).toBe(seq - 1)
  })

  it('is refused for what its makers meant, and for nothing before', () => {
    const rows = new Map(manifest.broken.map((row) => [row.log, row]))
    for (const { name, broken, seq } of made.logs)
      expect(rows.get(`broken/${name}.jsonl`)).toMatchObject({ seq, rule: broken.rule, problem: broken.problem })
    for (const name of Object.keys(brokenFiles()).filter((one) => one.startsWith('L6-shape')))
      expect(rows.get(`broken/${name}.jsonl`)?.code, name).toBe('shape')
  })

  it.each(manifest.odd)('L6: $log is odd, and sound', ({ log, events, skipped }) => {
    expect(checkFile(read(log))).toMatchObject({ fault: null, events, skipped })
  })

  it.each(manifest.golden)('L6: $log is sound', ({ log, events }) => {
    expect(checkFile(read(log))).toMatchObject({ fault: null, events })
  })

  it('L6: what the checker refuses for its shape, the schemas refuse, and nothing else', () => {
    const ajv = new Ajv2020({ strict: false })
    for (const text of Object.values(schemaFiles())) ajv.addSchema(JSON.parse(text) as object)
    const valid = ajv.getSchema(`${ID}:line`)!
    const judged = manifest.broken.filter(({ code }) => ['shape', 'rule', 'newer'].includes(code))
    expect(judged.length).toBeGreaterThan(140)
    for (const { log, code, line } of judged) {
      const value: unknown = JSON.parse(read(log).toString().split('\n')[line - 1]!)
      // How deep a value is nested is a bound that no schema can name.
      expect(valid(value), log).toBe(code !== 'shape' || log.includes('nested'))
    }
  })
})
