/** What the parts of a runner share: one object per lease. */
import type { SessionId } from '../../kernel/ids.ts'
import type { State } from '../../kernel/state.ts'
import type { AbortScope } from '../../util/signal.ts'
import type { AskOptions } from '../ask-hook.ts'
import type { LiveAgent } from '../define/agent.ts'
import type { Inbox } from './inbox.ts'
import type { Journal } from './journal.ts'
import type { HookContext } from '../define/plugin.ts'
import type { RegisteredHook } from '../define/plugin-host.ts'
import type { Clock, Ids, Random, Store } from '../ports.ts'
import type { Live } from '../session.ts'
import type { SyncPoints } from '../sync-points.ts'
import type { Wording } from '../wording.ts'

export interface Run {
  readonly session: SessionId
  readonly fence: number
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  readonly inbox: Inbox
  readonly wording: Wording
  readonly sync: SyncPoints
  /** The agent of the session as it is now; a handoff changes it. */
  readonly agent: LiveAgent
  readonly journal: Journal
  readonly state: State
  /** Aborts when this runner stops: lease lost, session closed. */
  readonly stopScope: AbortScope
  /** Aborts with the running turn, and with `stopScope` (T7). */
  readonly turnScope: AbortScope
  /** Hands a finished piece of live work to the runner, which records it between two effects. */
  land(record: () => void): void
  publish(live: Live): void
  /** A fault that is nobody's outcome, for whoever watches. */
  report(error: Error): void
  hookContext(scope: AbortScope): HookContext
  askOptions(hook: Pick<RegisteredHook, 'plugin' | 'timeoutMs'>): AskOptions
  /** Whether this runner may still act: its lease is confirmed and has time left (W2). */
  holdsLease(): boolean
}
