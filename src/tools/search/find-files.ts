/** The tool `find_files`: files by the shape of their path. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool, ToolResult } from '../../runtime/define/tool.ts'
import { globMatcher } from '../glob.ts'
import { refusing } from '../refusal.ts'
import { walk } from '../walk.ts'
import type { Workspace } from '../workspace.ts'

interface FindArgs {
  readonly glob: string
  readonly path?: string
  readonly include_ignored?: boolean
}

const FOUND_MAX = 500

/** Finds files of the workspace. Declares a read of everything, as `list_files` does. */
export function findFilesTool(workspace: Workspace): Tool {
  return tool<FindArgs>({
    name: 'find_files',
    description:
      'Find files of the workspace by a glob, such as *.ts (in any folder), src/**/*.test.ts or docs/{en,zh}/*.md. ' +
      'Leaves out .git and what .gitignore names.',
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        glob: { type: 'string', minLength: 1, maxLength: 1000, description: 'Relative to path' },
        path: { type: 'string', description: 'The folder to look in; default the workspace' },
        include_ignored: { type: 'boolean', description: 'Also what .gitignore names; default false' },
      },
      required: ['glob'],
      additionalProperties: false,
    },
    run: refusing((args, { signal }) => find(workspace, args, signal)),
  })
}

async function find(workspace: Workspace, args: FindArgs, signal: AbortSignal): Promise<ToolResult> {
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
