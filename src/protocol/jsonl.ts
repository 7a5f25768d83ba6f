/**
 * The lines of `--json`: one JSON object per line, each with the version of this format. Within a version lines and fields are only
 * added; a reader skips what it does not know. `docs/reference/cli.md` lists the same types.
 */
import type { Event } from '../kernel/events.ts'
import type { Usage } from '../kernel/failure.ts'
import type { PendingInput, ReceiptState } from '../kernel/input.ts'
import type { Goal, TurnOutcome } from '../kernel/outcome.ts'
import type { Json } from '../util/json.ts'
import type { TortureReport } from './torture.ts'

export const JSONL_VERSION = 1

/** Who drives a session. */
export interface JsonlDriver {
  readonly owner: string
  /** Milliseconds since the epoch. */
  readonly since: number
}

/** A question that waits for a person. */
export interface JsonlAsk {
  readonly call: string
  readonly kind: 'approval' | 'deferred' | 'step-limit'
  readonly tool: string
  readonly args: unknown
  readonly reason: string
  readonly argsHash: string | null
  readonly expiresAt: number | null
}

export interface JsonlSessionRow {
  readonly session: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Events in its log. */
  readonly tail: number
  /** Inputs in its queue. */
  readonly pending: number
  /** Questions that wait for a person; null: its log cannot be read. */
  readonly asks: number | null
  readonly driver: JsonlDriver | null
  /** Its driver let go of it in order; false while it is driven, or after its driver died. */
  readonly resting: boolean
}

/** A line, without its version. */
export type JsonlBody =
  /** The first line of every command about one session. */
  | { readonly type: 'session'; readonly session: string; readonly model?: string }
  /** A fact, as it stands in the log. */
  | { readonly type: 'event'; readonly event: Event }
  /** Live and lossy: a piece of the reply that is being made; `reset`: what this attempt has shown is void. */
  | {
      readonly type: 'text' | 'reasoning'
      readonly turn: number
      readonly step: number
      readonly attempt: number
      readonly text: string
    }
  | { readonly type: 'reset'; readonly turn: number; readonly step: number; readonly attempt: number }
  | { readonly type: 'progress'; readonly call: string; readonly text: string }
  /** For people; `code` is stable. */
  | { readonly type: 'notice'; readonly code: string; readonly message: string }
  /** What was posted. `driver`: who will see it; null: nobody drives the session now. */
  | {
      readonly type: 'receipt'
      readonly input: string
      readonly state: ReceiptState
      readonly driver: JsonlDriver | null
    }
  | ({ readonly type: 'ask' } & JsonlAsk)
  | { readonly type: 'queued'; readonly n: number; readonly input: PendingInput }
  | ({ readonly type: 'row' } & JsonlSessionRow)
  | {
      readonly type: 'status'
      readonly session: string
      readonly status: 'idle' | 'held' | 'running' | 'waiting'
      readonly usage: Usage
    }
  | {
      readonly type: 'verified'
      /** Absent where a file does not say whose log it is. */
      readonly session?: string
      /** The file that was checked, as it was named. */
      readonly file?: string
      readonly ok: boolean
      /** How many events are sound: all of them, or those before the first fault. */
      readonly events: number
      /** How many of them are of a type that is not known here. */
      readonly skipped?: number
      /** Of the file, from 1. */
      readonly line?: number
      /** The first event that is lost, or that breaks a rule. */
      readonly seq?: number
      /** Its type, where it says one. */
      readonly event?: string
      /** What kind of fault it is; stable. */
      readonly code?: string
      readonly rule?: string
      readonly problem?: string
      /** What should be there, and what to do: for people. */
      readonly wanted?: string
      readonly next?: string
    }
  | {
      readonly type: 'check'
      readonly name: string
      readonly state: 'ok' | 'note' | 'failed'
      readonly detail: string
    }
  | { readonly type: 'path'; readonly name: string; readonly path: string }
  | ({ readonly type: 'torture' } & TortureReport)
  /** The last line of a command that worked on a turn. */
  | {
      readonly type: 'result'
      readonly session: string
      readonly status: 'idle' | 'held' | 'running' | 'waiting'
      /** How the last turn that was watched ended; null: none ended. */
      readonly outcome: (TurnOutcome & { readonly goal: Goal }) | null
      readonly text: string
      readonly usage: Usage
      readonly exit: number
    }
  /** The last line of a command that could not do what it was asked. */
  | {
      readonly type: 'error'
      readonly code: string
      readonly class: string
      readonly message: string
      readonly data: Json
      readonly exit: number
    }

export type JsonlLine = { readonly v: typeof JSONL_VERSION } & JsonlBody

/** The first line of an exported session; the events of its log follow, one per line, in order. */
export interface LogHeader {
  readonly type: 'turnstep.log'
  /** Major version of the events (`FORMAT`). */
  readonly format: number
  readonly session: string
  /** How many events follow. */
  readonly events: number
  /** Milliseconds since the epoch. */
  readonly exportedAt: number
}
