/** What our own checks hear and see beside what everybody's do. */
import type { Event } from '../../kernel/events.ts'
import type { Acquired, Append, ModelRequest } from '../../runtime/ports.ts'
import type { InboxShadow } from './inbox-shadow.ts'
import type { SimBody, SimSeen } from './sim.ts'

/** The lease as the store last gave it. */
export interface Held {
  readonly owner: string
  readonly fence: number
  expiresAt: number
}

export interface Seen extends SimSeen {
  readonly shadow: InboxShadow
  readonly held: Held | null
  /** When something was last not as it should be. */
  readonly disturbedAt: number
  /** The log is being written as it was before a crash: who said what when is not known any more. */
  readonly isSeeding: boolean
}

export interface Check {
  readonly name: string
  event?(event: Event, seen: Seen): void
  body?(body: SimBody, seen: Seen): void
  request?(request: ModelRequest, seen: Seen): void
  moment?(seen: Seen): void | Promise<void>
  end?(seen: Seen): void | Promise<void>
  /** A commit, before anything of it is taken in. */
  append?(append: Append, seen: Seen): void
  /** A lease is given, before it counts. */
  acquired?(lease: Extract<Acquired, { kind: 'acquired' }>, seen: Seen): void
  /** Who asks the model. */
  asked?(request: ModelRequest, owner: string, seen: Seen): void
}
