/**
 * Keeps a lease alive, or gives it up in time (W2): unconfirmed ownership is lost ownership. A runner that cannot renew stops before
 * its lease can expire, whatever the reason.
 */
import type { SessionId } from '../../kernel/ids.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import type { Clock, Store } from '../ports.ts'
import type { Granted } from './runner-options.ts'

/** Of the time to live: how often it is renewed, and how long before the end it is given up. */
const RENEW_SHARE = 1 / 3
const MARGIN_SHARE = 1 / 5

export interface LeaseOptions {
  readonly session: SessionId
  readonly fence: number
  readonly store: Store
  readonly clock: Clock
  readonly lease: Granted
  readonly leaseTtlMs: number
  readonly onLost: (error: Error) => void
}

/**
 * Gives a lease back and makes its session due a moment later, whatever is pending: there is work left, for whoever comes next.
 * A time that has come already would keep the lease (W3), so a slow store is given more of it.
 */
export async function releaseSoonDue(store: Store, session: SessionId, fence: number): Promise<void> {
  for (let aheadMs = 1; aheadMs < 10_000; aheadMs *= 4) {
    const answer = await store.release(session, fence, { wake: [], until: store.now() + aheadMs })
    if (answer.kind !== 'due') return
  }
}

export class Lease {
  readonly #options: LeaseOptions
  #expiresAt: number | null
  #cancels: readonly (() => void)[] = []
  #lost = false
  #stopped = false

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#expiresAt = options.lease.expiresAt
  }

  /** Begins to renew. A lease that never expires needs no timer. The deadline has one of its own: a renewal may hang. */
  start(): void {
    this.#disarm()
    if (this.#expiresAt === null) return
    const { clock, store, leaseTtlMs } = this.#options
    this.#cancels = [
      clock.after(leaseTtlMs * RENEW_SHARE, () => void this.#renew(), { unref: true }),
      clock.after(this.#deadline(this.#expiresAt) - store.now(), () => this.holds(), { unref: true }),
    ]
  }

  stop(): void {
    this.#stopped = true
    this.#disarm()
  }

  #disarm(): void {
    for (const cancel of this.#cancels) cancel()
    this.#cancels = []
  }

  /** Whether it is confirmed and has time left: looked at right before a side effect. */
  holds(): boolean {
    if (!this.#lost && this.#isOver()) this.#lose('it could not be renewed in time')
    return !this.#lost
  }

  #isOver(): boolean {
    return this.#expiresAt !== null && this.#options.store.now() >= this.#deadline(this.#expiresAt)
  }

  /** From here on it counts as lost: before its end, so that nothing is at work when another takes it. */
  #deadline(expiresAt: number): number {
    return expiresAt - this.#options.leaseTtlMs * MARGIN_SHARE
  }

  async #renew(): Promise<void> {
    const { store, session, fence } = this.#options
    try {
      const answer = await store.renew(session, fence)
      if (answer.kind === 'lost') return this.#lose('another runner has taken it')
      this.#expiresAt = answer.expiresAt
    } catch {
      // The store may be back before the time is over; if not, the lease counts as lost.
    }
    if (!this.#stopped && this.holds()) this.start()
  }

  #lose(why: string): void {
    if (this.#lost || this.#stopped) return
    this.#lost = true
    this.#disarm()
    const { session, onLost } = this.#options
    onLost(
      new TurnstepError('lease-lost', `this runner stops working on session "${session}": its lease is gone, ${why}`),
    )
  }
}
