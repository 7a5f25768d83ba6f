/**
 * Following a session from outside: durable events without gaps, live ones as they pass. Reads only. Owns a place in the log; whose the
 * news are is for those who ask (`turn-filter.ts`).
 * Invariants: no event is handed on twice or left out; only a new lease puts other events in a place already read (L5), and these are
 * handed on too; what was shown live comes before what became durable.
 */
import type { Event } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { LiveBus } from './live.ts'
import { damagedLog } from '../runner/load.ts'
import type { ReadResult, Store } from '../ports.ts'
import { after, type Maybe } from '../../util/maybe.ts'
import type { AbortScope } from '../../util/signal.ts'
import type { Live, Watched } from '../session.ts'

export interface FollowOptions {
  readonly store: Pick<Store, 'read' | 'watch'>
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
/** Events that were handed over and wait for a reader: what comes beyond them is read from the store. */
const HANDED_MAX = 1_000

const NONE: readonly never[] = []

/**
 * A place in a session's log that moves on with it, and back to where a damaged log was mended. Close it, or it listens for ever.
 */
export class Follower {
  readonly #options: FollowOptions
  readonly #undo: readonly (() => void)[]
  #cursor: number
  /** The highest one at the cursor or before it; null: not known yet. */
  #fence: number | null = null
  /** Times that the store told of a change, less those that were handed over: what is left may be anything, and is read. */
  #changes = 1
  /** What a runner here has made durable beyond the cursor, without a gap, under the lease that was read last. */
  #handed: readonly Event[] = NONE
  #live: Live[] = []
  #poke: (() => void) | null = null
  #isClosed = false

  constructor(options: FollowOptions) {
    this.#options = options
    this.#cursor = options.after
    const wake = (): void => this.#wake()
    const { store, bus, session, scope } = options
    const listener = {
      onLive: (live: Live): void => {
        this.#live.push(live)
        // A slow reader loses the oldest: the channel is lossy, the log is not.
        if (this.#live.length > LIVE_MAX) this.#live.splice(0, LIVE_MAX / 2)
        wake()
      },
      onDurable: (events: readonly Event[]): void => this.#takeOver(events),
    }
    const onChange = (): void => {
      this.#changes++
      wake()
    }
    scope.onAbort(wake)
    this.#undo = [
      store.watch(session, onChange),
      bus.subscribe(session, listener, options.stopsSeen),
      () => scope.unlisten(wake),
    ]
  }

  /**
   * What is new, at once or when it comes; null once the scope has aborted, or this was closed.
   * Throws `log-damaged` where the log cannot be read on: never a silent prefix (L5).
   */
  next(): Maybe<News | null> {
    if (this.#isOver) return null
    return this.#hasNews ? this.#take() : this.#arrival().then(() => this.next())
  }

  /** Hands on what is new, again and again, until `take` has enough; false: the scope aborted first. */
  async each(take: (news: News) => Maybe<boolean>): Promise<boolean> {
    for (;;) {
      if (this.#isOver) return false
      if (!this.#hasNews) await this.#arrival()
      if (this.#isOver) return false
      if (!this.#hasNews) continue
      const taking = after(this.#take(), take)
      if (taking instanceof Promise ? await taking : taking) return true
    }
  }

  /** Nobody is to hear of anything any more. */
  get #isOver(): boolean {
    return this.#isClosed || this.#options.scope.aborted
  }

  get #hasNews(): boolean {
    return this.#changes > 0 || this.#handed.length > 0 || this.#live.length > 0
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => (this.#poke = resolve))
  }

  #wake(): void {
    const poke = this.#poke
    this.#poke = null
    poke?.()
  }

  #take(): Maybe<News> {
    if (this.#handed.length > 0 || this.#changes === 0) return { live: this.#takeLive(), events: this.#takeHanded() }
    this.#changes = 0
    return after(this.#read(), (events) => ({ live: this.#takeLive(), events }))
  }

  /** The events beyond the cursor, which moves on. */
  #read(): Maybe<readonly Event[]> {
    const fence = this.#fence
    if (fence === null) return after(this.#learnFence(), () => this.#read())
    const { store, session } = this.#options
    return after(store.read(session, { after: this.#cursor }), (read) =>
      after(this.#isReplaced(read, fence), (replaced) => (replaced ? this.#rejoin(fence) : this.#accept(read))),
    )
  }

  #accept({ events, damage }: ReadResult): readonly Event[] {
    if (events.length === 0 && damage !== null) throw damagedLog(this.#options.session, damage)
    // What is sound is handed on first; whoever asks again is told, and does not wait for what cannot come.
    if (damage !== null) this.#changes++
    this.#moveOn(events)
    if (this.#handed.length > 0) this.#handed = this.#handed.filter(({ seq }) => seq > this.#cursor)
    return events
  }

  #moveOn(events: readonly Event[]): void {
    const last = events.at(-1)
    if (last === undefined) return
    this.#cursor = last.seq
    this.#fence = last.fence
  }

  /** Spares reading back what was written here, if it goes on where we are; a new lease may have mended what comes before it (L5). */
  #takeOver(events: readonly Event[]): void {
    const first = events[0]
    const waiting = this.#handed.length
    const end = waiting === 0 ? this.#cursor : this.#handed[waiting - 1]!.seq
    if (first?.seq !== end + 1 || first.fence !== this.#fence || waiting >= HANDED_MAX) return
    this.#handed = waiting === 0 ? events : [...this.#handed, ...events]
    if (this.#changes > 0) this.#changes--
    this.#wake()
  }

  #takeHanded(): readonly Event[] {
    const events = this.#handed
    this.#handed = NONE
    this.#moveOn(events)
    return events
  }

  /** Of the log as it was when we began; where its end cannot be read, of what comes before that. */
  #learnFence(): Maybe<void> {
    const { store, session } = this.#options
    return after(this.#atCursor(), (last) => {
      if (last !== null || this.#cursor === 0) this.#fence = last?.fence ?? 0
      else return after(store.read(session), ({ events }) => void (this.#fence = events.at(-1)?.fence ?? 0))
    })
  }

  /** The log was damaged at the cursor or before it, and mended: other events stand there now (L5). Only a new lease mends. */
  #isReplaced({ events, tail, damage }: ReadResult, fence: number): Maybe<boolean> {
    if (damage === null && tail < this.#cursor) return true
    if (events.length === 0 || events[0]!.fence <= fence) return false
    return after(this.#atCursor(), (last) => last !== null && last.fence > fence)
  }

  /** Goes back to where the log was mended: what later leases wrote is all new. */
  #rejoin(fence: number): Maybe<readonly Event[]> {
    const { store, session } = this.#options
    return after(store.read(session), (read) => {
      const events = read.events.filter((event) => event.fence > fence)
      this.#cursor = read.events.length - events.length
      this.#handed = NONE
      this.#changes++
      return this.#accept({ ...read, events })
    })
  }

  #atCursor(): Maybe<Event | null> {
    if (this.#cursor === 0) return null
    const { store, session } = this.#options
    return after(store.read(session, { after: this.#cursor - 1, limit: 1 }), ({ events }) => events[0] ?? null)
  }

  #takeLive(): readonly Live[] {
    if (this.#live.length === 0) return NONE
    const live = this.#live
    this.#live = []
    return live
  }

  /** Whoever waits here is told that nothing comes. */
  close(): void {
    this.#isClosed = true
    this.#live = []
    for (const run of this.#undo) run()
    this.#wake()
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
