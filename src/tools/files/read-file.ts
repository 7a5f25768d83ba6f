/** The tool `read_file`: a window of a text file, or an image. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import type { ReadArgs } from './read.ts'
import { WINDOW_BYTES, WINDOW_LINES } from './window.ts'

/** Reads a file of the workspace. Shares it with other readers (C6). */
export function readFileTool(workspace: Workspace): Tool {
  return tool<ReadArgs>({
    name: 'read_file',
    description:
      'Read a text file of the workspace, or look at an image (png, jpeg, gif, webp). ' +
      `At most ${WINDOW_LINES} lines or ${WINDOW_BYTES} bytes at once; a note at the end says how to go on.`,
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Relative to the workspace' },
        start_line: { type: 'integer', minimum: 1, description: 'First line, counted from 1; default 1' },
        line_count: { type: 'integer', minimum: 1, description: 'How many lines; default as many as fit' },
        numbered: { type: 'boolean', description: 'Put the line number and a tab before each line; default false' },
        encoding: { type: 'string', description: 'Such as gbk or shift_jis; default utf-8' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    resources: ({ path }) => workspace.uses(path, 'read'),
    run: refusing(async (args, { signal }) => (await import('./read.ts')).readFile(workspace, args, signal)),
  })
}
