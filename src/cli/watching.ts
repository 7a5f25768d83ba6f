/** Watches a session and hands on what it sees, until it is stopped or the session closes. Keeps the process alive that long. */
import type { Clock, Store } from '../runtime/ports.ts'
import type { SessionHandle, Watched } from '../runtime/session.ts'
import type { Cli } from './cli.ts'
import type { TurnView } from './turn-view.ts'

interface WatchingOptions {
  readonly session: SessionHandle
  readonly store: Store
  readonly clock: Clock
  readonly view: TurnView
  /** Called after the view has shown it. */
  readonly onSeen?: (seen: Watched) => void
}

export function watch(
  { io }: Cli,
  store: Store,
  options: Pick<WatchingOptions, 'session' | 'view' | 'onSeen'>,
): Watching {
  return new Watching({ store, clock: io.clock, ...options })
}

const HOUR_MS = 3_600_000

export class Watching {
  readonly #session: SessionHandle
  readonly #view: TurnView
  readonly #store: Store
  readonly #stop = new AbortController()
  readonly #done: Promise<void>
  #waiters: (() => void)[] = []
  #isOver = false
  #error: Error | null = null

  constructor({ session, store, clock, view, onSeen }: WatchingOptions) {
    this.#session = session
    this.#store = store
    this.#view = view
    this.#done = this.#watch(onSeen, keepAlive(clock))
  }

  async #watch(onSeen: WatchingOptions['onSeen'], letGo: () => void): Promise<void> {
    try {
      for await (const seen of this.#session.watch({ after: this.#view.seq, signal: this.#stop.signal })) {
        this.#view.see(seen)
        onSeen?.(seen)
        this.#wake()
      }
    } catch (error) {
      this.#error = error as Error
    } finally {
      letGo()
      this.#isOver = true
      this.#wake()
    }
  }

  #wake(): void {
    for (const run of this.#waiters.splice(0)) run()
  }

  /** Resolves after something more was seen, or when there is nothing to be seen any more. Throws if the store could not be read. */
  async next(): Promise<boolean> {
    if (!this.#isOver) await new Promise<void>((resolve) => this.#waiters.push(resolve))
    if (this.#error !== null) throw this.#error
    return !this.#isOver
  }

  /** Resolves when all that is in the log by now was shown. */
  async caughtUp(): Promise<void> {
    const { tail } = await this.#store.read(this.#session.id, { limit: 0 })
    while (this.#view.seq < tail && (await this.next()));
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }
}

/** Keeps the process alive until the promise is settled. */
export async function awake<T>(clock: Clock, promise: Promise<T>): Promise<T> {
  const letGo = keepAlive(clock)
  try {
    return await promise
  } finally {
    letGo()
  }
}

/** What is watched may be far away and silent: stores keep no process alive. */
function keepAlive(clock: Clock): () => void {
  let cancel = (): void => {}
  const arm = (): void => {
    cancel = clock.after(HOUR_MS, arm)
  }
  arm()
  return () => cancel()
}
