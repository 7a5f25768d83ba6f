/**
 * Tells whoever waits for a hook that control has come in (docs/design/kernel.md, trap 1). Owns the waiting only: that control is
 * looked at first is the loop's, that it is absorbed the runner's.
 */
import type { Inbox } from './inbox.ts'

export class ControlWatch {
  readonly #inbox: Inbox
  readonly #report: (error: Error) => void
  readonly #waiters = new Set<() => void>()

  constructor(inbox: Inbox, report: (error: Error) => void) {
    this.#inbox = inbox
    this.#report = report
  }

  /** Calls `run` once control is pending, also if it came before this was asked; the answer takes it back. */
  onControl(run: () => void): () => void {
    this.#waiters.add(run)
    // It may have come in after the last hook and before this one: nobody was told of it then.
    if (this.#inbox.isStale || this.#inbox.view.control > 0) void this.#look()
    return () => this.#waiters.delete(run)
  }

  /** Something arrived: looks, if anybody waits. */
  arrived(): void {
    if (this.#waiters.size > 0) void this.#look()
  }

  async #look(): Promise<void> {
    try {
      await this.#inbox.refresh()
      if (this.#inbox.view.control === 0) return
      for (const run of [...this.#waiters]) run()
    } catch (error) {
      this.#report(error as Error)
    }
  }
}
