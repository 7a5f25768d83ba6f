/**
 * States of sessions at rest, kept for their next turn: a session of many messages is not read and folded again for each of them.
 * Bounded, so that a thousand open sessions cost what they cost without it; one that waits for a person holds no memory at all (A3).
 * Safe by the log: a state is used only if the log still ends where it ended, and a log only grows.
 */
import type { SessionId } from '../../kernel/ids.ts'
import type { State } from '../../kernel/state.ts'
import type { Warm } from '../runner/runner-options.ts'

/** States that are kept, of the sessions that rested last. */
const KEPT_MAX = 16

export class WarmStates {
  readonly #kept = new Map<SessionId, Warm>()

  /** The state of a session at rest; from here on it is the runner's that takes it. */
  take(session: SessionId): Warm | null {
    const warm = this.#kept.get(session) ?? null
    this.#kept.delete(session)
    return warm
  }

  /** The same to look at, at once, if the log still ends there. */
  peek(session: SessionId, tail: number): State | null {
    const state = this.#kept.get(session)?.state
    return state?.seq === tail ? state : null
  }

  keep(session: SessionId, warm: Warm): void {
    if (warm.state.turn !== null) return
    this.#kept.set(session, warm)
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!)
  }

  /** The session is closed here. */
  forget(session: SessionId): void {
    this.#kept.delete(session)
  }
}
