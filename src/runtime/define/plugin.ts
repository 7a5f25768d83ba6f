/** What a plugin may do: register hooks, tools, prompt sections, folded state and services in a scope that undoes them. */
import type { CallRecord, Event } from '../../kernel/events.ts'
import type { Failure } from '../../kernel/failure.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { MessageInput } from '../../kernel/input.ts'
import type { Part } from '../../kernel/message.ts'
import type { Goal, TurnOutcome } from '../../kernel/outcome.ts'
import type { StateView } from '../../kernel/state.ts'
import type { Json } from '../../util/json.ts'
import type { Live } from '../session.ts'
import type { Args, CallEnd, Tool } from './tool.ts'

/** Passed to every hook. `signal` aborts when control arrives or the hook's time is over; its answer is then not used. */
export interface HookContext {
  readonly session: SessionId
  readonly state: StateView
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
}

type Answer<T> = T | undefined | void | Promise<T | undefined | void>

/**
 * The hooks, by name. `decide…`: may answer or leave it (undefined). `transform…`: gets a value, gives a value. `on…`: only watches.
 * Contract for all: may be asked again (after a crash, or when control came in between); a throw counts as no answer and is
 * reported to watchers, except in `decideCall`, where it denies.
 */
export interface Hooks {
  /** The gate, before every step and every attempt (I8, T11). Rejections of all plugins add up; one refusal refuses the step. */
  decideEnter(
    gate: { readonly inputs: readonly MessageInput[]; readonly attempt: number },
    context: HookContext,
  ): Answer<{ readonly reject?: Readonly<Record<InputId, string>>; readonly refuse?: string }>
  /** Adds to the tail of the context, at a gate; logged as an input of origin plugin. */
  injectContext(gate: { readonly inputs: readonly MessageInput[] }, context: HookContext): Answer<readonly Part[]>
  /** Provider options only; logged with the request. */
  transformRequest(options: Json, context: HookContext): Answer<Json>
  /** Contract: synchronous and quick; called for every delta. */
  onDelta(live: Live, context: { readonly session: SessionId }): void
  /** What to do about a failed attempt. The first answer wins; without one the default policy decides. */
  decideModelError(
    error: { readonly failure: Failure; readonly attempt: number },
    context: HookContext,
  ): Answer<{ readonly retryInMs: number | null }>
  /** Before a call runs. Deny beats ask beats allow; rewritten arguments are validated again (A1). */
  decideCall(
    call: { readonly record: CallRecord; readonly args: Args; readonly tool: Tool },
    context: HookContext,
  ): Answer<CallDecision>
  /** The end of a body, before it is logged. */
  transformResult(end: CallEnd, context: HookContext & { readonly call: CallRecord }): Answer<CallEnd>
  /** The turn is about to end well. A veto keeps it going with a message to the model; it is told how often it vetoed (T5). */
  decideStop(
    stop: { readonly outcome: TurnOutcome; readonly text: string; readonly vetoes: number; readonly vetoesMax: number },
    context: HookContext,
  ): Answer<{ readonly veto?: string; readonly goal?: Goal }>
  /** Every event, after it became durable. */
  onEvent(event: Event, context: { readonly session: SessionId }): void
  /** Whether a session that is due should be driven here now. */
  decideWake(wake: { readonly session: SessionId }): Answer<boolean>
}

/** The name of a hook. */
export type HookName = keyof Hooks

/** What a policy says of a call. Of several, deny beats ask beats allow (A1). */
export type CallDecision =
  | { readonly kind: 'allow'; readonly args?: Args }
  | { readonly kind: 'ask'; readonly reason: string; readonly expiresInMs?: number; readonly args?: Args }
  | { readonly kind: 'deny'; readonly reason: string }

/** Where a hook stands among the others, and how long it may take. */
export interface HookOptions {
  /** Plugin names that this hook must run before or after. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /** Default 30 s. */
  readonly timeoutMs?: number
}

/** A typed key for a service that plugins share. */
export interface Token<T> {
  readonly name: string
  readonly type?: (value: T) => T
}

/** Makes the key of a service. Two tokens of one name are the same key. */
export const token = <T>(name: string): Token<T> => ({ name })

/** What a plugin registers in. All of it is undone, last first, when the plugin is unloaded; a scope sees its parents, not back. */
export interface Scope {
  on<Name extends HookName>(name: Name, hook: Hooks[Name], options?: HookOptions): void
  tool(tool: Tool): void
  /** A section of the system text, stable within an epoch; ordered by `order`, then by name. */
  section(section: { readonly name: string; readonly order?: number; readonly text: string | (() => string) }): void
  /** State of the plugin's own, folded from the log like everything else. */
  fold<S>(fold: { readonly initial: S; apply(state: S, event: Event): S }): { read(session: SessionId): S }
  provide<T>(token: Token<T>, value: T): void
  /** From this scope or its parents. */
  use<T>(token: Token<T>): T
  /**
   * Appends a fact of the plugin's own, as `x.<plugin>.<name>`, with the session's next commit. Wakes nobody: a session at rest gets
   * it with its next run. Not promised until that commit: it is dropped if the session is not open here, or is closed, or its runner
   * stops on a fault first.
   */
  emit(session: SessionId, name: string, data: Json): void
  /** Runs when the scope is unloaded, last registered first. */
  onUnload(run: () => void | Promise<void>): void
}

/**
 * A plugin: `setup` is called once, when it is loaded, and registers all that it does. A throw from it undoes what was registered.
 */
export interface Plugin {
  readonly name: string
  readonly setup: (scope: Scope) => void
}
