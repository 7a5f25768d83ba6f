/** What can be wrong with a page of documentation. Pure functions, shown to fail in `pages.test.ts`. */
import { posix } from 'node:path'

/** Texts of the project by path. */
export type Files = ReadonlyMap<string, string>

const CODE_FENCE = /^```(\w*)[ \t]*(\S*)[^\n]*\n([\s\S]*?)^```/gm

/** Links to files of the project that are not there. */
export function brokenLinks(files: Files, path: string): string[] {
  const prose = textOf(files, path).replace(CODE_FENCE, '')
  const targets = [...prose.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)].map(([, target]) => target!)
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => !exists(files, posix.join(posix.dirname(path), target)))
    .map((target) => `${path}: no file ${target}`)
}

/** Scripts that a page tells to run and `package.json` does not have. */
export function unknownScripts(files: Files, path: string): string[] {
  const { scripts } = JSON.parse(textOf(files, 'package.json')) as { readonly scripts: Record<string, string> }
  const named = [...textOf(files, path).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => name!)
  return named.filter((name) => !(name in scripts)).map((name) => `${path}: no script ${name}`)
}

/**
 * Snippets of TypeScript that are not cut from a file that runs. The opening fence names the file, as in
 * ` ```ts examples/01-first/main.ts `; the snippet is a run of its lines, indentation of the whole aside.
 */
export function looseSnippets(files: Files, path: string): string[] {
  return [...textOf(files, path).matchAll(CODE_FENCE)].flatMap(([, language, source, body]) => {
    if (language !== 'ts' && language !== 'tsx') return []
    const first = body!.split('\n', 1)[0]
    if (source === '') return [`${path}: a snippet names no file: ${first}`]
    if (!files.has(source!)) return [`${path}: a snippet names ${source}, which does not exist`]
    return flush(textOf(files, source!)).includes(flush(body!)) ? [] : [`${path}: not as in ${source}: ${first}`]
  })
}

/** The TypeScript that a page shows, in order. */
export function snippets(files: Files, path: string): string[] {
  const blocks = [...textOf(files, path).matchAll(CODE_FENCE)]
  return blocks.flatMap(([, language, , body]) => (language === 'ts' || language === 'tsx' ? [body!] : []))
}

function exists(files: Files, path: string): boolean {
  const folder = path.endsWith('/') ? path : `${path}/`
  return files.has(path) || [...files.keys()].some((file) => file.startsWith(folder))
}

function textOf(files: Files, path: string): string {
  return files.get(path) ?? ''
}

/** The lines without their indentation, so that a snippet may be cut from inside a block. */
function flush(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
}
