/**
 * The port through which tools start programs. The host has the plain implementation; a sandbox has one that wraps the command.
 */
import type { Cut, CutLimits } from '../util/cut.ts'
import type { Clock } from './ports.ts'

/** A program to run, with its bounds. Times are milliseconds. */
export interface ProcessRequest {
  readonly file: string
  readonly args: readonly string[]
  /** An existing folder. */
  readonly cwd: string
  /** Added to the host's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Variables of the host that the program does not get. */
  readonly hideEnv?: (name: string) => boolean
  readonly clock: Clock
  /** Stops the program and all it started. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** From the polite stop to the hard one. Default 2 s. */
  readonly graceMs?: number
  /** What becomes of processes that outlive the program. Default `kill` (C10). */
  readonly survivors?: 'kill' | 'keep'
  /** How much output is kept, head and tail. Default: what a model is shown (C11). */
  readonly limits?: CutLimits
  /** Gets all output as it comes, decoded, a character never torn. Contract: synchronous and quick. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => void
  /** Gets the newest line of output, at most four times a second. */
  readonly onProgress?: (line: string) => void
}

/** How a program ended. */
export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** Killed by somebody else, or by its own fault. */
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  | { readonly kind: 'aborted' }
  /** It never ran. `code` is the system's, such as `ENOENT`. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

/** A process that outlived the program that started it. */
export interface FoundProcess {
  readonly pid: number
  /** Its command line, cut; empty where it cannot be read. */
  readonly command: string
}

/** What is left of a program that ended. */
export interface ProcessResult {
  readonly end: ProcessEnd
  /** Both streams in the order in which they came. */
  readonly output: Cut
  /** Processes that still ran when the program had exited. */
  readonly survivors: readonly FoundProcess[]
  /** Those of its processes that even the hard stop did not end in time. */
  readonly unreaped: readonly FoundProcess[]
}

/**
 * Runs a program with no input, in a process group of its own, and resolves when it is over; never rejects. Contract: when it
 * resolves, nothing that is known as started by the program runs any more, except `unreaped` and what `keep` lets live; no timer,
 * listener or descriptor is left. Known is what shares its group or session, its marked environment or its output, and the children
 * of those that are seen; without a sandbox, a daemon that gives up all of these on purpose is not.
 */
export type RunProcess = (request: ProcessRequest) => Promise<ProcessResult>
