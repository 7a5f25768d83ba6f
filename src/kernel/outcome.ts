/** How calls and turns end: values, unions on `kind`, never thrown (CONTRACT, words). */
import type { Json } from '../util/json.ts'
import type { Failure } from './failure.ts'

/** What became of a call. Every call gets exactly one (C2). */
export type CallOutcome =
  | { readonly kind: 'ok'; readonly data?: Json }
  /** The body ran and failed, or obeyed the abort (`code: 'aborted'`). */
  | { readonly kind: 'error'; readonly code: string; readonly message: string; readonly retryable?: boolean }
  | { readonly kind: 'denied'; readonly by: 'policy' | 'user' | 'expired' | 'plugin'; readonly reason: string }
  /** The body did not end in time. For a non-read the effect may have happened. */
  | { readonly kind: 'timeout'; readonly afterMs: number }
  | { readonly kind: 'not-started'; readonly reason: NotStartedReason }
  /** It was started and its end was never recorded. */
  | { readonly kind: 'unknown'; readonly reason: 'crashed' | 'aborted' }
  /** The arguments could not be used, or no such tool is offered (C8, C9). */
  | { readonly kind: 'invalid'; readonly problem: 'json' | 'schema' | 'tool'; readonly message: string }
  /** Not run, answered with guidance (T6). `stuck`: the turn ends for it. */
  | {
      readonly kind: 'intercepted'
      readonly by: string
      readonly message: string
      readonly stuck?: boolean
      readonly times?: number
    }

/** Why a call was never started. */
export type NotStartedReason =
  | 'aborted'
  | 'stale'
  | 'output-limit'
  | 'unknown-stop'
  | 'refused'
  | 'step-limit'
  | 'not-taken'
  | 'turn-ended'

/** How a call ended, in a word. */
export type OutcomeKind = CallOutcome['kind']

/** Why a turn ended (T2). Nothing incomplete is ever called `completed` (T3). */
export type TurnOutcome =
  | { readonly kind: 'completed' }
  | { readonly kind: 'max-tokens'; readonly limit: 'output' | 'context' }
  | {
      readonly kind: 'step-limit'
      readonly how: 'error' | 'summary' | 'handback' | 'ask'
      readonly steps: number
      /** What the user is shown where no model wrote a summary. */
      readonly notice?: string
      /** The summary call failed: `how` is then `error`. */
      readonly failure?: Failure
      /** Policy `ask`: the user's answer. `true` starts a new turn. */
      readonly goOn?: boolean
    }
  | { readonly kind: 'budget'; readonly reason: string }
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'stuck'; readonly tool: string; readonly times: number }
  | { readonly kind: 'veto-capped'; readonly vetoes: number }
  | { readonly kind: 'aborted'; readonly reason: string }
  | { readonly kind: 'error'; readonly failure: Failure }

/** Whether the task is done, which is not the same as the model having stopped (T2). */
export type Goal = 'unchecked' | 'met' | 'unmet'
