import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { env } from '../src/host/node.ts'
import { exportedNames, originOf, readTree, treeOf } from './tidy/tree.ts'
import type { Tree } from './tidy/tree.ts'

const GOLDEN = fileURLToPath(new URL('../api.txt', import.meta.url))
const project = readTree(fileURLToPath(new URL('..', import.meta.url)))
const HOW = 'If the change is meant, run `UPDATE_API=1 npm test` and name it in CHANGELOG.md.'

/** The public surface: for each entry of the package, its names with their kinds, sorted. */
function surfaceOf(tree: Tree): string {
  const entries = [...tree.manifest.entries].map(([subpath, path]) => {
    const names = exportedNames(tree, path).toSorted()
    const lines = names.map((name) => `  ${originOf(tree, path, name)?.kinds.join('+') ?? 'elsewhere'} ${name}`)
    return [subpath === '.' ? 'turnstep' : `turnstep/${subpath.slice(2)}`, ...lines].join('\n')
  })
  return `${entries.join('\n\n')}\n`
}

describe('the public surface', () => {
  it('is what api.txt says', () => {
    const surface = surfaceOf(project)
    if (env('UPDATE_API') !== undefined) writeFileSync(GOLDEN, surface)
    expect(surface, HOW).toBe(readFileSync(GOLDEN, 'utf8'))
  })

  it('has no name twice in one entry, and each name is declared in the project', () => {
    for (const path of project.manifest.entries.values()) {
      const names = exportedNames(project, path)
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
      expect(names.filter((name) => originOf(project, path, name) === null)).toEqual([])
    }
  })

  it('follows renames, stars and imports that are passed on to their declaration', () => {
    const tree = treeOf({
      'package.json': JSON.stringify({ exports: { '.': { default: './dist/index.js' } } }),
      'src/index.ts': `import { made } from './made.ts'\nexport { made }\nexport { a as first } from './all.ts'\nexport type { Kind } from './made.ts'`,
      'src/all.ts': `export * from './one.ts'`,
      'src/one.ts': `export function a() {}`,
      'src/made.ts': `export const made = 1\nexport interface Kind {}\nexport const Kind = {}`,
    })
    expect(surfaceOf(tree)).toBe('turnstep\n  interface+const Kind\n  function first\n  const made\n')
  })
})
