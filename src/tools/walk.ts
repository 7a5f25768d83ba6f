/**
 * Walks the folders of a workspace, in order of names, links not followed, leaving out what `.gitignore` files leave out.
 * Lazy: who has enough stops.
 */
import type { Dirent } from 'node:fs'
import ignore from 'ignore'
import type { Ignore } from 'ignore'
import { Refusal, ioCode } from './refusal.ts'
import type { Place, Workspace } from './workspace.ts'

export interface Entry {
  /** Relative to the root of the workspace, with `/`. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

interface WalkOptions {
  readonly signal: AbortSignal
  /** 1: the folder's own entries. Default: all the way down. */
  readonly depth?: number
  /** Also what is ignored. `.git` is left out in any case. */
  readonly ignored?: boolean
}

const DEPTH_MAX = 100

/** All entries below the folder, each folder before what is in it. Refuses as `Workspace.list` does. */
export async function* walk(workspace: Workspace, place: Place, options: WalkOptions): AsyncGenerator<Entry> {
  const path = place.shown === '.' ? '' : place.shown
  const above = options.ignored === true ? null : await rulesAbove(workspace, path)
  // Who asks for a folder that is ignored wants to see what is in it.
  const rules = above !== null && path !== '' && isIgnored(above, path, true) ? null : above
  const entries = await workspace.list(place)
  yield* walkFolder(workspace, { path, rules, entries }, options, 1)
}

interface Folder {
  readonly path: string
  readonly entries: readonly Dirent[]
  /** Null: nothing is ignored here and below. */
  readonly rules: Rules | null
}

async function* walkFolder(
  workspace: Workspace,
  { path: base, entries, rules: above }: Folder,
  options: WalkOptions,
  level: number,
): AsyncGenerator<Entry> {
  options.signal.throwIfAborted()
  const rules = above === null ? null : await rulesOf(workspace, base, entries, above)
  for (const entry of entries.toSorted(byName)) {
    const path = base === '' ? entry.name : `${base}/${entry.name}`
    const kind = kindOf(entry)
    if (entry.name === '.git' || (rules !== null && isIgnored(rules, path, kind === 'folder'))) continue
    yield { path, kind }
    if (kind !== 'folder' || level >= Math.min(options.depth ?? DEPTH_MAX, DEPTH_MAX)) continue
    yield* walkFolder(workspace, { path, rules, entries: await listQuietly(workspace, path) }, options, level + 1)
  }
}

/** A folder that went away, or may not be read, has nothing in it. */
async function listQuietly(workspace: Workspace, path: string): Promise<readonly Dirent[]> {
  try {
    return await workspace.list(workspace.resolve(path))
  } catch (error) {
    if (error instanceof Refusal || ioCode(error) === 'EACCES') return []
    throw error
  }
}

const byName = (one: Dirent, other: Dirent): number => (one.name < other.name ? -1 : 1)

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** The rules of one folder, and of those above it. */
interface Rules {
  readonly base: string
  readonly own: Ignore
  readonly above: Rules | null
}

/** The nearest file that has an opinion decides. */
function isIgnored(rules: Rules, path: string, isFolder: boolean): boolean {
  for (let at: Rules | null = rules; at !== null; at = at.above) {
    const below = at.base === '' ? path : path.slice(at.base.length + 1)
    const { ignored, unignored } = at.own.test(isFolder ? `${below}/` : below)
    if (ignored || unignored) return ignored
  }
  return false
}

const NO_RULES: Rules = { base: '', own: ignore(), above: null }

async function rulesAbove(workspace: Workspace, path: string): Promise<Rules> {
  let rules = NO_RULES
  const names = path.split('/')
  for (let depth = 0; depth < names.length && path !== ''; depth++) {
    const base = names.slice(0, depth).join('/')
    const entries = await workspace.list(workspace.resolve(base || '.'))
    rules = await rulesOf(workspace, base, entries, rules)
  }
  return rules
}

async function rulesOf(workspace: Workspace, base: string, entries: readonly Dirent[], above: Rules): Promise<Rules> {
  if (!entries.some((entry) => entry.name === '.gitignore' && entry.isFile())) return above
  const { file } = await workspace.openFile(workspace.resolve(base === '' ? '.gitignore' : `${base}/.gitignore`))
  try {
    const own = ignore({ ignorecase: false, allowRelativePaths: false }).add(await file.readFile('utf8'))
    return { base, own, above }
  } finally {
    await file.close()
  }
}
