/** What a runner is made with, and how it ends. */
import type { Draft, Event } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { State } from '../../kernel/state.ts'
import type { LiveAgent } from '../define/agent.ts'
import type { Acquired, Clock, Ids, Random, Store } from '../ports.ts'
import type { Live } from '../session.ts'
import type { FairShare } from './fair-share.ts'
import type { Stragglers } from './stragglers.ts'
import type { SyncPoints } from '../sync-points.ts'
import type { Locale } from '../wording.ts'

/** A lease that was granted. */
export type Granted = Extract<Acquired, { kind: 'acquired' }>

/** What a runner leaves behind at rest: the state that its log amounts to, and the agent whose plugins have folded the same log. */
export interface Warm {
  readonly state: State
  readonly agent: LiveAgent
  /** Of that agent's plugins: one that came since has folded nothing. */
  readonly version: number
  /** Of the lease under which it was left. */
  readonly life: number
  readonly fence: number
  /** Seq up to which a snapshot was written. */
  readonly snapshotAt: number
}

export interface RunnerOptions {
  readonly session: SessionId
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly random: Random
  readonly sync: SyncPoints
  readonly lease: Granted
  readonly leaseTtlMs: number
  readonly locale: Locale
  readonly stragglers: Stragglers
  /** Of all runners of the process together. */
  readonly fairShare: FairShare
  /** Spares the reading of the log, if that ends where this does. */
  readonly warm: Warm | null
  /** Facts that plugins want to have written, of this session; taken from here as they are recorded. */
  readonly facts: Draft[]
  /** The agent that a session names, or the one it was opened with. */
  readonly agentOf: (name: string | null) => LiveAgent
  readonly publish: (live: Live) => void
  readonly onDurable: (events: readonly Event[]) => void
  readonly report: (error: Error) => void
}

/** Why a runner let go: at rest; or told to stop, with its work parked. */
export type RunEnd = 'rested' | 'parked'
