/**
 * What a log amounts to. Owned by one runner and changed only by `fold`; everybody else may look.
 * Nothing here grows with the length of the log, except the live context.
 */
import type { Brand } from '../util/brand.ts'
import type { CallRecord, EpochContent, Finish, Purpose, TurnLimits } from './events.ts'
import type { Failure, Usage } from './failure.ts'
import type { CallId, InputId, SessionId } from './ids.ts'
import type { PendingPolicy } from './input.ts'
import type { Message, Part, Replay, ReplyPart, UserMessage } from './message.ts'
import type { CallOutcome, Goal, TurnOutcome } from './outcome.ts'

/** All that the log of a session amounts to: what the loop decides by. Read it; only the fold writes it. */
export interface State {
  /** Seq of the last event folded, 0 before the first. */
  seq: number
  /** `at` of the last event folded. */
  at: number
  /** The highest fence seen. */
  fence: number
  created: null | { agent: string; locale: string; parent: null | { session: SessionId; call: CallId } }
  agent: string
  epoch: null | { n: number; seq: number; content: EpochContent }
  /** Turns started so far. */
  turnN: number
  turn: Turn | null
  step: Step | null
  /** Calls closed before their body came back; their late outcome may still arrive (C5). Bounded. */
  stragglers: Map<CallId, Straggler>
  /** The projection (X1). Extended inside an epoch, replaced at its border. */
  context: Message[]
  /** Size of the context in UTF-16 units of text, for triggers that need no tokenizer. */
  contextSize: number
  /** Messages that wait for the next gate: late outcomes, quotes of interrupted replies. */
  late: UserMessage[]
  /** The last inputs that were settled, oldest first: no input enters twice (I1). Bounded. */
  settled: Set<InputId>
  /** Set after a turn that did not complete: the queue waits (I9, I11). */
  held: null | { seq: number }
  /** A yes at the step limit: a new turn is owed (T4). */
  goOn: boolean
  /** Questions that need not be asked again in this session (A2), by `grantKey`. */
  grants: Set<string>
  lastTurn: null | { n: number; outcome: TurnOutcome; goal: Goal; seq: number }
  usage: Usage
  /** Facts about damage, oldest first. */
  damage: { seq: number; from: number; reason: string }[]
}

export interface Turn {
  n: number
  startedAt: number
  limits: TurnLimits
  trigger: 'input' | 'go-on'
  /** Steps started in it. Reset by nothing but a new turn (T4). */
  steps: number
  vetoes: number
  entered: number
  rejected: number
  abort: null | { at: number; until: number; reason: string; pending: PendingPolicy }
  /** An incomplete end that no later step can mend (T3). */
  sticky: null | { kind: 'max-tokens'; limit: 'output' | 'context' }
  /** Steps in a row that were cut at the output limit with calls in them. */
  cuts: number
  /** What the user asked of this turn: its opening request and its steers, kept verbatim through a compaction (X4). */
  directives: UserMessage[]
  /** Decided already; the turn ends with it as soon as its step is closed. */
  ending: TurnOutcome | null
  limitAsk: null | { id: CallId; decided: boolean | null }
  /** How the last step ended: what the loop goes on from. Null after a veto: the model is to be called again. */
  last: null | { purpose: 'step' | 'limit'; finish: Finish; calls: number; text: string }
  usage: Usage
  /** What the loop guard remembers (T6): per step the attempts made, newest last. Bounded. */
  guard: GuardStep[]
}

/** The attempts of one step, as the loop guard sees them. */
export interface GuardStep {
  /** Fingerprints of the calls, sorted. */
  readonly prints: readonly string[]
  /** The same with the normalised results of reads, sorted: equal only if nothing was learnt. */
  readonly results: readonly string[]
  /** In model order, for the strict mode. */
  readonly inOrder: readonly string[]
}

export interface Step {
  n: number
  purpose: 'step' | 'limit'
  /** The model call in flight. */
  request: null | { attempt: number; fence: number; at: number; purpose: Purpose }
  /** Model calls made in this step that count against the retry budget. */
  attempts: number
  /** Every model call made in this step. */
  requests: number
  /** When the next attempt may start. */
  retryAt: number | null
  fatal: Failure | null
  reply: null | { finish: Finish; parts: readonly ReplyPart[]; replay: Replay | null }
  /** In model order; inner calls follow their parent's. */
  calls: Call[]
  byId: Map<CallId, Call>
  /** Calls without an outcome. */
  open: number
}

export type CallStatus = 'requested' | 'asked' | 'approved' | 'refused' | 'deferred' | 'started' | 'ended'

export interface Call {
  readonly record: CallRecord
  readonly parent: CallId | null
  status: CallStatus
  /** Seq of the last change. */
  seq: number
  /** Starts so far. */
  attempt: number
  /** The fence of the last start. */
  fence: number
  /** Rewritten arguments, where a plugin gave some. */
  args: CallRecord['args'] | null
  argsHash: string | null
  expiresAt: number | null
  /** What a person is asked, or waited for. */
  question: string | null
  refusal: string | null
  outcome: CallOutcome | null
  content: readonly Part[]
  /** Normalised result, for the loop guard. */
  progress: string
}

export interface Straggler {
  readonly name: string
  readonly turn: number
  /** Seq of the event that closed it. */
  readonly seq: number
  /** A call that was written off without being known: its end is news. */
  readonly resources: CallRecord['resources']
}

/** A state as everybody but the fold sees it: nothing in it can be assigned. */
export type StateView = Readonly<
  Omit<State, 'turn' | 'step' | 'context' | 'late' | 'settled' | 'grants' | 'stragglers' | 'damage'>
> & {
  readonly turn: null | TurnView
  readonly step: null | StepView
  readonly context: readonly Message[]
  readonly late: readonly UserMessage[]
  readonly settled: ReadonlySet<InputId>
  readonly grants: ReadonlySet<string>
  readonly stragglers: ReadonlyMap<CallId, Straggler>
  readonly damage: readonly { readonly seq: number; readonly from: number; readonly reason: string }[]
}

export type TurnView = Readonly<Omit<Turn, 'directives' | 'guard'>> & {
  readonly directives: readonly UserMessage[]
  readonly guard: readonly GuardStep[]
}

export type StepView = Readonly<Omit<Step, 'calls' | 'byId'>> & {
  readonly calls: readonly Readonly<Call>[]
  readonly byId: ReadonlyMap<CallId, Readonly<Call>>
}

/** Bounds of what the state remembers. At the bound the oldest is forgotten. */
export const SETTLED_MAX = 512
export const STRAGGLERS_MAX = 64
export const GUARD_STEPS_MAX = 16

/** A snapshot: the state as JSON text, of this format. */
export type Snapshot = Brand<string, 'Snapshot'>

/** What an "always" covers: the same tool asking the same question. Another reason to ask is another question. */
export function grantKey(tool: string, question: string): string {
  return `${tool}\n${question}`
}
