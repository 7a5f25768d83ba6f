/**
 * The facts of a session. The log is a list of these and nothing else; all state is folded from it.
 * Names are dotted and past tense. A plugin's own events are named `x.<plugin>.<name>`; unknown types are kept and skipped (L6).
 * Whatever a model is to see is carried here as the very parts it will see (L2), so that a later version of ours, with other
 * wordings, rebuilds the same request.
 */
import type { Json } from '../util/json.ts'
import type { Failure, Usage } from './failure.ts'
import type { CallId, InputId, SessionId } from './ids.ts'
import type { Lane, MessageLane, PendingPolicy } from './input.ts'
import type { Origin, Part, Replay, ReplyPart, Route } from './message.ts'
import type { CallOutcome, Goal, TurnOutcome } from './outcome.ts'

/** Format of the events below. A reader refuses a higher major (L6). */
export const FORMAT = 1

/** Stamped on every event by the one who writes it. */
export interface EventHead {
  /** Dense from 1 (L1). */
  readonly seq: number
  /** Milliseconds since the epoch, by the store's clock. */
  readonly at: number
  /** The lease under which it was written (L4). */
  readonly fence: number
  /** The open turn, 0 outside. */
  readonly turn: number
  /** The open step, or the last one of the open turn; 0 before the first. */
  readonly step: number
}

/**
 * What running a tool twice means: nothing (`read`), the same as once under one key (`idempotent`), or a second effect (`write`)
 * (C4).
 */
export type EffectClass = 'read' | 'idempotent' | 'write'

/** A resource that a call touches (C6). The name `*` conflicts with every other. */
export interface ResourceUse {
  readonly name: string
  readonly mode: 'read' | 'write'
}

/** A tool as a model is offered it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: Json
}

/**
 * What happens at the step limit (T4): the turn ends at once (`error`), after one last call that sums up (`summary`), with a
 * notice (`handback`), or waits for a yes or a no (`ask`).
 */
export type StepLimitPolicy = 'error' | 'summary' | 'handback' | 'ask'

/** Limits that bind the fold, fixed when the turn starts. */
export interface TurnLimits {
  /** Steps per turn (T4). */
  readonly steps: number
  readonly stepPolicy: StepLimitPolicy
  /** Vetoes per turn (T5). */
  readonly vetoes: number
}

/** A call as it is recorded with its reply. Everything the kernel needs to plan and judge it is here, so that the fold never asks a tool. */
export interface CallRecord {
  readonly id: CallId
  readonly name: string
  /** The model's own bytes. May be no JSON at all (C8). */
  readonly rawArgs: string
  /** The arguments that policy sees and the tool gets: `rawArgs` parsed once; absent where that failed. */
  readonly args?: { readonly [key: string]: Json }
  readonly providerId: string
  readonly effect: EffectClass
  readonly resources: readonly ResourceUse[]
  /** Equal for calls that are the same attempt again (T6). */
  readonly fingerprint: string
  /** The tool's own loop-guard mode, where it differs from that of its effect class. */
  readonly guard?: GuardMode
}

/**
 * How the loop guard judges a tool's calls (T6): `strict` counts identical calls, `progress` only those whose results bring
 * nothing new, `off` none.
 */
export type GuardMode = 'strict' | 'progress' | 'off'

/** Why a model is called. */
export type Purpose = 'step' | 'limit' | 'summary' | 'judge' | 'aside'

/** How a reply ended, in our words; `unknown-stop` is a word of the provider that nobody here knows. */
export type Finish = 'done' | 'calls' | 'max-tokens' | 'context-limit' | 'pause' | 'refused' | 'unknown-stop'

/** System text, tools and model of an epoch; the hashes name their content (X1). */
export interface EpochContent {
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly route: Route
  readonly hash: string
}

/** A fact, without its head. One that is written is never changed. */
export type EventBody =
  | {
      readonly type: 'session.created'
      readonly format: number
      readonly agent: string
      readonly locale: string
      readonly parent?: { readonly session: SessionId; readonly call: CallId }
    }
  | { readonly type: 'session.forked'; readonly from: SessionId; readonly upTo: number }
  /** The hold on the queue is lifted (I9, I11). */
  | { readonly type: 'session.resumed'; readonly input: InputId }
  | {
      readonly type: 'epoch.started'
      readonly n: number
      readonly reason: 'created' | 'changed' | 'switched' | 'compacted'
      readonly content: EpochContent
    }
  | { readonly type: 'agent.switched'; readonly to: string; readonly by: CallId }
  | { readonly type: 'turn.started'; readonly trigger: 'input' | 'go-on'; readonly limits: TurnLimits }
  | {
      readonly type: 'turn.abort-asked'
      readonly input: InputId
      readonly reason: string
      readonly pending: PendingPolicy
      readonly until: number
    }
  /** The turn waits at its step limit for a yes or a no (T4, policy `ask`). */
  | { readonly type: 'turn.limit-asked'; readonly ask: CallId }
  | { readonly type: 'turn.limit-decided'; readonly ask: CallId; readonly goOn: boolean; readonly input: InputId }
  | { readonly type: 'turn.ended'; readonly outcome: TurnOutcome; readonly goal: Goal }

  /** `content` is what the model sees, the visible steer prefix included (I10). */
  | {
      readonly type: 'input.entered'
      readonly input: InputId
      readonly lane: MessageLane
      readonly origin: Origin
      readonly content: readonly Part[]
    }
  | { readonly type: 'input.rejected'; readonly input: InputId; readonly lane: Lane; readonly reason: string }
  | { readonly type: 'step.started'; readonly purpose: 'step' | 'limit' }
  /** The gate refused a step or an attempt (T11). */
  | { readonly type: 'step.refused'; readonly reason: string }
  | { readonly type: 'step.ended' }
  | {
      readonly type: 'model.requested'
      readonly attempt: number
      readonly purpose: Purpose
      readonly messages: number
      readonly toolChoice: 'auto' | 'none'
      readonly options?: Json
    }
  /** `retryAt`: when the next attempt may start; null: there will be none. */
  | {
      readonly type: 'model.failed'
      readonly attempt: number
      readonly failure: Failure
      readonly retryAt: number | null
      readonly text: string
      readonly usage: Usage
    }
  | {
      readonly type: 'reply.completed'
      readonly attempt: number
      readonly finish: Finish
      readonly rawFinish: string
      readonly parts: readonly ReplyPart[]
      readonly calls: readonly CallRecord[]
      readonly usage: Usage
      readonly replay?: Replay
    }
  /** The reply broke off: its runner died, or the turn was aborted. `note` is the user-role line that may quote it (T8). */
  | {
      readonly type: 'reply.interrupted'
      readonly attempt: number
      readonly reason: 'crashed' | 'aborted'
      readonly text: string
      readonly usage: Usage
      readonly retryAt: number | null
      readonly note?: readonly Part[]
    }

  /** A call made by code, not by a reply: a workflow's own, or the inner call of a script (`parent`). */
  | { readonly type: 'call.requested'; readonly call: CallRecord; readonly parent?: CallId }
  | {
      readonly type: 'call.approval-asked'
      readonly call: CallId
      readonly argsHash: string
      readonly reason: string
      readonly expiresAt?: number
      /** What is asked about, where a plugin rewrote it. */ readonly args?: { readonly [key: string]: Json }
    }
  | {
      readonly type: 'call.approval-decided'
      readonly call: CallId
      readonly decision: 'allow' | 'deny'
      readonly by: Origin
      readonly grant: 'once' | 'session'
      readonly input: InputId
      readonly reason?: string
    }
  | { readonly type: 'call.deferred'; readonly call: CallId; readonly what: string; readonly expiresAt?: number }
  /** Durable before the body of a non-read runs (C3). `args` only where a plugin rewrote them. */
  | {
      readonly type: 'call.started'
      readonly call: CallId
      readonly attempt: number
      readonly args?: { readonly [key: string]: Json }
    }
  | {
      readonly type: 'call.ended'
      readonly call: CallId
      readonly outcome: CallOutcome
      readonly content: readonly Part[]
      readonly progress?: string
      readonly input?: InputId
    }
  | {
      readonly type: 'call.ended-late'
      readonly call: CallId
      readonly outcome: CallOutcome
      readonly content: readonly Part[]
      readonly input: InputId
    }
  | {
      readonly type: 'child.spawned'
      readonly call: CallId
      readonly session: SessionId
      readonly mode: 'delegate' | 'background'
    }
  | {
      readonly type: 'child.ended'
      readonly call: CallId
      readonly session: SessionId
      readonly outcome: TurnOutcome
      readonly input: InputId
    }

  /** A hook kept the turn from ending; `content` is its message to the model (T5). */
  | { readonly type: 'stop.vetoed'; readonly by: string; readonly content: readonly Part[] }
  | {
      readonly type: 'context.compacted'
      readonly upTo: number
      readonly summary: readonly Part[]
      readonly usage: Usage
    }
  | { readonly type: 'context.compaction-refused'; readonly reason: string }
  /** A checkpoint of a loop whose steps are code. */
  | { readonly type: 'loop.noted'; readonly key: string; readonly value: Json; readonly input?: InputId }
  | {
      readonly type: 'log.damaged'
      readonly from: number
      readonly reason: string
      readonly quarantined: number
      readonly reopened: readonly InputId[]
      /** What the model is told of it. */ readonly content: readonly Part[]
    }

/** The type of an event of ours. */
export type EventType = EventBody['type']

/** An event of a plugin, or of a newer minor version: kept and skipped (L6). */
export interface ForeignEvent {
  readonly type: `x.${string}`
  readonly data: Json
}

export type Draft = EventBody | ForeignEvent
/** A fact in the log, with its place and time. */
export type Event = Draft & EventHead
/** The events of one type. */
export type EventOf<Type extends EventType> = Extract<EventBody, { type: Type }> & EventHead
