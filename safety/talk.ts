/** What the processes of a run tell each other: jobs as JSON in the arguments, lines of JSON on stdout. */
import type { EffectClass } from 'turnstep'

/** The scenarios, by the names of the shared bench. */
export const SCENARIOS = [
  'dangling',
  'refund',
  'steer',
  'parallel',
  'truncated',
  'runaway',
  'approve',
  'reasoning',
] as const

/** One of the scenarios. */
export type ScenarioName = (typeof SCENARIOS)[number]

/** What one agent process is to do. A scenario may have several lives: the same job, told to go on where a process died. */
export interface Job {
  readonly scenario: ScenarioName
  /** The SQLite file that its lives share. */
  readonly db: string
  /** Where the ledger listens. */
  readonly ledger: string
  /** What the ledger knows this session's refund by. */
  readonly order: string
  /** How the refund is declared; the ledger never dedupes, so that anything but `write` is wrong. */
  readonly effect: EffectClass
  /** From 1 on. */
  readonly life: number
  /** The user has no receipt yet: the message is sent (again), under the same id. */
  readonly sends: boolean
  readonly seed: number
  /** A variant of the scenario. */
  readonly variant?: string
  /** Does not end by itself: it is going to be killed. */
  readonly stays?: boolean
}

/** What the log says of a session before it is opened for work. */
export interface Found {
  /** Writes that were started and whose end is not recorded: each has to be `unknown` to the model. */
  readonly owed: readonly string[]
  /** Calls that a person has decided about. */
  readonly decided: readonly string[]
}

/** What an agent process says, each line written before anything else happens. `t`: its own milliseconds. */
export type Line = { readonly t: number } & (
  | ({ readonly what: 'found' } & Found)
  /** It is about to send, or, in a later life, has opened the session. */
  | { readonly what: 'start' }
  /** `send` has resolved: the user's message is durable. */
  | { readonly what: 'sent' }
  /** A model was called. `faults`: of the history; `unknown`: the calls of which it says that the outcome is unknown. */
  | { readonly what: 'request'; readonly faults: readonly string[]; readonly unknown: readonly string[] }
  | { readonly what: 'body'; readonly tool: string }
  | { readonly what: 'asked'; readonly call: string }
  /** What became of approving a decided call once more. */
  | { readonly what: 'once-more'; readonly state: string }
  /** Nothing is left to do here. `turns`: how each turn of the session ended; `entered`: how often the user's message did. */
  | { readonly what: 'rest'; readonly turns: readonly string[]; readonly entered: number }
  /** What a scenario of one process found. */
  | { readonly what: 'result'; readonly result: unknown }
  | { readonly what: 'failed'; readonly message: string }
)

/** A line of one kind. */
export type LineOf<What extends Line['what']> = Extract<Line, { readonly what: What }>

/** What the ledger says. */
export type LedgerLine =
  | { readonly what: 'listening'; readonly port: number }
  /** A request for a refund is there; it stands in the books; the answer has been sent. */
  | { readonly what: LedgerMoment; readonly order: string; readonly key: string }

/** A moment of a payment, as the ledger sees it. */
export type LedgerMoment = 'arrived' | 'recorded' | 'answered'

/** A refund as it stands in the books. */
export interface Refund {
  readonly order: string
  readonly amount: number
  /** The idempotency key that it came with. */
  readonly key: string
}
