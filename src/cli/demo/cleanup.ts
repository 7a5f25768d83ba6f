/** Sees to it that nothing of the demo stays behind: its processes and its folder go, however it ends. */
import { rmSync } from 'node:fs'
import type { WorkerProcess } from './worker-process.ts'

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

export class Cleanup {
  readonly #folder: string | null
  readonly #workers: WorkerProcess[] = []
  readonly #broken = new AbortController()
  readonly #breakOff = (): void => this.#broken.abort(new Error('broken off'))
  /** The last resort, where somebody else ends this process: nothing can be waited for. */
  readonly #onExit = (): void => this.#removeAll()

  /** `folder` null: it is kept. */
  constructor(folder: string | null) {
    this.#folder = folder
    for (const signal of SIGNALS) process.on(signal, this.#breakOff)
    process.on('exit', this.#onExit)
  }

  /** Aborts when the demo is told to stop. */
  get signal(): AbortSignal {
    return this.#broken.signal
  }

  adopt(worker: WorkerProcess): void {
    this.#workers.push(worker)
  }

  /** Ends it all, and answers the processes that are still there. */
  async run(): Promise<readonly number[]> {
    for (const worker of this.#workers) worker.kill()
    await Promise.all(this.#workers.map(({ ended }) => ended))
    this.#removeAll()
    for (const signal of SIGNALS) process.off(signal, this.#breakOff)
    process.off('exit', this.#onExit)
    return this.#workers.filter((worker) => worker.isThere()).map(({ pid }) => pid)
  }

  #removeAll(): void {
    for (const worker of this.#workers) worker.kill()
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
