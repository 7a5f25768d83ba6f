/** Files that hold a log: which argument names one, and how it is read. */
import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { LogFileCheck, type LogReport } from '../../protocol/log-file.ts'
import { messageOf } from '../../util/text.ts'
import { usage, type Cli } from '../cli.ts'

/** The file that is meant; null: the name is that of a session, whose names hold no slash. `-` is stdin. */
export function fileOf(cli: Cli, name: string): string | null {
  const isMeant = name === '-' || /[/\\]/.test(name) || (name.endsWith('.jsonl') && isFile(cli, name))
  return isMeant ? name : null
}

export function isFile({ io }: Cli, name: string): boolean {
  return statSync(resolve(io.cwd, name), { throwIfNoEntry: false })?.isFile() === true
}

/** Reads no further than the first fault. Throws `usage-invalid` if the file cannot be read. */
export async function checkFile({ io, texts }: Cli, file: string): Promise<LogReport> {
  const path = resolve(io.cwd, file)
  const check = new LogFileCheck()
  const bytes: AsyncIterable<Uint8Array> = file === '-' ? io.stdin : createReadStream(path, { highWaterMark: CHUNK })
  try {
    for await (const chunk of bytes) if (!check.push(chunk)) break
  } catch (error) {
    throw usage(unreadable(texts, path, error))
  }
  return check.end()
}

const CHUNK = 1024 * 1024

function unreadable({ verify, importing }: Cli['texts'], path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EISDIR') return verify.folder(path)
  return code === 'ENOENT' ? verify.noFile(path) : importing.unreadable(path, messageOf(error))
}
