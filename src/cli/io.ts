/** The process as commands see it: they read and write through this, and ask nothing else of the machine. */
import type { Readable, Writable } from 'node:stream'
import type { Clock, Ids } from '../runtime/ports.ts'
import { EXIT } from './exit.ts'

/** Why the process is to end: a signal; `SIGPIPE` stands for a reader that went away. */
export type Stop = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE'

/** The code with which a process that was told to stop leaves: 128 and the number of the signal, as shells have it. */
export const EXITS: Readonly<Record<Stop, number>> = {
  SIGINT: EXIT.aborted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hangup,
  SIGPIPE: EXIT.pipe,
}

export interface Io {
  /** What was typed after the command's name. */
  readonly argv: readonly string[]
  readonly env: (name: string) => string | undefined
  readonly cwd: string
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly clock: Clock
  readonly ids: Ids
  readonly version: string
  readonly nodeVersion: string
  /** Whether this Node runs TypeScript as it is. */
  readonly runsTypeScript: boolean
  /**
   * Calls back for every stop from now on, in place of leaving at once; the answer takes it back. The newest listener alone is
   * told.
   */
  onStop(listener: (stop: Stop) => void): () => void
  /** Leaves at once. */
  exit(code: number): never
}
