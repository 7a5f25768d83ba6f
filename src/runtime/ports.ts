/**
 * What the runtime needs from outside, and all it needs. Each port has a conformance suite.
 * No transaction, row, handle or job id leaks through these.
 */
import type { Event, ToolSpec } from '../kernel/events.ts'
import type { Failure, Usage } from '../kernel/failure.ts'
import type { InputId, SessionId } from '../kernel/ids.ts'
import type { Lane, MessageLane, NewInput, PendingInput, ReceiptState } from '../kernel/input.ts'
import type { Messages, Part, Route } from '../kernel/message.ts'
import type { Snapshot } from '../kernel/state.ts'
import type { Maybe } from '../util/maybe.ts'
import type { Json } from '../util/json.ts'

/** The only source of time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `run` once after `ms`; the answer takes it back. An `unref` timer does not keep the process alive. */
  after(ms: number, run: () => void, options?: { readonly unref?: boolean }): () => void
}

/** Fresh ids, and the hash by which content is named. */
export interface Ids {
  /** A fresh id, sortable by time. */
  next(): string
  /** SHA-256 of the UTF-8 text, lower-case hex. */
  sha256(text: string): string
}

/** The only source of randomness, for jitter. */
export interface Random {
  /** In [0, 1). */
  next(): number
}

/** One transaction: everything or nothing (L1, I2). */
export interface Append {
  readonly session: SessionId
  readonly fence: number
  /** The tail that the writer believes in; events continue it densely. */
  readonly tail: number
  readonly events: readonly Event[]
  /** Inputs that these events settle. Each must still be pending in the named version. */
  readonly consume: readonly Consumption[]
  /** Refused, with nothing changed, if after the consumption one of these lanes still has an input that is due. */
  readonly unlessPending?: readonly Lane[]
}

/** An input that an append settles: which version was read, and what became of it (I2). */
export interface Consumption {
  readonly id: InputId
  readonly version: number
  readonly as: ReceiptState
}

/** The answer to `append`. Any other than `appended` changed nothing (L1). */
export type Appended =
  | { readonly kind: 'appended'; readonly tail: number }
  /** The tail was another one. */
  | { readonly kind: 'conflict'; readonly tail: number }
  /** The fence is not that of the lease any more: this writer is dead (W1). */
  | { readonly kind: 'fenced' }
  | { readonly kind: 'pending'; readonly lanes: readonly Lane[] }
  /** These inputs were withdrawn, edited or settled meanwhile. */
  | { readonly kind: 'gone'; readonly inputs: readonly InputId[] }

/** The answer to `read`. */
export interface ReadResult {
  readonly events: readonly Event[]
  /** Seq of the last valid event of the session. */
  readonly tail: number
  /** The log cannot be read beyond `tail` (L5). Reading reports it and writes nothing (L4). */
  readonly damage: Damage | null
}

/** Where a log can no longer be read, and why (L5). */
export interface Damage {
  /** Seq of the first event that is lost. */
  readonly from: number
  readonly reason: string
}

/** What mending found: the damaged part is in quarantine, inputs consumed beyond it are pending again (L5). */
export interface Repair extends Damage {
  readonly quarantined: number
  readonly reopened: readonly InputId[]
}

/** The answer to `acquire`: the lease, or who holds it and since when (milliseconds since the epoch). */
export type Acquired =
  | {
      readonly kind: 'acquired'
      readonly fence: number
      readonly tail: number
      /** Tells the session from one of the same name that was removed: as in `QueueMark`. */
      readonly life: number
      readonly expiresAt: number | null
      readonly repaired: Repair | null
    }
  | { readonly kind: 'busy'; readonly owner: string; readonly since: number }
  | { readonly kind: 'missing' }

/** The answer to `release`. */
export type Released =
  | { readonly kind: 'released' }
  /** Something in the named lanes is due already: the lease is kept, go on (W3). */
  | { readonly kind: 'due' }
  | { readonly kind: 'lost' }

/** The answer to `put`. */
export type Posted =
  | { readonly kind: 'queued' }
  /** The id was posted before; nothing changed (I1). */
  | { readonly kind: 'duplicate'; readonly state: ReceiptState }
  | { readonly kind: 'missing' }

/** The answer to `edit`, `withdraw` and `move`. */
export type Changed =
  | { readonly kind: 'changed' }
  | { readonly kind: 'settled'; readonly state: ReceiptState }
  | { readonly kind: 'missing' }

/** How far the history of a session's queue is known to a reader. Made by the store, and understood by it alone. */
export interface QueueMark {
  /** Tells the session from one of the same name that was removed. */
  readonly life: number
  readonly revision: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** What became of a session's queue since a mark: done to what was pending then, it gives what is pending now. */
export interface QueueChanges {
  /** Everything that is pending now: what was known before is void. Answers a mark that is null, or of another life of the session. */
  readonly whole: boolean
  /** What came, came due, was edited or was moved, as it is now, in order of arrival. It may name what did not change. */
  readonly pending: readonly PendingInput[]
  /** What is settled. It may name inputs that the reader never knew. */
  readonly gone: readonly InputId[]
  /** Ask with this next time. */
  readonly mark: QueueMark
}

/** A session in the list of all. Times are milliseconds since the epoch. */
export interface SessionRow {
  readonly session: SessionId
  readonly createdAt: number
  readonly updatedAt: number
  readonly tail: number
  readonly pending: number
  /** Who drives it now. */
  readonly lease: null | { readonly owner: string; readonly since: number }
  /** How its driver left it: resting, or not at all. */
  readonly resting: boolean
}

/** The running reply of a session: one row, overwritten. */
export interface PartialReply {
  readonly turn: number
  readonly step: number
  readonly attempt: number
  readonly text: string
}

/**
 * Where sessions are kept: their logs, inboxes and leases. Every verb is one transaction; none is retried by the runtime without
 * looking again. A store that answers at once also fails at once: it throws, where others reject.
 */
export interface Store {
  readonly name: string
  /** Milliseconds since the epoch: the only time that leases, expiry and `notBefore` know. */
  now(): number
  /** Idempotent. */
  create(session: SessionId): Promise<'created' | 'exists'>
  append(append: Append): Maybe<Appended>
  /** Events with `seq > after`, at most `limit`. A missing session has tail 0 and no events. */
  read(session: SessionId, options?: { readonly after?: number; readonly limit?: number }): Maybe<ReadResult>
  /** Verifies every stored commit of the session from the first on: bytes, chain and head (L7). Null: all is well. */
  verify(session: SessionId): Promise<Damage | null>

  /** Durable when it resolves (I1); makes the session due in the same commit. */
  put(session: SessionId, input: NewInput, options?: { readonly notBefore?: number }): Promise<Posted>
  /** The pending inputs that are due, in order of arrival; `all` also those that wait for their time. */
  pending(session: SessionId, options?: { readonly all?: boolean }): Promise<readonly PendingInput[]>
  /**
   * The same list as `pending`, as what changed in it since the mark of an earlier answer. Costs what the change is worth, not what
   * is pending. A missing session has nothing pending.
   */
  pendingSince(session: SessionId, since: QueueMark | null): Promise<QueueChanges>
  /** Null: no such input. */
  receipt(session: SessionId, input: InputId): Promise<ReceiptState | null>
  edit(
    session: SessionId,
    input: InputId,
    change: { readonly content?: readonly Part[]; readonly lane?: MessageLane },
  ): Promise<Changed>
  withdraw(session: SessionId, input: InputId): Promise<Changed>
  /** Puts it directly before `before`, or at the end of the queue. */
  move(session: SessionId, input: InputId, before: InputId | null): Promise<Changed>

  /** Takes the lease: a fence higher than any before. Mends a damaged log first (L5). */
  acquire(session: SessionId, options: { readonly owner: string; readonly ttlMs: number }): Promise<Acquired>
  renew(
    session: SessionId,
    fence: number,
  ): Promise<{ readonly kind: 'renewed'; readonly expiresAt: number | null } | { readonly kind: 'lost' }>
  /**
   * Gives the lease back; inputs in the `wake` lanes and the time `until` make the session due. `since`: inputs of other lanes than
   * `control` count only if the log's tail at their arrival was at least this, so that a held queue does not wake itself (I9).
   */
  release(
    session: SessionId,
    fence: number,
    options: { readonly wake: readonly Lane[]; readonly until?: number; readonly since?: number },
  ): Promise<Released>
  /** Of these sessions (of all, if absent), the ones that nobody drives and that are due: input in a wake lane, a time that has come, or a driver that died (W3). */
  due(sessions?: readonly SessionId[]): Promise<readonly SessionId[]>

  writePartial(session: SessionId, fence: number, partial: PartialReply): Promise<void>
  readPartial(session: SessionId): Promise<PartialReply | null>
  /** `false`: the log is as quick to read as a snapshot, and a runner writes none. Default: it does, every now and then (L3). */
  readonly wantsSnapshots?: boolean
  writeSnapshot(session: SessionId, fence: number, seq: number, snapshot: Snapshot): Promise<void>
  /** The newest one that is not beyond the valid log. */
  readSnapshot(session: SessionId): Promise<{ readonly seq: number; readonly snapshot: Snapshot } | null>

  list(): Promise<readonly SessionRow[]>
  /** Refused (`busy`) while somebody drives it. */
  remove(session: SessionId): Promise<'removed' | 'missing' | 'busy'>
  /**
   * Calls back after something changed, in this process at once, from another process within 250 ms (L4). A hint: it may come
   * doubled or for nothing. Never keeps the process alive. `log`: an append, which its writer knows all about; `inbox`: an input
   * came or was changed, the lease was let go, or it cannot be told.
   */
  watch(session: SessionId, onChange: (what: 'log' | 'inbox') => void): () => void
  close(): Promise<void>
}

/** All that a model is given for one call. It can be rebuilt from the log alone (L2). */
export interface ModelRequest {
  readonly session: SessionId
  readonly epoch: number
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly messages: Messages
  /** `none`: tools are listed and must not be called. */
  readonly toolChoice: 'auto' | 'none'
  /** Provider options, as `transformRequest` left them; logged with the request. */
  readonly options?: Json
}

/** A piece of a reply as it streams: for display, except for the terminal, which carries the whole reply. */
export type ModelChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A call is taking shape; for display only. `index` counts the calls of this reply from 0. */
  | { readonly type: 'call'; readonly index: number; readonly name?: string; readonly args?: string }
  | ModelEnd

/** The one terminal of a stream. Nothing comes after it. */
export type ModelEnd =
  | {
      readonly type: 'end'
      readonly kind: 'done' | 'calls' | 'max-tokens' | 'context-limit' | 'pause' | 'refused' | 'unknown-stop'
      readonly reply: ModelReply
    }
  | {
      readonly type: 'end'
      readonly kind: 'error' | 'aborted'
      readonly failure: Failure
      readonly usage: Usage | null
    }

/** A finished reply, as the model produced it. */
export interface ModelReply {
  /** In the order in which the model produced them; calls by index. */
  readonly parts: readonly (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'reasoning'; readonly text: string }
    | { readonly type: 'call'; readonly index: number }
  )[]
  readonly calls: readonly {
    readonly providerId: string
    readonly name: string
    /** The very bytes. */ readonly args: string
  }[]
  /** What the provider said, verbatim, to be given back to it. */
  readonly replay: string | null
  /** Null: the provider said nothing; the runtime estimates. */
  readonly usage: Usage | null
  /** The provider's own word for the end. */
  readonly rawFinish: string
}

/**
 * A model of one provider, reached over one wire. It makes one request at a time for each call of `stream`; retries are the
 * runtime's.
 */
export interface Model {
  readonly route: Route
  /** What the replay state is bound to (X7). */
  readonly binding: 'none' | 'prefix'
  /** Null: unknown. */
  readonly contextTokens: number | null
  /**
   * One request, no retries. Contract: yields chunks, then exactly one terminal; never throws; ends soon after the signal
   * aborts, with `aborted` decided by that signal alone; watches its own idle time between chunks.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>
}
