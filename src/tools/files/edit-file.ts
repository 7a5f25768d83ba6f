/** The tool `edit_file`: replaces an exact text, or says why it cannot. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import type { EditArgs } from './edit.ts'
import { approveChange } from './texts.ts'
import type { FileOptions } from './texts.ts'

/** Edits a file of the workspace. A `write`: run twice it may insert twice. Edits of different files overlap (C6). */
export function editFileTool(workspace: Workspace, options: FileOptions): Tool {
  return tool<EditArgs>({
    name: 'edit_file',
    description:
      'Replace a text in a file of the workspace. old_text must be exactly what the file has, spaces and line breaks too, and ' +
      'must occur once unless all is true. Give enough of the lines around it to make it unique.',
    effect: 'write',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the workspace' },
        old_text: { type: 'string', minLength: 1, description: 'The exact text to replace' },
        new_text: { type: 'string', description: 'What stands there afterwards; may be empty' },
        all: { type: 'boolean', description: 'Replace every occurrence; default false' },
      },
      required: ['path', 'old_text', 'new_text'],
      additionalProperties: false,
    },
    resources: ({ path }) => workspace.uses(path, 'write'),
    approval: ({ path }) => approveChange(workspace, options, 'edit', path),
    run: refusing(async (args, context) => (await import('./edit.ts')).editFile(workspace, args, context)),
  })
}
