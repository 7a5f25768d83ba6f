/**
 * The border of what tools may touch: one folder, by real paths. Owns the resolving of a path that a model wrote, and the opening
 * of what it resolved to.
 *
 * Invariants:
 * 1. A path is judged by the real path of its deepest existing ancestor plus the rest, links followed one by one, dangling ones
 *    too (case 085). What is inside stays usable through a link; what leads out is refused.
 * 2. What is opened is what was judged: the last component is never followed as a link, and the opened descriptor is looked at
 *    again before use, so a folder that is swapped for a link meanwhile is refused.
 * 3. Changes are made relative to an opened folder where the system can do that (Linux), so nothing is created outside even then.
 * A hard link to a file outside cannot be told from a file, and is one.
 */
import { constants, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { mkdir, open, readdir, readlink, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path'
import type { ResourceUse } from '../kernel/events.ts'
import { guardOf } from './guard.ts'
import type { Guard } from './guard.ts'
import { Refusal, ioCode } from './refusal.ts'

/** A path inside. */
export interface Place {
  /** Absolute, without links. */
  readonly real: string
  /** As it is shown: relative to the root, `.` for the root. */
  readonly shown: string
  /** What is there now; null for nothing. Never a link. */
  readonly stats: Stats | null
  /** Why a change of it is no ordinary one, judged by every name on the way to it; null: it is. */
  readonly guard: Guard | null
}

/** Links followed on the way to one path, as the system bounds them. */
const LINKS_MAX = 40

export class Workspace {
  readonly #given: string

  /** `root` must exist when the first path is resolved. It may be a link itself. */
  constructor(root: string) {
    this.#given = resolve(root)
  }

  /** The real path of the folder. Refuses with `missing`. */
  get root(): string {
    try {
      return realpathSync(this.#given)
    } catch (error) {
      throw new Refusal('missing', `The workspace itself cannot be reached (${ioCode(error)}). Tell the user.`)
    }
  }

  /** Resolves a path of the model: relative to the root, or absolute and inside. Refuses with `outside` and `path-invalid`. */
  resolve(path: string): Place {
    if (path.includes('\0')) throw new Refusal('path-invalid', 'The path has a NUL character in it.')
    const { root } = this
    const wanted = isAbsolute(path) ? resolve(path) : resolve(root, path)
    const { real, stats, passed } = followLinks(wanted, path)
    const inside = root.endsWith(sep) ? root : root + sep
    if (real !== root && !real.startsWith(inside))
      throw new Refusal('outside', `"${path}" leads out of the workspace. Use a path inside it, relative to its root.`)
    const names = passed.filter((place) => place.startsWith(inside)).map((place) => place.slice(inside.length))
    return { real, shown: relative(root, real) || '.', stats, guard: guardOf(names.flatMap((name) => name.split(sep))) }
  }

  /** What a call on this path touches (C6). A path that cannot be resolved touches nothing: its call will be refused. */
  uses(path: string, mode: 'read' | 'write'): readonly ResourceUse[] {
    try {
      return [{ name: `file:${this.resolve(path).real}`, mode }]
    } catch (error) {
      if (error instanceof Refusal) return []
      throw error
    }
  }

  /** Opens a file for reading and gives what is open. Close the handle. Refuses with `missing`, `not-a-file` and `moved`. */
  async openFile({ real, shown }: Place): Promise<{ readonly file: FileHandle; readonly stats: Stats }> {
    // Without O_NONBLOCK the opening of a pipe waits for its writer.
    const file = await open(real, constants.O_RDONLY | NOFOLLOW | (constants.O_NONBLOCK ?? 0)).catch(
      (error: unknown) => {
        throw cannotOpen(error, shown)
      },
    )
    try {
      const stats = await file.stat()
      if (!stats.isFile()) throw notAFile(shown, stats)
      await confirm(file, real, shown)
      return { file, stats }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** The entries of a folder. Refuses with `missing`, `not-a-folder` and `moved`. */
  async list({ real, shown }: Place): Promise<readonly Dirent[]> {
    const handle = await openFolder(real, real, shown)
    try {
      return await readdir(through(handle, real), { withFileTypes: true })
    } finally {
      await handle.close()
    }
  }

  /**
   * Opens the folder that holds the place, making missing ones, and runs `work` with a path to it that no swap can bend.
   * Refuses with `moved` and `not-a-folder`.
   */
  async inFolder<T>(place: Place, work: (folder: string, name: string) => Promise<T>): Promise<T> {
    const folder = dirname(place.real)
    let handle = await openFolder(this.root, this.root, '.')
    try {
      let at = this.root
      for (const name of relative(at, folder).split(sep).filter(Boolean)) {
        const step = join(through(handle, at), name)
        await mkdir(step).catch((error: unknown) => {
          if (ioCode(error) !== 'EEXIST') throw error
        })
        at = join(at, name)
        const next = await openFolder(step, at, relative(this.root, at))
        await handle.close()
        handle = next
      }
      return await work(through(handle, at), basename(place.real))
    } finally {
      await handle.close()
    }
  }
}

const NOFOLLOW = constants.O_NOFOLLOW ?? 0

interface Followed {
  readonly real: string
  readonly stats: Stats | null
  /** All places on the way, links too. */
  readonly passed: readonly string[]
}

/** Walks the path from the top, link by link; from the first missing component on the rest is taken as it is written. */
function followLinks(wanted: string, asked: string): Followed {
  let real: string = parse(wanted).root
  let stats: Stats | null = lstatSync(real)
  const passed: string[] = []
  const rest = componentsOf(wanted)
  for (let links = 0; rest.length > 0;) {
    const next = join(real, rest.shift()!)
    stats = lookAt(next, asked)
    if (stats === null) {
      const missing = join(next, ...rest)
      return { real: missing, stats, passed: [...passed, missing] }
    }
    passed.push(next)
    if (!stats.isSymbolicLink()) real = next
    else if (++links > LINKS_MAX) throw new Refusal('path-invalid', `"${asked}" goes through too many links.`)
    else {
      const target = resolve(dirname(next), readlinkSync(next))
      rest.unshift(...componentsOf(target))
      real = parse(target).root
      stats = lstatSync(real)
    }
  }
  return { real, stats, passed }
}

const componentsOf = (path: string): string[] => path.slice(parse(path).root.length).split(sep).filter(Boolean)

/** Null where there is nothing. */
function lookAt(path: string, asked: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    const code = ioCode(error)
    if (code === 'ENOENT') return null
    if (code === 'ENOTDIR') throw new Refusal('path-invalid', `"${asked}" goes through something that is no folder.`)
    if (code === 'ENAMETOOLONG') throw new Refusal('path-invalid', 'The path is too long.')
    throw error
  }
}

async function openFolder(path: string, real: string, shown: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | NOFOLLOW | (constants.O_DIRECTORY ?? 0)
  const handle = await open(path, flags).catch((error: unknown) => {
    if (ioCode(error) === 'ENOTDIR') throw new Refusal('not-a-folder', `"${shown}" is no folder.`)
    throw cannotOpen(error, shown)
  })
  try {
    await confirm(handle, real, shown)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A path that reaches into the opened folder itself, wherever its name leads by now. */
function through(handle: FileHandle, real: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : real
}

/** Looks where the opened descriptor really is. A file that was replaced meanwhile was the right one when it was opened. */
async function confirm(handle: FileHandle, real: string, shown: string): Promise<void> {
  const at = process.platform === 'linux' ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(real)
  if (at !== real && at !== `${real} (deleted)`)
    throw new Refusal('moved', `"${shown}" was moved while it was opened. Try again.`)
}

function cannotOpen(error: unknown, shown: string): unknown {
  const code = ioCode(error)
  if (code === 'ENOENT') return new Refusal('missing', `There is no "${shown}" in the workspace.`)
  if (code === 'ELOOP' || code === 'EMLINK')
    return new Refusal('moved', `"${shown}" became a link while it was opened. Try again.`)
  if (code === 'ENXIO') return new Refusal('not-a-file', `"${shown}" is a socket or a device, not a file.`)
  return error
}

/** The refusal of what is there but is no file. */
export function notAFile(shown: string, stats: Stats): Refusal {
  const what = stats.isDirectory() ? 'a folder; use list_files' : 'a pipe, a socket or a device'
  return new Refusal('not-a-file', `"${shown}" is ${what}.`)
}
