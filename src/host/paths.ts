/** Where things are kept: one folder, shown by `turnstep paths`. */
import { mkdirSync, writeFileSync, existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
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
  try {
    mkdirSync(home, { recursive: true })
    const ignore = join(home, '.gitignore')
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n')
  } catch (cause) {
    throw new TurnstepError('store-unwritable', `cannot write to "${home}" (${messageOf(cause)}); make it writable, or set TURNSTEP_HOME to another folder`, { cause })
  }
}

/** Who we are, for people who are told that a session is busy. */
export function ownerName(): string {
  return `process ${process.pid} on ${hostname()}`
}
