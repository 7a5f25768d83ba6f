/** Where things are kept: one folder, shown by `turnstep paths`. */
import { mkdirSync, writeFileSync, existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { TurnstepError } from '../kernel/errors.ts'
import { messageOf } from '../util/text.ts'
import { env } from './node.ts'

export interface Paths {
  /** `TURNSTEP_HOME`, or `.turnstep` in the working folder. */
  readonly home: string
  /** The SQLite file with all sessions. */
  readonly sessions: string
}

export function pathsOf(folder: string = process.cwd()): Paths {
  const home = resolve(env('TURNSTEP_HOME') ?? join(folder, '.turnstep'))
  return { home, sessions: join(home, 'sessions.db') }
}

/** Makes the folder, and keeps what is in it out of git. Throws `store-unwritable` naming the folder. */
export function ensureHome({ home }: Pick<Paths, 'home'>): void {
  writing(home, 'make it writable, or set TURNSTEP_HOME to another folder', () => {
    makeFolder(home)
    const ignore = join(home, '.gitignore')
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n')
  })
}

/** Makes the folder that a store's file is to be in. Throws `store-unwritable` naming the folder. */
export function ensureFolder(folder: string): void {
  writing(folder, 'make it writable, or give another path', () => makeFolder(folder))
}

function writing(folder: string, advice: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    throw new TurnstepError('store-unwritable', `cannot write to "${folder}" (${messageOf(cause)}); ${advice}`, {
      cause,
    })
  }
}

/**
 * Makes a folder and those above it, one by one from the lowest that is there. Throws what the file system says. Node's own recursive
 * making tries for ever where a file system such as /proc says of each try that there is no such folder.
 */
function makeFolder(path: string): void {
  if (isFolder(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Who we are, for people who are told that a session is busy. */
export function ownerName(): string {
  return `process ${process.pid} on ${hostname()}`
}
