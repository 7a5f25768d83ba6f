/** The default policy for a failed attempt (T10): full jitter, the provider's own delay where it names one, a finite number of attempts. */
import type { Failure } from '../../kernel/failure.ts'

const BASE_MS = 500
const CAP_MS = 30_000
/** A provider that asks for more than this is not waited for within a turn. */
const ASKED_MAX_MS = 120_000

/** Milliseconds until the next attempt, or null for none. `attempt` counts from 1; `random` is in [0, 1). */
export function retryDelay(failure: Failure, attempt: number, attemptsMax: number, random: number): number | null {
  if (!failure.retry || attempt >= attemptsMax) return null
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs > ASKED_MAX_MS ? null : failure.retryAfterMs
  if (failure.kind === 'empty-response') return 0
  return Math.floor(random * Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1)))
}
