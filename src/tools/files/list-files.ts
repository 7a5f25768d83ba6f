/** The tool `list_files`: what is in a folder. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import type { ListArgs } from './list.ts'

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
    run: refusing(async (args, { signal }) => (await import('./list.ts')).listFolder(workspace, args, signal)),
  })
}
