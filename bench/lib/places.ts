/** Where code stands that a profile names: in `dist` the files are few, and their source maps know of which of `src` each piece is. */
import { existsSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { fileURLToPath } from 'node:url'

/** A place as a profile has it; lines and columns from 0. */
interface Found {
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}

/** The file, as short as it is plain, and the line from 1. An empty file for what is Node's own. */
export function placeOf({ url, lineNumber, columnNumber }: Found): { readonly file: string; readonly line: number } {
  const entry = mapOf(url)?.findEntry(lineNumber, columnNumber)
  if (entry !== undefined && 'originalSource' in entry)
    return { file: entry.originalSource.replace(/^(\.\.\/)+/, ''), line: entry.originalLine + 1 }
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/(dist|\.tools)\//, '$1/')
  return { file, line: lineNumber + 1 }
}

const maps = new Map<string, SourceMap | null>()

function mapOf(url: string): SourceMap | null {
  const known = maps.get(url)
  if (known !== undefined) return known
  const path = /^file:.*\/dist\/.*\.js$/.test(url) ? `${fileURLToPath(url)}.map` : null
  const map =
    path === null || !existsSync(path)
      ? null
      : new SourceMap(JSON.parse(readFileSync(path, 'utf8')) as SourceMapPayload)
  maps.set(url, map)
  return map
}
