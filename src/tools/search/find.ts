/** How `find_files` finds. Loaded with the first glob. */
import type { ToolResult } from '../../runtime/define/tool.ts'
import { globMatcher } from '../glob.ts'
import { walk } from '../walk.ts'
import type { Workspace } from '../workspace.ts'

/** What a model says of files to find. */
export interface FindArgs {
  readonly glob: string
  readonly path?: string
  readonly include_ignored?: boolean
}

const FOUND_MAX = 500

/** One path per line, up to a bound. */
export async function findFiles(workspace: Workspace, args: FindArgs, signal: AbortSignal): Promise<ToolResult> {
  const place = workspace.resolve(args.path ?? '.')
  const isWanted = globMatcher(args.glob)
  const base = place.shown === '.' ? 0 : place.shown.length + 1
  const found: string[] = []
  let more = false
  for await (const { path, kind } of walk(workspace, place, { signal, ignored: args.include_ignored === true })) {
    if (kind === 'folder' || !isWanted(path.slice(base))) continue
    more = found.length === FOUND_MAX
    if (more) break
    found.push(path)
  }
  return {
    content: found.length === 0 ? `No file matches ${args.glob}.` : found.join('\n'),
    data: { found: found.length, more },
    ...(more && { footer: `[the first ${FOUND_MAX} files; use a narrower glob]` }),
  }
}
