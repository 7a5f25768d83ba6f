/** Child processes of the crash tests: started, listened to, killed, and awaited, in real time with a bound. */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'
import { nodeClock } from '../../src/host/node.ts'

/** What a worker says: a line of JSON. */
export interface Line {
  readonly what: string
  readonly at?: string
  readonly call?: string
  readonly tool?: string
  readonly kind?: string
  readonly code?: string
  readonly message?: string
  readonly data?: { readonly owner?: string }
  readonly reached?: Readonly<Record<string, number>>
}

/** What a worker is told; see `fixtures/worker.mjs`. */
export interface Job {
  readonly scenario: 'turn' | 'approval' | 'held' | 'long'
  readonly delayMs?: number
  /** A followup, whose text is its id. */
  readonly send?: string
  /** Stands still when this sync point is reached the nth time. */
  readonly arm?: { readonly point: string; readonly nth: number }
  /** Stands still inside this tool, right after its effect. */
  readonly standIn?: string
  /** Stays open when the session rests. */
  readonly stay?: boolean
  readonly pollMs?: number
}

const WORKER = fileURLToPath(new URL('fixtures/worker.mjs', import.meta.url))
const DIST = join(fileURLToPath(new URL('../..', import.meta.url)), 'dist', 'index.js')
const LIMIT_MS = 15_000

/** Scenes that are played at once: as many as there may be processors. */
export const LANES = 2

export const SESSION = 's'

/** A folder with the database and the ledger of one scenario. */
export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'turnstep-kill-'))
  readonly db = join(this.folder, 'sessions.db')
  readonly ledger = join(this.folder, 'ledger')
  readonly #workers: Worker[] = []

  constructor() {
    if (!existsSync(DIST)) throw new Error('there is no dist: run `npm run build` first')
  }

  /** Starts a worker on it. `wrap` is a command line that it is started by. */
  start(job: Job, wrap: readonly string[] = []): Worker {
    const [file, ...args] = [
      ...wrap,
      process.execPath,
      WORKER,
      JSON.stringify({ db: this.db, ledger: this.ledger, session: SESSION, ...job }),
    ]
    const worker = new Worker(spawn(file!, args, { stdio: ['pipe', 'pipe', 'inherit'] }))
    this.#workers.push(worker)
    return worker
  }

  /** Lines of the ledger: `tool call key`. */
  effects(): { readonly tool: string; readonly call: string; readonly key: string }[] {
    if (!existsSync(this.ledger)) return []
    const lines = readFileSync(this.ledger, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    return lines.map((line) => {
      const [tool = '', call = '', key = ''] = line.split(' ')
      return { tool, call, key }
    })
  }

  async remove(): Promise<void> {
    for (const worker of this.#workers) await worker.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Makes scenes for the tests of a file. */
export function useScenes(): () => Scene {
  const scenes: Scene[] = []
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.remove()
  })
  return () => {
    const scene = new Scene()
    scenes.push(scene)
    return scene
  }
}

export class Worker {
  readonly child: ChildProcess
  readonly lines: Line[] = []
  readonly #exit: Promise<unknown>
  #over = false
  readonly #waiting = new Set<() => void>()

  constructor(child: ChildProcess) {
    this.child = child
    // Not at its exit: what it said may still be on the way.
    this.#exit = once(child, 'close').finally(() => {
      this.#over = true
      this.#wake()
    })
    createInterface({ input: child.stdout! }).on('line', (text) => {
      this.lines.push(JSON.parse(text) as Line)
      this.#wake()
    })
    // A worker that was killed does not read what it is told.
    child.stdin!.on('error', () => {})
  }

  get isOver(): boolean {
    return this.#over
  }

  get pid(): number {
    return this.child.pid!
  }

  /** The first line, said already or to come, that is one of these. */
  async says(...whats: readonly string[]): Promise<Line> {
    const found = (): Line | undefined => this.lines.find((line) => whats.includes(line.what))
    await this.until(() => found() !== undefined || this.#over)
    const line = found()
    if (line === undefined)
      throw new Error(`the worker ended without saying ${whats.join(' or ')}; it said ${JSON.stringify(this.lines)}`)
    return line
  }

  async until(holds: () => boolean): Promise<void> {
    let late = false
    const cancel = nodeClock.after(LIMIT_MS, () => {
      late = true
      this.#wake()
    })
    while (!holds() && !late) await new Promise<void>((resolve) => this.#waiting.add(resolve))
    cancel()
    if (!holds()) throw new Error(`not within ${LIMIT_MS} ms; the worker said ${JSON.stringify(this.lines)}`)
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  tell(line: string): void {
    this.child.stdin!.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** `kill -9`, and waits until the system has taken it away. */
  async kill(): Promise<void> {
    if (!this.#over) this.child.kill('SIGKILL')
    await this.#exit
  }

  async ended(): Promise<void> {
    await this.until(() => this.#over)
  }
}
