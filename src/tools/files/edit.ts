/** How `edit_file` edits. Loaded with the first edit. */
import type { Stats } from 'node:fs'
import { TextDecoder } from 'node:util'
import type { ToolContext, ToolResult } from '../../runtime/define/tool.ts'
import { changeable } from '../guard.ts'
import { isBinary } from '../kinds.ts'
import { Refusal } from '../refusal.ts'
import type { Place, Workspace } from '../workspace.ts'
import { nearest } from './nearest.ts'
import { replaceFile } from './replace.ts'

/** What a model says of an edit. */
export interface EditArgs {
  readonly path: string
  readonly old_text: string
  readonly new_text: string
  readonly all?: boolean
}

const FILE_BYTES_MAX = 20 * 1024 * 1024

/** Replaces the text. Refuses what is not there, not there once, or cannot be written back as it was. */
export async function editFile(
  workspace: Workspace,
  args: EditArgs,
  { idempotencyKey, signal }: ToolContext,
): Promise<ToolResult> {
  const place = changeable(workspace.resolve(args.path))
  const { text, stats } = await readText(workspace, place)
  const { edited, result } = edit(text, args, place.shown)
  await replaceFile(workspace, place, edited, { key: idempotencyKey, signal, since: stats })
  return result
}

/** The text, exactly: what cannot be written back unchanged is refused. */
async function readText(workspace: Workspace, place: Place): Promise<{ readonly text: string; readonly stats: Stats }> {
  const { file, stats } = await workspace.openFile(place)
  try {
    if (stats.size > FILE_BYTES_MAX)
      throw new Refusal(
        'too-large',
        `"${place.shown}" has ${stats.size} bytes; at most ${FILE_BYTES_MAX} can be edited.`,
      )
    const bytes = await file.readFile()
    if (isBinary(bytes)) throw new Refusal('binary', `"${place.shown}" is a binary file.`)
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), stats }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const advice = 'An edit would damage it. Convert it first, for example with iconv in the shell.'
    throw new Refusal('encoding', `"${place.shown}" is not valid UTF-8. ${advice}`)
  } finally {
    await file.close()
  }
}

function edit(text: string, args: EditArgs, shown: string): { readonly edited: string; readonly result: ToolResult } {
  const { from, to, positions } = find(text, args)
  if (from === to) throw new Refusal('no-change', 'old_text and new_text are the same: there is nothing to change.')
  if (positions.length === 0) throw new Refusal('not-found', `old_text is not in "${shown}". ${nearest(text, from)}`)
  const lines = positions.slice(0, 10).map((position) => lineAt(text, position))
  if (positions.length > 1 && args.all !== true)
    throw new Refusal(
      'ambiguous',
      `old_text is found ${positions.length} times in "${shown}", at lines ${lines.join(', ')}${positions.length > 10 ? ' and more' : ''}. ` +
        'Give more of the lines around the one that is meant, or set all to true.',
    )
  const where = positions.length === 1 ? `line ${lines[0]}` : `${positions.length} places, first at line ${lines[0]}`
  return {
    edited: replaceAt(text, positions, { length: from.length, by: to }),
    result: {
      content: `Edited ${shown}: ${where}.`,
      data: { path: shown, replaced: positions.length, line: lines[0]! },
    },
  }
}

interface Found {
  readonly from: string
  readonly to: string
  readonly positions: readonly number[]
}

/** Models write plain line breaks; in a file that has the others, those are meant. */
function find(text: string, { old_text, new_text }: EditArgs): Found {
  const exact: Found = { from: old_text, to: new_text, positions: positionsOf(text, old_text) }
  if (exact.positions.length > 0 || !text.includes('\r\n') || !old_text.includes('\n')) return exact
  const crlf = (part: string): string => part.replace(/\r?\n/g, '\r\n')
  const positions = positionsOf(text, crlf(old_text))
  return positions.length === 0 ? exact : { from: crlf(old_text), to: crlf(new_text), positions }
}

/** Where it stands, without overlaps. */
function positionsOf(text: string, part: string): readonly number[] {
  const positions: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) positions.push(at)
  return positions
}

function replaceAt(
  text: string,
  positions: readonly number[],
  { length, by }: { readonly length: number; readonly by: string },
): string {
  const pieces: string[] = []
  let from = 0
  for (const position of positions) {
    pieces.push(text.slice(from, position), by)
    from = position + length
  }
  return pieces.join('') + text.slice(from)
}

function lineAt(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
