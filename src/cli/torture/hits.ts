/** Counts the moments that a process passes, writes them down, and hits the process at the one that it was told. */
import { killHard } from '../../host/marked-process.ts'
import type { SyncPoint, SyncPoints } from '../../runtime/sync-points.ts'
import type { Journal } from './journal.ts'
import type { Job } from './job.ts'
import type { Point } from './moments.ts'

export class Hits implements SyncPoints {
  readonly #journal: Journal
  readonly #hit: Job['hit']
  readonly #counts = new Map<string, number>()

  constructor(journal: Journal, hit: Job['hit']) {
    this.#journal = journal
    this.#hit = hit
  }

  /** When, after its begin, a body is to be hit that is to be hit inside. */
  get insideMs(): number {
    return this.#hit?.insideMs ?? 0
  }

  reach(point: SyncPoint): void {
    this.pass(point)
  }

  /** Passes a moment of this kind, and does not come back if it is the one. Answers which of its kind it was. */
  pass(kind: Point | `begun/${string}` | `ended/${string}`): number {
    const nth = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, nth)
    this.#journal.write({ what: 'reached', moment: `${kind}/${nth}` })
    if (this.isAt(`${kind}/${nth}`)) this.kill()
    return nth
  }

  isAt(moment: string): boolean {
    return this.#hit?.moment === moment
  }

  /** Contract: called at the moment itself; before a hit that does not kill, or by `kill`. */
  note(): void {
    this.#journal.write({ what: 'hit', moment: this.#hit!.moment })
  }

  kill(): never {
    this.note()
    killHard(process.pid)
    // The signal is on its way; nothing may happen until it is here.
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
}
