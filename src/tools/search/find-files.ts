/** The tool `find_files`: files by the shape of their path. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import type { FindArgs } from './find.ts'

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
    run: refusing(async (args, { signal }) => (await import('./find.ts')).findFiles(workspace, args, signal)),
  })
}
