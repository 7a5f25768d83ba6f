/** What can go wrong with one model call, as a value. The kinds are those of the model layer's taxonomy; `empty-response` and
 * `superseded` are found by the runtime, all others by the adapter. */
export type FailureKind =
  | 'aborted'
  | 'idle-timeout'
  | 'overloaded'
  | 'rate-limited'
  | 'quota'
  | 'auth'
  | 'context-overflow'
  | 'transcript-invalid'
  | 'replay-rejected'
  | 'replay-missing'
  | 'protocol'
  | 'interrupted'
  | 'server'
  | 'network'
  | 'invalid-request'
  | 'empty-response'
  | 'unknown-stop'
  | 'superseded'
  | 'script'
  | 'unknown'

/** What went wrong with one model call. A fallback or a retry is decided by `kind` and `retry`, never by the text. */
export interface Failure {
  readonly kind: FailureKind
  /** For people: what was seen, and what to do next. */
  readonly message: string
  /** Whether the same request may succeed later. */
  readonly retry: boolean
  /** HTTP status, where there was one. */
  readonly status?: number
  /** The provider's own code. */
  readonly code?: string
  readonly retryAfterMs?: number
  readonly requestId?: string
  /** Text had been shown before it failed. */
  readonly partial?: boolean
}

/** Token counts of one response or a sum of them (B1). `cacheRead` and `cacheWrite` are part of `input`, once. */
export interface Usage {
  /** False where the provider said nothing and the numbers are estimates. */
  readonly known: boolean
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  /** Part of `output`. */
  readonly reasoning: number
}

export const noUsage: Usage = { known: true, input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Adds usage over responses and attempts; the sum is known only if every part is (B1). */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    known: one.known && other.known,
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  }
}
