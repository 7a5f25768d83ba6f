/** How files are written: whole or not at all. Loaded with the first change. */
import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { lstat, open, rename, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { ToolContext, ToolResult } from '../../runtime/define/tool.ts'
import { sizeOf } from '../../util/cut.ts'
import { quickHash } from '../../util/hash.ts'
import { wellFormed } from '../../util/wellformed.ts'
import { changeable } from '../guard.ts'
import { Refusal } from '../refusal.ts'
import { notAFile } from '../workspace.ts'
import type { Place, Workspace } from '../workspace.ts'

/** What a model says of a file to write. */
export interface WriteArgs {
  readonly path: string
  readonly content: string
}

/** Writes the whole file, and says what was there before. */
export async function writeFile(
  workspace: Workspace,
  { path, content }: WriteArgs,
  { idempotencyKey, signal }: ToolContext,
): Promise<ToolResult> {
  const place = changeable(workspace.resolve(path))
  await replaceFile(workspace, place, content, { key: idempotencyKey, signal })
  return report(place, content)
}

function report({ shown, stats }: Place, content: string): ToolResult {
  const { bytes, lines } = sizeOf(content)
  const what = stats === null ? 'a new file' : `replaced ${stats.size} bytes`
  const damaged = wellFormed(content) === content ? '' : ' Half surrogate pairs were written as \ufffd.'
  return {
    content: `Wrote ${bytes} bytes, ${lines} lines to ${shown} (${what}).${damaged}`,
    data: { path: shown, bytes, lines, created: stats === null },
  }
}

interface ReplaceOptions {
  /** Names the call. */
  readonly key: string
  readonly signal: AbortSignal
  /** The file as it was read: it is left alone if it was changed since then. */
  readonly since?: Stats
}

/**
 * Replaces the text of a file, or makes the file: readers see the old text or the new one, after a crash too. The old file's
 * permissions are kept. Contract: after `signal` has aborted the file is not touched any more.
 */
export async function replaceFile(
  workspace: Workspace,
  place: Place,
  content: string,
  { key, signal, since }: ReplaceOptions,
): Promise<void> {
  if (place.stats !== null && !place.stats.isFile()) throw notAFile(place.shown, place.stats)
  await workspace.inFolder(place, async (folder, name) => {
    // Named by the call, so that what a crash leaves behind is overwritten, not collected.
    const draft = `${folder}/.${name.slice(0, 40)}.${quickHash(key)}.draft`
    await unlink(draft).catch(() => {})
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
    const file = await open(draft, flags, 0o666)
    try {
      await writeDraft(file, content, place.stats)
      if (since !== undefined) await refuseChanged(`${folder}/${name}`, since, place.shown)
      signal.throwIfAborted()
      await rename(draft, `${folder}/${name}`)
    } catch (error) {
      await unlink(draft).catch(() => {})
      throw error
    } finally {
      await file.close()
    }
    await syncFolder(folder)
  })
}

async function refuseChanged(path: string, since: Stats, shown: string): Promise<void> {
  const now = await lstat(path).catch(() => null)
  if (now === null || now.ino !== since.ino || now.size !== since.size || now.mtimeMs !== since.mtimeMs)
    throw new Refusal('changed', `"${shown}" was changed by somebody else meanwhile. Read it again.`)
}

async function writeDraft(file: FileHandle, content: string, old: Stats | null): Promise<void> {
  await file.writeFile(content, 'utf8')
  if (old !== null) {
    await file.chmod(old.mode & 0o7777)
    // Only root may give a file away; anybody else owns it already, or may not.
    await file.chown(old.uid, old.gid).catch(() => {})
  }
  await file.sync()
}

/** The new name is durable when its folder is. Some file systems cannot sync a folder, and need not. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY).catch(() => null)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
