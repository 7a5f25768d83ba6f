/** The tool `write_file`. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import { approveChange } from './texts.ts'
import type { FileOptions } from './texts.ts'
import type { WriteArgs } from './replace.ts'

/**
 * Writes a file of the workspace. A `write` (C4), though writing the same text again looks harmless: between a crash and the
 * second run somebody may have edited the file, and that edit would be lost. The file shows the model what became of it, which
 * the key alone, all that `reconcile` gets, does not.
 */
export function writeFileTool(workspace: Workspace, options: FileOptions): Tool {
  return tool<WriteArgs>({
    name: 'write_file',
    description:
      'Write a text file of the workspace as UTF-8, replacing what is there; missing folders are made. ' +
      'To change a part of a file use edit_file.',
    effect: 'write',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the workspace' },
        content: { type: 'string', description: 'The whole new text' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    resources: ({ path }) => workspace.uses(path, 'write'),
    approval: ({ path }) => approveChange(workspace, options, 'write', path),
    run: refusing(async (args, context) => (await import('./replace.ts')).writeFile(workspace, args, context)),
  })
}
