/** The inbox's words: what may be posted to a session, and what becomes of it (I1–I13). */
import type { Json } from '../util/json.ts'
import type { CallId, InputId } from './ids.ts'
import type { Origin, Part } from './message.ts'
import type { CallOutcome } from './outcome.ts'

/** `control` is absorbed at any point of a step (I13); the others enter at a gate (I4). `note` wakes nobody. */
export type Lane = 'control' | 'steer' | 'note' | 'followup'

/** The lanes whose inputs the model sees. */
export type MessageLane = Exclude<Lane, 'control'>

/** What stays in the queue when a turn is aborted (I9). */
export type PendingPolicy = 'keep' | 'return' | 'drop'

/** What the control lane carries: decisions and news about calls and turns, no words to the model (I13). */
export type Control =
  | { readonly kind: 'abort'; readonly reason: string; readonly pending: PendingPolicy; readonly graceMs?: number }
  | {
      readonly kind: 'decide'
      readonly call: CallId
      readonly decision: 'allow' | 'deny'
      /** Hash of the arguments that were seen; a decision on other arguments is stale (A2). */
      readonly argsHash?: string
      /** `session`: the same question of the same tool need not be asked again in this session. */
      readonly grant: 'once' | 'session'
      readonly reason?: string
    }
  /** The result of a deferred call (A4). */
  | { readonly kind: 'answer'; readonly call: CallId; readonly outcome: CallOutcome; readonly content: readonly Part[] }
  /** The real end of a call that was closed before it came (C5). */
  | { readonly kind: 'late'; readonly call: CallId; readonly outcome: CallOutcome; readonly content: readonly Part[] }
  /** Lifts the hold on the queue (I9, I11). */
  | { readonly kind: 'resume' }
  | { readonly kind: 'timer'; readonly name: string; readonly data?: Json }

/** An input as it is posted. */
export type NewInput =
  | {
      readonly id: InputId
      readonly lane: MessageLane
      readonly origin: Origin
      readonly content: readonly Part[]
      /** `now`: also gives up a model call that has shown nothing yet (I12). */
      readonly promptness?: 'gate' | 'now'
      /** Milliseconds since the epoch; not entered after it (I6 `expired`). */
      readonly expiresAt?: number
    }
  | { readonly id: InputId; readonly lane: 'control'; readonly origin: Origin; readonly control: Control }

/** An input in the queue. */
export type PendingInput = NewInput & {
  /** Store's clock, milliseconds since the epoch. */
  readonly at: number
  /** The log's tail when it arrived (I9). */
  readonly tail: number
  /** Order of arrival in its session, rising. Moving an input changes it. */
  readonly arrival: number
  /** Rises with every edit; a claim names the version it read, so that an edit between reading and claiming is seen. */
  readonly version: number
}

/** A pending input that the model is to see. */
export type MessageInput = Extract<PendingInput, { lane: MessageLane }>
/** A pending input that only the runtime sees. */
export type ControlInput = Extract<PendingInput, { lane: 'control' }>

/** What became of an input: `queued`, then settled exactly once (I6). Control is `entered` where it was absorbed. */
export type ReceiptState =
  | { readonly kind: 'queued' }
  | { readonly kind: 'entered'; readonly turn: number; readonly step: number }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'expired' }
