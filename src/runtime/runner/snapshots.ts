/**
 * When a runner writes a snapshot. Owns the moment; what is in one is the kernel's, which one is read the store's.
 * Invariants: it says nothing that the log does not say, so one that is missing costs time, never truth; its cost per event stays the
 * same however long the context is (L3).
 */
import { toSnapshot } from '../../kernel/snapshot.ts'
import type { Run } from './run.ts'

/** Events between two snapshots, at least. */
const EVERY = 500

export class Snapshots {
  readonly #run: Run
  /** Seq up to which there is one. */
  at = 0

  constructor(run: Run) {
    this.#run = run
  }

  /** Not more often than the context is long, so that its cost stays O(1) per event (L3); never where the store has no use for one. */
  get isDue(): boolean {
    const { state, store } = this.#run
    return store.wantsSnapshots !== false && state.seq - this.at >= Math.max(EVERY, state.context.length)
  }

  /** Contract: everything recorded is durable. */
  async write(): Promise<void> {
    const { state, store, session, fence } = this.#run
    this.at = state.seq
    await store.writeSnapshot(session, fence, state.seq, toSnapshot(state))
  }
}
