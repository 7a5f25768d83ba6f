/** Starts and ends the process that drives the session. */
import { spawn, type ChildProcess } from 'node:child_process'
import type { Desk } from './desk.ts'
import { WORKER } from './worker.ts'

export interface WorkerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class WorkerProcess {
  /** 0: it could not be started. */
  readonly pid: number
  /** Resolves when the process is gone and was collected. */
  readonly ended: Promise<WorkerEnd>
  readonly #child: ChildProcess
  #errors = ''
  #isKilled = false

  constructor(desk: Desk, options: { readonly hold: boolean }) {
    const args = [WORKER, desk.root, desk.locale, ...(options.hold ? ['hold'] : [])]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'pipe'] })
    this.#child = child
    this.pid = child.pid ?? 0
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-ERRORS_CHARS_MAX)
    })
    // A killed process cannot be written to: its end says it all.
    child.stdin!.on('error', () => {})
    this.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#errors += error.message
        resolve({ code: null, signal: null })
      })
      child.once('close', (code, signal) => resolve({ code, signal }))
    })
  }

  /** Whether it was ended by us. */
  get isKilled(): boolean {
    return this.#isKilled
  }

  /** What it said before it ended. */
  get errors(): string {
    return this.#errors.trim()
  }

  /** Lets it go on from where it holds. */
  goOn(): void {
    this.#child.stdin!.write('go on\n')
  }

  /** `kill -9`: it can neither hear nor refuse it. Harmless once it has ended. */
  kill(): void {
    this.#isKilled = true
    this.#child.kill('SIGKILL')
  }

  /** Whether the system still knows a process of this number. */
  isThere(): boolean {
    if (this.pid === 0) return false
    try {
      return process.kill(this.pid, 0)
    } catch {
      // ESRCH: there is none.
      return false
    }
  }
}

const ERRORS_CHARS_MAX = 4_000
