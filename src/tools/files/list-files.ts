/** The tool `list_files`: what is in a folder. */
import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool, ToolResult } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import { walk } from '../walk.ts'
import type { Entry } from '../walk.ts'
import type { Workspace } from '../workspace.ts'

interface ListArgs {
  readonly path?: string
  readonly depth?: number
  readonly include_ignored?: boolean
}

const ENTRIES_MAX = 1000

/**
 * Lists a folder of the workspace. Looks at many files, so it declares a read of everything: it shares with all that read, and
 * waits for any change (C6 knows equal names and `*`, no folders).
 */
export function listFilesTool(workspace: Workspace): Tool {
  return tool<ListArgs>({
    name: 'list_files',
    description:
      'List what is in a folder of the workspace, one path per line, folders with a slash at the end. ' +
      'Leaves out .git and what .gitignore names.',
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the workspace; default the workspace itself' },
        depth: { type: 'integer', minimum: 1, maximum: 20, description: 'How many levels down; default 1' },
        include_ignored: { type: 'boolean', description: 'Also what .gitignore names; default false' },
      },
      additionalProperties: false,
    },
    run: refusing((args, { signal }) => list(workspace, args, signal)),
  })
}

async function list(workspace: Workspace, args: ListArgs, signal: AbortSignal): Promise<ToolResult> {
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
