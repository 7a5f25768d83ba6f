/**
 * States of sessions at rest, kept for their next turn: a session of many messages is not read and folded again for each of them.
 * Bounded, so that a thousand open sessions cost what they cost without it; one that waits for a person holds no memory at all (A3).
 * Safe by the lease: a state is used only under the very next one, so that nobody wrote or mended in between (W1).
 */
import type { SessionId } from '../../kernel/ids.ts'
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
