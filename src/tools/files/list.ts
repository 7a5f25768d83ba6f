/** How `list_files` lists. Loaded with the first folder that is listed. */
import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolResult } from '../../runtime/define/tool.ts'
import { walk } from '../walk.ts'
import type { Entry } from '../walk.ts'
import type { Workspace } from '../workspace.ts'

/** What a model says of a folder to list. */
export interface ListArgs {
  readonly path?: string
  readonly depth?: number
  readonly include_ignored?: boolean
}

const ENTRIES_MAX = 1000

/** One path per line, of so many levels. */
export async function listFolder(workspace: Workspace, args: ListArgs, signal: AbortSignal): Promise<ToolResult> {
  const place = workspace.resolve(args.path ?? '.')
  const lines: string[] = []
  let more = false
  for await (const entry of walk(workspace, place, {
    signal,
    depth: args.depth ?? 1,
    ignored: args.include_ignored === true,
  })) {
    more = lines.length === ENTRIES_MAX
    if (more) break
    lines.push(await lineOf(workspace.root, entry))
  }
  return {
    content: lines.length === 0 ? '(nothing here)' : lines.join('\n'),
    data: { entries: lines.length, more },
    ...(more && { footer: `[the first ${ENTRIES_MAX} entries; list a folder further down, or use find_files]` }),
  }
}

async function lineOf(root: string, { path, kind }: Entry): Promise<string> {
  if (kind === 'folder') return `${path}/`
  if (kind !== 'link') return path
  // A link that went away meanwhile leads nowhere.
  return `${path} -> ${await readlink(join(root, path)).catch(() => '?')}`
}
