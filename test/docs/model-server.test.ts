import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const WIRES = fileURLToPath(new URL('../../src/testing/server/wires/', import.meta.url))
const PAGE = new URL('../../docs/reference/model-server.md', import.meta.url)

/** Ids in calls of `refuse`, or wherever else a rule is named by its id alone. */
const idsIn = (text: string, pattern: RegExp): string[] =>
  [...new Set(Array.from(text.matchAll(pattern), ([, id]) => id!))].toSorted()

it('the page of the model server has each rule that it holds a client to, and no other', () => {
  const files = readdirSync(WIRES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.test|\.case)\.ts$/.test(path),
  )
  const sources = files.map((path) => readFileSync(WIRES + path, 'utf8')).join('\n')
  const page = readFileSync(PAGE, 'utf8')
  expect(idsIn(page, /`([A-Z](?:\d\d|-\w+))`/g)).toEqual(idsIn(sources, /'([A-Z](?:\d\d|-\w+))'/g))
})

it('each rule has a request that breaks it', () => {
  const page = idsIn(readFileSync(PAGE, 'utf8'), /`([A-Z](?:\d\d|-\w+))`/g)
  const files = readdirSync(WIRES, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.test.ts'))
  const tests = files.map((path) => readFileSync(WIRES + path, 'utf8')).join('\n')
  expect(page.filter((id) => !tests.includes(`'${id}'`))).toEqual([])
})
