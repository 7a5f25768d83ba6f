/** How `read_file` reads. Loaded with the first file that is read. */
import type { FileHandle } from 'node:fs/promises'
import { TextDecoder } from 'node:util'
import { textPart } from '../../kernel/message.ts'
import type { ToolResult } from '../../runtime/define/tool.ts'
import { sizeOf } from '../../util/cut.ts'
import { borderAt, wellFormed } from '../../util/wellformed.ts'
import { imageType, isBinary } from '../kinds.ts'
import { Refusal } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import { WINDOW_BYTES, WINDOW_LINES } from './window.ts'

/** What a model says of a file to read. */
export interface ReadArgs {
  readonly path: string
  readonly start_line?: number
  readonly line_count?: number
  readonly numbered?: boolean
  readonly encoding?: string
}

/** What providers take as one picture. */
const IMAGE_BYTES_MAX = 5 * 1024 * 1024
const CHUNK_BYTES = 256 * 1024

/** A window of a text, or a picture. */
export async function readFile(workspace: Workspace, args: ReadArgs, signal: AbortSignal): Promise<ToolResult> {
  const place = workspace.resolve(args.path)
  const { file, stats } = await workspace.openFile(place)
  try {
    const first = await readChunk(file, 0)
    const mediaType = imageType(first)
    if (mediaType !== null) return await readImage(file, stats.size, { shown: place.shown, mediaType })
    const decoder = decoderOf(args.encoding)
    if (args.encoding === undefined && isBinary(first))
      throw new Refusal(
        'binary',
        `"${place.shown}" is a binary file of ${stats.size} bytes. If it is text, name its encoding.`,
      )
    const window = new LineWindow(args)
    let position = 0
    for (let chunk = first; chunk.length > 0 && !window.full; chunk = await readChunk(file, position)) {
      signal.throwIfAborted()
      position += chunk.length
      window.push(decoder.decode(chunk, { stream: true }))
    }
    if (!window.full) window.push(decoder.decode())
    return window.result(place.shown, stats.size)
  } finally {
    await file.close()
  }
}

async function readChunk(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position)
  return buffer.subarray(0, bytesRead)
}

function decoderOf(encoding = 'utf-8'): TextDecoder {
  try {
    return new TextDecoder(encoding)
  } catch {
    throw new Refusal(
      'encoding',
      `"${encoding}" is no known encoding. Try utf-8, utf-16le, gbk, big5, shift_jis or latin1.`,
    )
  }
}

async function readImage(
  file: FileHandle,
  size: number,
  { shown, mediaType }: { readonly shown: string; readonly mediaType: string },
): Promise<ToolResult> {
  if (size > IMAGE_BYTES_MAX)
    throw new Refusal('too-large', `"${shown}" is an image of ${size} bytes; at most ${IMAGE_BYTES_MAX} can be shown.`)
  const bytes = Buffer.alloc(size)
  const { bytesRead } = await file.read(bytes, 0, size, 0)
  return [
    textPart(`${shown}: ${mediaType}, ${bytesRead} bytes`),
    { type: 'image', mediaType, data: bytes.subarray(0, bytesRead).toString('base64') },
  ]
}

/** Picks lines out of a text that streams by, and holds no more than it shows. */
class LineWindow {
  readonly #from: number
  readonly #until: number
  readonly #numbered: boolean
  /** The line that is being read, counted from 1. */
  #line = 1
  #lineIsNew = true
  #lineWasCut = false
  #lines = 0
  #bytes = 0
  #text = ''
  /** Nothing more is to be read: the window is full and another line follows. */
  full = false

  constructor({ start_line = 1, line_count = Infinity, numbered = false }: ReadArgs) {
    this.#from = start_line
    this.#until = start_line + Math.min(line_count, WINDOW_LINES)
    this.#numbered = numbered
  }

  push(text: string): void {
    for (let from = 0; from < text.length && !this.full;) {
      const end = text.indexOf('\n', from)
      const to = end === -1 ? text.length : end + 1
      this.#take(text.slice(from, to))
      if (end !== -1 && !this.full) {
        this.#line += 1
        this.#lineIsNew = true
        this.#lineWasCut = false
      }
      from = to
    }
  }

  #take(piece: string): void {
    const isNew = this.#lineIsNew
    this.#lineIsNew = false
    if (this.#line < this.#from || this.#lineWasCut) return
    const text = isNew && this.#numbered ? `${this.#line}\t${piece}` : piece
    const room = WINDOW_BYTES - this.#bytes
    const size = sizeOf(text).bytes
    this.full = this.#line >= this.#until || (isNew && size > room && this.#lines > 0)
    if (this.full) return
    if (isNew) this.#lines += 1
    if (size <= room) this.#append(text, size)
    else this.#cutLine(text, room)
  }

  /** A line longer than the window: its start is shown, and where it goes on is left to other tools. */
  #cutLine(text: string, room: number): void {
    let end = Math.min(text.length, room)
    while (end > 0 && sizeOf(text.slice(0, end)).bytes > room) end = Math.floor(end * 0.9)
    const shown = text.slice(0, borderAt(text, end))
    this.#append(`${shown}\n[... line ${this.#line} goes on; search in it with grep ...]\n`, room)
    this.#lineWasCut = true
  }

  #append(text: string, bytes: number): void {
    this.#text += text
    this.#bytes += bytes
  }

  result(shown: string, size: number): ToolResult {
    const last = this.#from + this.#lines - 1
    const damaged = this.#text.includes('\ufffd') ? 'bytes that are no text in this encoding are shown as \ufffd' : ''
    if (this.#lines === 0 && this.#from > 1)
      throw new Refusal('no-such-line', `"${shown}" has ${this.#lastLine()} lines; line ${this.#from} is not there.`)
    const more = this.full ? `lines ${this.#from} to ${last} are shown; go on with start_line ${last + 1}` : ''
    const notes = [more, damaged].filter((note) => note !== '')
    const content = this.#lines === 0 ? '(the file is empty)' : wellFormed(this.#text)
    return {
      content,
      data: { path: shown, bytes: size, from: this.#from, to: last, more: this.full },
      ...(notes.length > 0 && { footer: `[${notes.join('; ')}]` }),
    }
  }

  /** How many lines there were; the position after a last line break is no line. */
  #lastLine(): number {
    return this.#lineIsNew ? this.#line - 1 : this.#line
  }
}
