/** The tool `grep`: lines by a regular expression. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import { MATCHES_DEFAULT, MATCHES_MAX, TIMEOUT_MS } from './limits.ts'
import type { GrepArgs, GrepOptions } from './search.ts'

/** Searches the workspace. Declares a read of everything, as `list_files` does. */
export function grepTool(workspace: Workspace, options: GrepOptions = {}): Tool {
  return tool<GrepArgs>({
    name: 'grep',
    description:
      'Search the files of the workspace line by line for a regular expression. Gives path:line:text for matches and ' +
      'path-line-text for context. Leaves out binary files, .git and what .gitignore names.',
    effect: 'read',
    timeoutMs: TIMEOUT_MS,
    input: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 2000,
          description: 'A regular expression; matched per line',
        },
        path: { type: 'string', description: 'A file or folder; default the workspace' },
        glob: { type: 'string', minLength: 1, maxLength: 1000, description: 'Only files like this, such as *.ts' },
        literal: { type: 'boolean', description: 'Take the pattern as plain text; default false' },
        ignore_case: { type: 'boolean', description: 'Default false' },
        context: { type: 'integer', minimum: 0, maximum: 20, description: 'Lines before and after; default 0' },
        max_matches: { type: 'integer', minimum: 1, maximum: MATCHES_MAX, description: `Default ${MATCHES_DEFAULT}` },
        include_ignored: { type: 'boolean', description: 'Also what .gitignore names; default false' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    run: refusing(async (args, context) => (await import('./search.ts')).search(args, { workspace, options, context })),
  })
}
