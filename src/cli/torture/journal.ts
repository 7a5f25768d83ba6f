/**
 * What a run leaves beside its log: one line of JSON for each thing that happened in its processes, in the order in which it happened.
 * A line is in the file before its writer goes on, and where it bears witness to an effect also on the disk.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { EffectClass } from '../../kernel/events.ts'

/** A tool as the processes of a run have it. */
export interface SeenTool {
  readonly name: string
  readonly effect: EffectClass
}

export type Line =
  /** A process has loaded the agent and is about to open the session. `tail`: what the log had then. */
  | {
      readonly what: 'started'
      readonly agent: string
      readonly tail: number
      readonly model: 'default' | 'script' | 'own'
      /** Its module exports a check. */
      readonly check: boolean
      /** The databases, from the working folder, of the sessions that its module drove as soon as it was loaded. */
      readonly opened: readonly string[]
    }
  | { readonly what: 'tools'; readonly tools: readonly SeenTool[] }
  | { readonly what: 'reached'; readonly moment: string }
  | {
      readonly what: 'begun'
      readonly call: string
      readonly tool: string
      readonly effect: EffectClass
      readonly key: string
      readonly fence: number
      /** The nth body of its call, over all processes. */
      readonly attempt: number
      readonly args: unknown
    }
  | { readonly what: 'ended'; readonly call: string; readonly how: 'returned' | 'threw'; readonly ms: number }
  /** The nth body of this tool in this process gave it a chance to do other things: there is an inside to hit. */
  | { readonly what: 'inside'; readonly tool: string; readonly nth: number; readonly ms: number }
  | { readonly what: 'reconciled'; readonly call: string; readonly key: string; readonly known: boolean }
  /** An input is durable. */
  | { readonly what: 'posted'; readonly input: string; readonly lane: string }
  /** Here this process was hit. */
  | { readonly what: 'hit'; readonly moment: string }
  | { readonly what: 'fault'; readonly problem: string }
  /**
   * The session rests and the process has closed everything. `bodies`: calls that were at work nevertheless; `handles`: what keeps the
   * process alive, after a while.
   */
  | {
      readonly what: 'rested'
      readonly status: string
      readonly bodies: readonly string[]
      readonly handles: readonly { readonly handle: string; readonly count: number }[]
    }
  | { readonly what: 'failed'; readonly code: string | null; readonly problem: string }
  | { readonly what: 'checked'; readonly complaints: readonly string[] }

/** A line, and which process of the run wrote it, from 1. */
export type Entry = Line & { readonly process: number }

type Safe = 'begun' | 'ended' | 'posted' | 'hit'
const ON_DISK: ReadonlySet<Line['what']> = new Set<Safe>(['begun', 'ended', 'posted', 'hit'])

/** The journal of a run, as one of its processes writes it. */
export class Journal {
  readonly #file: number
  readonly #process: number

  constructor(path: string, process: number) {
    this.#file = openSync(path, 'a')
    this.#process = process
  }

  write(line: Line): void {
    // One write, so that lines of a process that still ends cannot mingle with those of the next one.
    writeSync(this.#file, `${JSON.stringify({ process: this.#process, ...line })}\n`)
    if (ON_DISK.has(line.what)) fsyncSync(this.#file)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** All lines that are whole. */
export function readJournal(path: string): readonly Entry[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry)
}

type EntryOf<What extends Line['what']> = Extract<Line, { what: What }> & { readonly process: number }

/** The lines of one kind. */
export function entriesOf<What extends Line['what']>(entries: readonly Entry[], what: What): readonly EntryOf<What>[] {
  return entries.filter((entry): entry is EntryOf<What> => entry.what === what)
}
