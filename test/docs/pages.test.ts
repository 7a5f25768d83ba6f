import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTree } from '../tidy/tree.ts'
import { brokenLinks, looseSnippets, snippets, unknownScripts } from './pages.ts'

const { files, manifest } = readTree(fileURLToPath(new URL('../..', import.meta.url)))
const pages = [...files.keys()].filter((path) => path.endsWith('.md'))

/** Pages whose snippets a reader copies. */
const forReaders = pages.filter((path) => /^README|^docs\/(guides|reference|zh)\//.test(path))

/** Pages that exist in both languages: English, Chinese. */
const TRANSLATED: readonly (readonly [string, string])[] = [
  ['README.md', 'README.zh-CN.md'],
  ...[
    'getting-started',
    'steering-and-queues',
    'tools',
    'crashes',
    'torture',
    'simulate',
    'waiting',
    'model-server',
  ].map((name) => [`docs/guides/${name}.md`, `docs/zh/${name}.md`] as const),
]

describe('the documentation', () => {
  it('links to files that exist', () => {
    expect(pages.flatMap((path) => brokenLinks(files, path))).toEqual([])
  })

  it('names scripts that exist', () => {
    expect(pages.flatMap((path) => unknownScripts(files, path))).toEqual([])
  })

  it('shows code that is cut from files that run', () => {
    expect(forReaders.flatMap((path) => looseSnippets(files, path))).toEqual([])
  })

  it('shows the same code in both languages', () => {
    for (const [english, chinese] of TRANSLATED)
      expect(snippets(files, chinese), chinese).toEqual(snippets(files, english))
  })

  it('has a record of every dependency', () => {
    const records = pages.filter((path) => path.startsWith('docs/decisions/')).map((path) => files.get(path)!)
    const named = [...manifest.packages, ...manifest.devPackages]
    expect(named.filter((name) => !records.some((record) => record.includes(`\`${name}\``)))).toEqual([])
  })
})

describe('the checks of a page', () => {
  const sample = new Map([
    ['package.json', '{"scripts":{"check":"x"}}'],
    ['examples/a.ts', 'async function f() {\n  const a = 1\n  await b()\n}\n'],
    [
      'docs/good.md',
      '[a](../examples/a.ts#f) [b](https://x.org) `npm run check`\n```ts examples/a.ts\nconst a = 1\nawait b()\n```\n',
    ],
    [
      'docs/bad.md',
      '[a](../a.ts) `npm run chek`\n```ts examples/a.ts\nconst a = 2\n```\n```ts\nc()\n```\n```ts examples/z.ts\nd()\n```\n',
    ],
  ])

  it('pass a good page', () => {
    for (const check of [brokenLinks, unknownScripts, looseSnippets]) expect(check(sample, 'docs/good.md')).toEqual([])
    expect(snippets(sample, 'docs/good.md')).toEqual(['const a = 1\nawait b()\n'])
  })

  it('fail on a broken link, an unknown script, and snippets that are from nowhere', () => {
    expect(brokenLinks(sample, 'docs/bad.md')).toEqual(['docs/bad.md: no file ../a.ts'])
    expect(unknownScripts(sample, 'docs/bad.md')).toEqual(['docs/bad.md: no script chek'])
    expect(looseSnippets(sample, 'docs/bad.md')).toEqual([
      'docs/bad.md: not as in examples/a.ts: const a = 2',
      'docs/bad.md: a snippet names no file: c()',
      'docs/bad.md: a snippet names examples/z.ts, which does not exist',
    ])
  })
})
