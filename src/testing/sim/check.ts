/** What our own checks hear beside what everybody's do. */
import type { Acquired, Append, ModelRequest } from '../../runtime/ports.ts'
import type { SimCheck } from './sim.ts'
import type { Witness } from './witness.ts'

export interface Check extends Omit<SimCheck, 'event' | 'body' | 'request' | 'moment' | 'end'> {
  event?(event: Parameters<NonNullable<SimCheck['event']>>[0], seen: Witness): void
  body?(body: Parameters<NonNullable<SimCheck['body']>>[0], seen: Witness): void
  request?(request: ModelRequest, seen: Witness): void
  moment?(seen: Witness): void
  end?(seen: Witness): void | Promise<void>
  /** A commit, before anything of it is taken in. */
  append?(append: Append, seen: Witness): void
  /** A lease is given, before it counts. */
  acquired?(lease: Extract<Acquired, { kind: 'acquired' }>, seen: Witness): void
  /** Who asks the model. */
  asked?(request: ModelRequest, owner: string, seen: Witness): void
}
