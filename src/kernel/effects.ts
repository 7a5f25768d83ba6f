/**
 * What a loop may look at, and the closed set of things it may ask for. `next` is pure and synchronous: it owns choice;
 * legality is the fold's, and doing is the runner's.
 */
import type { ResourceUse } from './events.ts'
import type { CallId } from './ids.ts'
import type { Lane } from './input.ts'
import type { TurnOutcome } from './outcome.ts'
import type { State } from './state.ts'

/** All that a loop may look at. It is a picture of this moment: do not keep it. */
export interface View {
  readonly state: Readonly<State>
  readonly inbox: InboxView
  /** What this runner has in flight: the model call (`infer`), a compaction, or calls by id. */
  readonly live: { has(what: 'infer' | 'compact' | CallId): boolean }
  /** Calls that were validated and let through by policy here; asked again after a crash. */
  readonly judged: { has(call: CallId): boolean }
  /** The gate was passed here for the coming model call; asked again after a crash and before every attempt (T10). */
  readonly gated: boolean
  /** The model call in flight has shown output. */
  readonly shown: boolean
  /** The fence of this runner's lease. */
  readonly fence: number
  /** Resources that stragglers of this runner hold while they live (C6). */
  readonly held: readonly (readonly ResourceUse[])[]
  /** Milliseconds since the epoch. Time enters here and by `until`, nowhere else. */
  readonly now: number
  /** What the log already owed when this runner took over: its tail then, and for how long nobody had written. */
  readonly owed: { readonly seq: number; readonly downMs: number }
  readonly settings: LoopSettings
}

/** How many inputs are pending and due, by lane. */
export interface InboxView {
  readonly control: number
  readonly steer: number
  readonly note: number
  readonly followup: number
  /** Steers that ask to be heard now (I12). */
  readonly steerNow: number
  /** The highest log tail at which a pending steer or followup arrived (I9); -1 if there is none. */
  readonly newestTail: number
}

/** Numbers a loop needs; the agent may set them. */
export interface LoopSettings {
  /** Attempts of one model call, the first included. */
  readonly attemptsMax: number
  /** C4: a call that never started is not run any more after the session was down for so long. */
  readonly staleAfterMs: number
  /** Starts of a repeatable call across crashes, the first included. At the bound it is `unknown`. */
  readonly startsMax: number
  /** Steps in a row cut at the output limit with calls in them; at the bound the turn ends `max-tokens`. */
  readonly cutsMax: number
  /** Calls that run at once (C6). */
  readonly poolSize: number
  /** After `completed` the next followup starts; after another end the queue is held unless this is `continue` (I11). */
  readonly afterFailure: 'hold' | 'continue'
}

/** What a loop may ask for: one thing at a time. What is illegal now is refused by the fold, with the number of its rule. */
export type Effect =
  /** Take the control inputs, at any point (I13). */
  | { readonly kind: 'absorb' }
  | { readonly kind: 'begin'; readonly trigger: 'input' | 'go-on' }
  /**
   * The gate: take what is pending, ask the hooks, open the step unless it is open (I3, T11). `first` also takes a followup;
   * `needsInput`: no step is opened unless something entered.
   */
  | {
      readonly kind: 'claim'
      readonly first: boolean
      readonly purpose: 'step' | 'limit'
      readonly needsInput: boolean
    }
  | { readonly kind: 'infer' }
  /** Close a model call: it is orphaned, aborted, or gives way to a steer. */
  | { readonly kind: 'settle-request'; readonly reason: 'crashed' | 'aborted' | 'superseded' }
  /** Validate, guard and ask policy for these calls. */
  | { readonly kind: 'judge'; readonly calls: readonly CallId[] }
  | { readonly kind: 'execute'; readonly calls: readonly CallId[] }
  /** Close these calls without running them (again). */
  | { readonly kind: 'settle'; readonly calls: readonly CallId[]; readonly as: SettleReason }
  | { readonly kind: 'switch'; readonly to: string; readonly by: CallId }
  | { readonly kind: 'end-step' }
  | { readonly kind: 'compact'; readonly upTo: number }
  /** Ask at the step limit (T4). */
  | { readonly kind: 'ask-limit' }
  /** The turn is about to end well: ask the hooks, and end it if none vetoes and no steer is pending (T5, I5). */
  | { readonly kind: 'stopping'; readonly outcome: TurnOutcome }
  | { readonly kind: 'end-turn'; readonly outcome: TurnOutcome }
  /** For loops whose steps are code. */
  | { readonly kind: 'call'; readonly name: string; readonly args: unknown; readonly parent?: CallId }
  | { readonly kind: 'spawn'; readonly call: CallId; readonly agent: string; readonly mode: 'delegate' | 'background' }
  | { readonly kind: 'sleep'; readonly until: number; readonly name: string }
  | { readonly kind: 'note'; readonly key: string; readonly value: unknown }
  /** Something is live here: keep the lease. */
  | { readonly kind: 'wait'; readonly until?: number }
  /** Release the lease; an input in one of these lanes, or the time, makes the session due. */
  | {
      readonly kind: 'rest'
      readonly mode: 'idle' | 'held' | 'waiting'
      readonly wake: readonly Lane[]
      readonly until?: number
      readonly since?: number
    }

export type SettleReason =
  | 'recover'
  | 'stale'
  | 'aborted'
  | 'output-limit'
  | 'unknown-stop'
  | 'refused'
  | 'step-limit'
  | 'expired'
  | 'denied'
  | 'not-taken'
  | 'turn-ended'

/** Contract: pure, synchronous, the same answer for the same view; called again after whatever it asked for was done. */
export interface Loop {
  readonly name: string
  next(view: View): Effect
}
