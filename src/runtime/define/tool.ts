/** What a tool is: declared once, offered to a model, run by the call pool. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CallRecord, EffectClass, GuardMode, ResourceUse } from '../../kernel/events.ts'
import type { CallId, SessionId } from '../../kernel/ids.ts'
import type { Part } from '../../kernel/message.ts'
import type { CallOutcome } from '../../kernel/outcome.ts'
import { isPlainObject, type Json } from '../../util/json.ts'
import type { Clock } from '../ports.ts'

/** Arguments after parsing and validation. */
export type Args = NonNullable<CallRecord['args']>

/** A JSON Schema of an object, or a Standard Schema that can also describe itself as JSON Schema (zod 4, arktype). */
export type InputSchema<Input> = StandardSchemaV1<unknown, Input> | JsonSchema

/** A JSON Schema of an object: of draft 2020-12, unless its `$schema` names an older draft. */
export interface JsonSchema {
  readonly type: 'object'
  readonly [keyword: string]: unknown
}

/** What a body is given beside its arguments. */
export interface ToolContext {
  /** Aborts with the turn, at the timeout, and when this runner loses its lease. */
  readonly signal: AbortSignal
  readonly session: SessionId
  readonly call: CallId
  /** The same for every start of this call, on any machine: hand it to what you change, so that it can tell a repetition. */
  readonly idempotencyKey: string
  /** Rises with every lease: a store that keeps the highest it saw can refuse a stopped machine (W1). */
  readonly fence: number
  readonly clock: Clock
  /** Shows a line to whoever watches. Not logged, not seen by the model. */
  progress(text: string): void
}

/**
 * What a body may return. Text is what the model sees; `data` is kept in the log beside it. Text over the limit of C11 is cut,
 * head and tail; `footer` is appended after the cut and never cut itself (an exit code).
 */
export type ToolResult =
  | string
  | readonly Part[]
  | { readonly content: string | readonly Part[]; readonly data?: Json; readonly footer?: string }
  | Deferred
  | ToolError

/** The result comes later, by `session.answer` (A4). */
export interface Deferred {
  readonly deferred: true
  /** What is being waited for, for people. */
  readonly what: string
  /** Milliseconds after which the call ends as `timeout`. Default: it waits for as long as it takes. */
  readonly expiresInMs?: number
}

/** Tells a deferral from a result, whatever a body returned. */
export function isDeferred(value: unknown): value is Deferred {
  return isPlainObject(value) && value['deferred'] === true
}

/** A failure as a value: the model reads `message`. A body may as well throw. */
export interface ToolError {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly retryable?: boolean
    readonly footer?: string
  }
}

/**
 * Answers a call later: the body ends now, and the call waits for `session.answer`, or until it expires (A4). Never expires by
 * default.
 */
export const defer = (what: string, options: { readonly expiresInMs?: number } = {}): Deferred => ({
  deferred: true,
  what,
  ...options,
})

/** A tool as it is written. `tool()` checks it and fills the defaults. */
export interface ToolDefinition<Input = Args> {
  /** `[a-zA-Z0-9_-]{1,64}`, unique in its agent. */
  readonly name: string
  readonly description: string
  readonly input: InputSchema<Input>
  /** What running it twice means; `write` if omitted (C4). */
  readonly effect?: EffectClass
  /** What it touches (C6). Undeclared: a `read` shares, anything else is alone. */
  readonly resources?: (args: Input) => readonly ResourceUse[]
  /** Enforced, whether the body listens or not (C13). Default two minutes. */
  readonly timeoutMs?: number
  /** Ask a person before each call (A1). A text says why. */
  readonly approval?: boolean | ((args: Input) => boolean | string)
  /** Two calls with equal identity are the same attempt to the loop guard; default: the arguments (T6). */
  readonly identity?: (args: Input) => string
  readonly guard?: GuardMode
  /**
   * Asks the outside world what became of an interrupted `write` (C4).
   * Contract: reads only; null means that it could not be found out, and the call ends `unknown`.
   */
  readonly reconcile?: (
    key: string,
    context: Omit<ToolContext, 'progress'>,
  ) => Promise<ToolResult | null> | ToolResult | null
  /** Contract: called at most once per start; may throw; should end soon after `signal` aborts. */
  readonly run: (args: Input, context: ToolContext) => Promise<ToolResult> | ToolResult
}

/** A tool as the runtime holds it: schema compiled, defaults filled. Made by `tool()`. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly effect: EffectClass
  readonly guard: GuardMode
  readonly timeoutMs: number
  /** JSON Schema for the model. */
  readonly parameters: Json
  /** Checks parsed arguments. The value is what the body gets; the message is for the model. */
  /** Loads what the first check will need, while there is time for it: a model is at work. Never throws, and need not be called. */
  prepare?(): void
  validate(args: Args): Promise<Validated> | Validated
  resources(args: Args): readonly ResourceUse[]
  identity(args: Args): string | null
  /** Null: no approval needed; else the reason, for people. */
  approval(args: Args): string | null
  readonly reconcile: ToolDefinition['reconcile'] | null
  run(args: Args, context: ToolContext): Promise<ToolResult> | ToolResult
}

/** What the check of some arguments found. */
export type Validated = { readonly ok: true; readonly args: Args } | { readonly ok: false; readonly message: string }

/** A finished body: what is logged. */
export interface CallEnd {
  readonly outcome: CallOutcome
  readonly content: readonly Part[]
}
