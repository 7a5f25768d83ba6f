/** A child process that says lines of JSON: started, listened to, killed by its id. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const LIMIT_MS = 60_000

/** Whatever happens to us, nothing that we started outlives us. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A running program, and what it has said so far. */
export class Talker<Line extends { readonly what: string }> {
  readonly lines: Line[] = []
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #over = false
  #err = ''
  readonly #listeners = new Set<() => void>()

  /** Starts `node file ...args`. */
  constructor(file: string, args: readonly string[] = []) {
    this.#child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(this.#child)
    createInterface({ input: this.#child.stdout! }).on('line', (text) => {
      this.lines.push(JSON.parse(text) as Line)
      this.#tell()
    })
    this.#child.stderr!.setEncoding('utf8').on('data', (more: string) => (this.#err = (this.#err + more).slice(-2_000)))
    // Not at its exit: what it said may still be on the way.
    this.#closed = once(this.#child, 'close').finally(() => {
      running.delete(this.#child)
      this.#over = true
      this.#tell()
    })
  }

  /** The lines of one kind that it has said so far. */
  said<What extends Line['what']>(what: What): Extract<Line, { readonly what: What }>[] {
    return this.lines.filter((line): line is Extract<Line, { readonly what: What }> => line.what === what)
  }

  /** The first line of that kind, said already or to come. Throws if it ends without, or takes more than a minute. */
  async says<What extends Line['what']>(what: What): Promise<Extract<Line, { readonly what: What }>> {
    await this.until(() => this.said(what).length > 0, `says ${what}`)
    return this.said(what)[0]!
  }

  /** Waits for what its lines show. */
  async until(holds: () => boolean, what: string): Promise<void> {
    let wake = (): void => {}
    const limit = setTimeout(() => wake(), LIMIT_MS).unref()
    const until = performance.now() + LIMIT_MS
    while (!holds() && !this.#over && performance.now() < until) {
      await new Promise<void>((resolve) => {
        wake = resolve
        this.#listeners.add(resolve)
      })
      this.#listeners.delete(wake)
    }
    clearTimeout(limit)
    if (!holds())
      throw new Error(
        `a process ${this.#over ? 'ended' : 'went on for a minute'} before it ${what}: ${this.toString()}`,
      )
  }

  /** `kill -9`, by its id; resolves when the system has taken it away. False: it was over already. */
  async kill(): Promise<boolean> {
    const alive = !this.#over && this.#child.kill('SIGKILL')
    await this.#closed
    return alive
  }

  /** Resolves when it has ended by itself, and well. */
  async ends(): Promise<void> {
    await this.until(() => this.#over, 'ends')
    if (this.#child.exitCode !== 0) throw new Error(`a process ended badly: ${this.toString()}`)
  }

  toString(): string {
    return `${JSON.stringify(this.lines.slice(-5))} ${this.#err}`.trim()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
