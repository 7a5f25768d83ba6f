/// <reference lib="esnext.disposable" preserve="true" />
/** The public face of a session: the verbs, and what they return. */
import type { Event, Purpose } from '../kernel/events.ts'
import type { Usage } from '../kernel/failure.ts'
import type { CallId, InputId, SessionId } from '../kernel/ids.ts'
import type { MessageLane, PendingInput, PendingPolicy, ReceiptState } from '../kernel/input.ts'
import type { Message, Part } from '../kernel/message.ts'
import type { Goal, TurnOutcome } from '../kernel/outcome.ts'
import type { Json } from '../util/json.ts'

/** What a person may write where parts are meant. */
export type Content = string | readonly Part[]

/** How any input is posted. */
export interface PostOptions {
  /** Idempotency key: the same id twice is one input (I1). */
  readonly id?: string
  /** Who says so, for the log. */
  readonly from?: string
  /** Not entered after so long (I6). Default: however late. */
  readonly expiresInMs?: number
}

/** How a steer is posted. */
export interface SteerOptions extends PostOptions {
  /** `now` also gives up a model call that has shown nothing yet, so that the steer is in the very next request (I12). Default `gate`. */
  readonly promptness?: 'gate' | 'now'
}

/** How a turn is aborted. */
export interface AbortOptions extends PostOptions {
  /** For the log, and for whoever reads it. */
  readonly reason?: string
  /** What becomes of the inputs that are still pending (I9). Default `keep`. */
  readonly pending?: PendingPolicy
  /** How long running calls may take to end, in milliseconds. Default: what the agent's limits say. */
  readonly graceMs?: number
}

/** How a call is approved. */
export interface ApproveOptions extends PostOptions {
  /** The same question of the same tool need not be asked again in this session (A2). Default: once. */
  readonly always?: boolean
  /** Of the arguments that were seen, as `Ask` gives it: the approval of other arguments is stale (A2). */
  readonly argsHash?: string
}

/** How a call is denied. */
export interface DenyOptions extends PostOptions {
  /** The model reads it. */
  readonly reason?: string
  /** Of the arguments that were seen, as `Ask` gives it. */
  readonly argsHash?: string
}

/** How a deferred call is answered. */
export interface AnswerOptions extends PostOptions {
  /** What was awaited went wrong: the call ends as an error. */
  readonly error?: boolean
}

/** The receipt of an input (I6). */
export interface Receipt {
  readonly id: InputId
  /** As it is now. */
  state(): Promise<ReceiptState>
  /** Resolves once it is entered, rejected, withdrawn or expired. */
  readonly settled: Promise<Exclude<ReceiptState, { kind: 'queued' }>>
}

/** The receipt of an input that opens or joins a turn, and that turn. */
export interface Turn extends Receipt {
  /** The text of the turn's replies as it streams. Live, lossy, ends with the turn. */
  readonly text: AsyncIterable<string>
  /** The turn's events as they become durable, its `turn.ended` last. */
  readonly events: AsyncIterable<Event>
  /** How the turn ended. Rejects with `input-not-entered` if the input was withdrawn or expired, with `session-closed` if the session was closed first. */
  readonly outcome: Promise<TurnOutcome & { readonly goal: Goal }>
}

/** Lossy: what passes by while it happens. Gaps are refilled by the log. */
export type Live =
  | {
      readonly type: 'text'
      readonly turn: number
      readonly step: number
      readonly attempt: number
      readonly text: string
    }
  | {
      readonly type: 'reasoning'
      readonly turn: number
      readonly step: number
      readonly attempt: number
      readonly text: string
    }
  | {
      readonly type: 'call'
      readonly turn: number
      readonly step: number
      readonly attempt: number
      readonly index: number
      readonly name?: string
      readonly args?: string
    }
  /** What this attempt has shown is void: another attempt follows, or none. */
  | { readonly type: 'reset'; readonly turn: number; readonly step: number; readonly attempt: number }
  | { readonly type: 'progress'; readonly call: CallId; readonly text: string }
  /** The runner of this process stopped: `error` says why, if it was not told to. */
  | { readonly type: 'stopped'; readonly error?: Error }

/** What a watcher gets: facts in order and without gaps, and live deltas between them. */
export type Watched = { readonly kind: 'event'; readonly event: Event } | { readonly kind: 'live'; readonly live: Live }

/** What a session is doing (T2). */
export type SessionStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'held'; readonly outcome: TurnOutcome }
  | { readonly kind: 'running'; readonly turn: number; readonly step: number }
  /** Nothing runs until these are answered (T2). */
  | { readonly kind: 'waiting'; readonly turn: number; readonly asks: readonly Ask[] }

/** A question that waits for a person: approve, deny or answer it by `call`. */
export interface Ask {
  readonly call: CallId
  readonly kind: 'approval' | 'deferred' | 'step-limit'
  readonly tool: string
  readonly args: unknown
  readonly reason: string
  readonly argsHash: string | null
  readonly expiresAt: number | null
}

/**
 * The pending inputs, which can be changed until they are claimed (I7). Every change throws `input-missing`, or `input-settled`
 * for an input that entered, was withdrawn or expired.
 */
export interface Queue {
  list(): Promise<readonly PendingInput[]>
  edit(id: string, content: Content): Promise<void>
  /** followup ⇄ steer ⇄ note. */
  convert(id: string, lane: MessageLane): Promise<void>
  withdraw(id: string): Promise<void>
  /** Before `before`, or to the end. */
  move(id: string, options?: { readonly before?: string }): Promise<void>
}

/** All that can be done with a session from outside, by whoever can reach its store: nothing here drives it. */
export interface SessionHandle {
  readonly id: SessionId
  /** A followup: waits for the next turn. */
  send(content: Content, options?: PostOptions): Promise<Turn>
  /** Enters at the next gate of the running turn; starts a turn if there is none (I5). */
  steer(content: Content, options?: SteerOptions): Promise<Turn>
  /** Enters at the next gate, wakes nobody. */
  note(content: Content, options?: PostOptions): Promise<Receipt>
  /** Stops the running turn. Stale, and rejected as such, if there is none. */
  abort(options?: AbortOptions): Promise<Receipt>
  approve(call: string, options?: ApproveOptions): Promise<Receipt>
  deny(call: string, options?: DenyOptions): Promise<Receipt>
  /** The result of a deferred call. */
  answer(call: string, content: Content, options?: AnswerOptions): Promise<Receipt>
  /** Lets a held queue go on. */
  resume(options?: PostOptions): Promise<Receipt>
  readonly queue: Queue
  status(): Promise<SessionStatus>
  /** Events and live deltas; durable events from `after` on, without gaps. Ends when `signal` aborts or the session closes. */
  watch(options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<Watched>
  history(options?: { readonly after?: number; readonly limit?: number }): Promise<readonly Event[]>
  /** What the model saw, or would see now; `step` as `{ turn, step }` names a request of the past. */
  context(at?: { readonly turn: number; readonly step: number }): Promise<RequestContext>
  usage(): Promise<Usage>
  /** Stops driving and watching here; a running turn is parked where it stands and goes on at the next `open`. */
  close(): Promise<void>
}

/** A request as a model saw it, or would see it now. */
export interface RequestContext {
  readonly system: string
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[]
  readonly messages: readonly Message[]
  readonly purpose: Purpose
  readonly toolChoice: 'auto' | 'none'
  readonly epoch: number
  /** Provider options, where plugins set some. */
  readonly options?: Json
}

/** A session that this process drives. */
export interface Session extends SessionHandle {
  /** Resolves when nothing is left to do here: the session is idle, held or waiting. */
  settled(): Promise<SessionStatus>
  [Symbol.asyncDispose](): Promise<void>
}
