/** Where things are kept: one folder, shown by `turnstep paths`. And who we are. Makes nothing. */
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
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

/** Who we are, for people who are told that a session is busy. */
export function ownerName(): string {
  return `process ${process.pid} on ${hostname()}`
}
