/**
 * Runs a regular expression over texts in a thread of its own: one that would take years on a line of thirty characters costs
 * its deadline, and the event loop nothing.
 */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../runtime/ports.ts'
import { deferred } from '../../util/deferred.ts'
import type { Deferred } from '../../util/deferred.ts'

/** A line that matches: its number from 1, where it starts and ends in the text, where in it the match starts. */
export type MatchedLine = readonly [line: number, from: number, to: number, at: number]

interface Job {
  readonly text: string
  readonly linesMax: number
}

/** The deadline for one text. */
const DEADLINE_MS = 3000

export class Matcher {
  readonly #worker: Worker
  readonly #clock: Clock
  #waiting: Deferred<readonly MatchedLine[] | null> | null = null

  constructor(regex: RegExp, clock: Clock) {
    this.#clock = clock
    this.#worker = new Worker(`(${matchInThread.toString()})()`, {
      eval: true,
      workerData: { source: regex.source, flags: regex.flags },
    })
    this.#worker.on('message', (lines: readonly MatchedLine[]) => this.#waiting?.resolve(lines))
    // Out of memory or of stack: of no use, as if it had taken too long.
    this.#worker.on('error', () => this.#waiting?.resolve(null))
  }

  /** The first lines that match, or null if that cannot be had in time: the matcher is of no use any more then. One text at a time. */
  async match(job: Job): Promise<readonly MatchedLine[] | null> {
    const waiting = deferred<readonly MatchedLine[] | null>()
    this.#waiting = waiting
    const cancel = this.#clock.after(DEADLINE_MS, () => waiting.resolve(null))
    this.#worker.postMessage(job)
    try {
      return await waiting.promise
    } finally {
      cancel()
    }
  }

  async close(): Promise<void> {
    this.#waiting?.resolve(null)
    await this.#worker.terminate()
  }
}

/** Runs in the thread, made of its own text: it can use nothing from around it. */
function matchInThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads')
  const { source, flags } = workerData as { source: string; flags: string }
  const regex = new RegExp(source, flags)
  // What stands further on in a line is not looked at.
  const lineCharsMax = 20_000
  parentPort!.on('message', ({ text, linesMax }: Job) => {
    const found: MatchedLine[] = []
    for (let from = 0, line = 1; from < text.length && found.length < linesMax; line++) {
      const end = text.indexOf('\n', from)
      const next = end === -1 ? text.length : end
      const to = next > from && text.charCodeAt(next - 1) === 13 ? next - 1 : next
      const at = text.slice(from, Math.min(to, from + lineCharsMax)).search(regex)
      if (at !== -1) found.push([line, from, to, at])
      from = next + 1
    }
    parentPort!.postMessage(found)
  })
}
