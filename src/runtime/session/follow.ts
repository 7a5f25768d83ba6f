/** Following a session from outside: durable events without gaps, live ones as they pass. Reads only. */
import type { SessionId } from '../../kernel/ids.ts'
import type { LiveBus } from './live.ts'
import { damagedLog } from '../runner/load.ts'
import type { Store } from '../ports.ts'
import type { Live, Watched } from '../session.ts'

export interface FollowOptions {
  readonly store: Store
  readonly bus: LiveBus
  readonly session: SessionId
  /** Events with a higher seq. */
  readonly after: number
  readonly signal: AbortSignal
  /** Faults of this session's runners that are no news. Default: all so far. */
  readonly stopsSeen?: number
}

/** Live items that wait for a reader. */
const LIVE_MAX = 10_000

/** A place in a session's log that moves on with it. Close it, or it listens for ever. */
export class Follower {
  readonly #options: FollowOptions
  readonly #undo: readonly (() => void)[]
  #cursor: number
  #changed = true
  #live: Live[] = []
  #poke: (() => void) | null = null

  constructor(options: FollowOptions) {
    this.#options = options
    this.#cursor = options.after
    const wake = (): void => this.#poke?.()
    const { store, bus, session, signal } = options
    const onLive = (live: Live): void => {
      this.#live.push(live)
      // A slow reader loses the oldest: the channel is lossy, the log is not.
      if (this.#live.length > LIVE_MAX) this.#live.splice(0, LIVE_MAX / 2)
      wake()
    }
    const onChange = (): void => {
      this.#changed = true
      wake()
    }
    signal.addEventListener('abort', wake, { once: true })
    this.#undo = [
      store.watch(session, onChange),
      bus.subscribe(session, onLive, options.stopsSeen),
      () => signal.removeEventListener('abort', wake),
    ]
  }

  /**
   * What is new, at once or when it comes; null once the signal has aborted. What was shown live before an event became durable
   * comes before it. The answer may be empty: something changed that is no event.
   * Throws `log-damaged` where the log cannot be read on: never a silent prefix (L5).
   */
  async next(): Promise<readonly Watched[] | null> {
    const { signal } = this.#options
    while (!this.#changed && this.#live.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => (this.#poke = resolve))
      this.#poke = null
    }
    if (signal.aborted) return null
    if (!this.#changed) return this.#takeLive()
    this.#changed = false
    const { store, session } = this.#options
    const { events, damage } = await store.read(session, { after: this.#cursor })
    if (events.length === 0 && damage !== null) throw damagedLog(session, damage)
    // What is sound is handed on first; whoever asks again is told, and does not wait for what cannot come.
    this.#changed ||= damage !== null
    this.#cursor = events.at(-1)?.seq ?? this.#cursor
    return [...this.#takeLive(), ...events.map((event): Watched => ({ kind: 'event', event }))]
  }

  #takeLive(): Watched[] {
    return this.#live.splice(0).map((live): Watched => ({ kind: 'live', live }))
  }

  close(): void {
    this.#live = []
    for (const run of this.#undo) run()
  }
}

/** The same as an iterable that closes itself. */
export async function* follow(options: FollowOptions): AsyncGenerator<Watched, void, undefined> {
  const follower = new Follower(options)
  try {
    for (let batch = await follower.next(); batch !== null; batch = await follower.next()) yield* batch
  } finally {
    follower.close()
  }
}
