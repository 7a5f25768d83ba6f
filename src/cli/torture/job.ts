/** What the processes of a run are told: a file of JSON for each, beside what they leave. */
import { join } from 'node:path'
import type { Locale } from '../../runtime/wording.ts'

/** What is the same for every run of a torture. Paths are absolute. */
export interface Settings {
  readonly module: string
  readonly script: string | null
  readonly ownModel: boolean
  readonly check: string | null
  /** Empty: those that the module exports, or the built-in one. */
  readonly messages: readonly string[]
  /** The nth enters while the nth body is at work. */
  readonly steers: readonly string[]
  /** The answer to every question for approval. */
  readonly approve: boolean
  /** The result of every deferred call. */
  readonly answer: string
  readonly locale: Locale
  /** How long a process may take. */
  readonly limitMs: number
}

export interface Job extends Settings {
  /** Which process of its run this is, from 1. */
  readonly process: number
  /** Where it is to be hit. */
  readonly hit: { readonly moment: string; readonly insideMs: number } | null
}

/** The session of every run. */
export const SESSION = 'torture'

/** Where the things of a run are. */
export interface RunPaths {
  readonly root: string
  /** The working folder of its processes. */
  readonly work: string
  /** Where a store of the module's own comes to be, unless the module says where. */
  readonly home: string
  /** Their folder for temporary files. */
  readonly temp: string
  readonly store: string
  readonly database: string
  readonly journal: string
  /** Where the nth process finds its job. */
  readonly job: (process: number) => string
  /** What a check is given. */
  readonly run: string
  /** What the processes printed. */
  readonly output: string
}

export function runPaths(root: string): RunPaths {
  const store = join(root, 'store')
  return {
    root,
    work: join(root, 'work'),
    home: join(root, 'work', '.turnstep'),
    temp: join(root, 'tmp'),
    store,
    database: join(store, 'sessions.db'),
    journal: join(root, 'journal.jsonl'),
    job: (process) => join(root, `job-${process}.json`),
    run: join(root, 'run.json'),
    output: join(root, 'output.txt'),
  }
}
