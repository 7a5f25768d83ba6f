/** Following a session from outside: durable events without gaps, live ones as they pass. Reads only. */
import type { Event } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { LiveBus } from './live.ts'
import { damagedLog } from '../runner/load.ts'
import type { Store } from '../ports.ts'
import { after, type Maybe } from '../../util/maybe.ts'
import type { AbortScope } from '../../util/signal.ts'
import type { Live, Watched } from '../session.ts'

export interface FollowOptions {
  readonly store: Store
  readonly bus: LiveBus
  readonly session: SessionId
  /** Events with a higher seq. */
  readonly after: number
  readonly scope: AbortScope
  /** Faults of this session's runners that are no news. Default: all so far. */
  readonly stopsSeen?: number
}

/** What is new: what was shown live comes before what became durable. Both may be empty: something changed that is no event. */
export interface News {
  readonly live: readonly Live[]
  readonly events: readonly Event[]
}

/** Live items that wait for a reader. */
const LIVE_MAX = 10_000

const NONE: readonly never[] = []

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
    const { store, bus, session, scope } = options
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
    scope.onAbort(wake)
    this.#undo = [
      store.watch(session, onChange),
      bus.subscribe(session, onLive, options.stopsSeen),
      () => scope.unlisten(wake),
    ]
  }

  /**
   * What is new, at once or when it comes; null once the scope has aborted.
   * Throws `log-damaged` where the log cannot be read on: never a silent prefix (L5).
   */
  next(): Maybe<News | null> {
    if (this.#options.scope.aborted) return null
    return this.#hasNews ? this.#take() : this.#arrival().then(() => this.next())
  }

  /** Hands on what is new, again and again, until `take` has enough; false: the scope aborted first. */
  async each(take: (news: News) => Maybe<boolean>): Promise<boolean> {
    const { scope } = this.#options
    for (;;) {
      if (scope.aborted) return false
      if (!this.#hasNews) await this.#arrival()
      if (scope.aborted) return false
      if (!this.#hasNews) continue
      const taking = after(this.#take(), take)
      if (taking instanceof Promise ? await taking : taking) return true
    }
  }

  get #hasNews(): boolean {
    return this.#changed || this.#live.length > 0
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => (this.#poke = resolve))
  }

  #take(): Maybe<News> {
    this.#poke = null
    if (!this.#changed) return { live: this.#takeLive(), events: NONE }
    this.#changed = false
    const { store, session } = this.#options
    return after(store.read(session, { after: this.#cursor }), ({ events, damage }) => {
      if (events.length === 0 && damage !== null) throw damagedLog(session, damage)
      // What is sound is handed on first; whoever asks again is told, and does not wait for what cannot come.
      this.#changed ||= damage !== null
      this.#cursor = events.at(-1)?.seq ?? this.#cursor
      return { live: this.#takeLive(), events }
    })
  }

  #takeLive(): readonly Live[] {
    if (this.#live.length === 0) return NONE
    const live = this.#live
    this.#live = []
    return live
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
    for (let news = await follower.next(); news !== null; news = await follower.next()) {
      for (const live of news.live) yield { kind: 'live', live }
      for (const event of news.events) yield { kind: 'event', event }
    }
  } finally {
    follower.close()
  }
}
