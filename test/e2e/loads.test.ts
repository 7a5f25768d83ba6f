import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('fixtures/first-call.mjs', import.meta.url))
const DIST = new URL('../../dist/', import.meta.url)

interface Told {
  readonly firstCall: readonly string[]
  readonly atEnd: readonly string[]
  readonly kind: string
}

async function run(): Promise<Told> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM])
  return JSON.parse(stdout) as Told
}

const files = (loaded: readonly string[]): string[] => loaded.filter((name) => name.startsWith('file:'))

it('a first turn in memory loads three files, no package, and none of the modules of Node that cost', async () => {
  const { firstCall, atEnd, kind } = await run()
  expect(kind).toBe('completed')
  expect(new Set(files(firstCall).map((url) => url.replace(DIST.href, '')))).toEqual(
    new Set(['index.js', 'chunks/base.js', 'chunks/core.js']),
  )
  // By name, since Node's own parts differ from version to version.
  const costly = /^NativeModule (crypto|child_process|worker_threads|net|tls|https?|http2|zlib|sqlite|vm|util\/types)$/
  expect(firstCall.filter((name) => costly.test(name))).toEqual([])
  // Arguments are checked by a package that is loaded for them, and no other is.
  const packages = files(atEnd).flatMap((url) => /node_modules\/([^/]+)/.exec(url)?.[1] ?? [])
  expect([...new Set(packages)].toSorted()).toEqual(['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse'])
})

it('what a first turn loads stays small', () => {
  const bytes = ['index', 'chunks/core', 'chunks/base'].map(
    (name) => readFileSync(new URL(`${name}.js`, DIST)).byteLength,
  )
  expect(bytes.reduce((sum, one) => sum + one)).toBeLessThan(360_000)
  expect(readdirSync(new URL('chunks', DIST)).filter((name) => name.endsWith('.js')).length).toBeLessThan(70)
})
