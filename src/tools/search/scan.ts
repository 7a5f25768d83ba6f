/** Searches by reading the files: always there, and inside the border of the workspace by itself. */
import type { Clock } from '../../runtime/ports.ts'
import { onceAborted } from '../../util/signal.ts'
import { messageOf } from '../../util/text.ts'
import { globMatcher } from '../glob.ts'
import { isBinary } from '../kinds.ts'
import { Refusal, ioCode } from '../refusal.ts'
import { walk } from '../walk.ts'
import type { Workspace } from '../workspace.ts'
import { SEARCHED_BYTES_MAX } from './lines.ts'
import type { Findings, Query } from './lines.ts'
import { Matcher } from './matcher.ts'
import type { MatchedLine } from './matcher.ts'

interface Scan {
  readonly workspace: Workspace
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Puts what matches into `findings`. Refuses a pattern that is none, and one that takes too long. */
export async function scan(query: Query, findings: Findings, { workspace, clock, signal }: Scan): Promise<void> {
  const matcher = new Matcher(regexOf(query), clock)
  try {
    for await (const path of pathsOf(query, workspace, signal)) {
      const text = await readSearchable(workspace, path)
      if (text === null) continue
      const job = { text, linesMax: query.matchesMax - findings.matches + 1 }
      const lines = await heeding(signal, matcher.match(job))
      if (lines === null)
        throw new Refusal('too-slow', `The pattern takes too long on "${path}". Use a simpler one, or literal: true.`)
      addLines(path, text, { lines, context: query.context }, findings)
      if (findings.more) break
    }
  } finally {
    await matcher.close()
  }
}

function regexOf({ pattern, literal, ignoreCase }: Query): RegExp {
  // Other dialects write this switch into the pattern.
  const inline = !literal && pattern.startsWith('(?i)')
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') : pattern.slice(inline ? 4 : 0)
  const unicode = /\\[pP]\{|\\u\{/.test(source)
  try {
    return new RegExp(source, `${ignoreCase || inline ? 'i' : ''}${unicode ? 'u' : ''}`)
  } catch (error) {
    throw new Refusal(
      'pattern',
      `${messageOf(error).slice(0, 300)}. To search for the text itself, set literal to true.`,
    )
  }
}

async function* pathsOf(
  { place, glob, ignored }: Query,
  workspace: Workspace,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (place.stats?.isFile() === true) {
    yield place.shown
    return
  }
  const isWanted = glob === null ? () => true : globMatcher(glob)
  const base = place.shown === '.' ? 0 : place.shown.length + 1
  for await (const { path, kind } of walk(workspace, place, { signal, ignored }))
    if (kind === 'file' && isWanted(path.slice(base))) yield path
}

/** Null for what is not text, is too large, went away, or may not be read. */
async function readSearchable(workspace: Workspace, path: string): Promise<string | null> {
  try {
    const { file, stats } = await workspace.openFile(workspace.resolve(path))
    try {
      if (stats.size > SEARCHED_BYTES_MAX) return null
      const bytes = await file.readFile()
      return isBinary(bytes) ? null : bytes.toString('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof Refusal || ioCode(error) === 'EACCES') return null
    throw error
  }
}

/** An abort does not wait for the pattern. */
async function heeding<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const aborted = onceAborted(signal)
  try {
    await Promise.race([promise, aborted.promise])
    signal.throwIfAborted()
    return await promise
  } finally {
    aborted.off()
  }
}

interface Matched {
  readonly lines: readonly MatchedLine[]
  readonly context: number
}

function addLines(path: string, text: string, { lines, context }: Matched, findings: Findings): void {
  let shown = 0
  lines.forEach(([line, from, to, at], index) => {
    for (const before of linesBefore(text, from, Math.min(context, line - shown - 1)))
      findings.add({ path, line: line - before.back, text: before.text, at: null })
    findings.add({ path, line, text: text.slice(from, to), at })
    shown = line
    const next = lines[index + 1]?.[0] ?? Infinity
    for (const after of linesAfter(text, to, Math.min(context, next - line - 1))) {
      shown += 1
      findings.add({ path, line: shown, text: after, at: null })
    }
  })
}

function linesBefore(text: string, from: number, count: number): { readonly back: number; readonly text: string }[] {
  const lines: { back: number; text: string }[] = []
  for (let end = from - 1; end >= 0 && lines.length < count;) {
    const start = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1
    lines.unshift({ back: lines.length + 1, text: withoutReturn(text.slice(start, end)) })
    end = start - 1
  }
  return lines
}

function linesAfter(text: string, to: number, count: number): string[] {
  const lines: string[] = []
  for (let end = text.indexOf('\n', to); end !== -1 && end + 1 < text.length && lines.length < count;) {
    const start = end + 1
    end = text.indexOf('\n', start)
    lines.push(withoutReturn(text.slice(start, end === -1 ? text.length : end)))
  }
  return lines
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
