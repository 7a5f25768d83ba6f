/** Following a session from outside: durable events without gaps, live ones as they pass. Reads only. */
import type { SessionId } from '../kernel/ids.ts'
import type { LiveBus } from './live.ts'
import type { Store } from './ports.ts'
import type { Live, Watched } from './session.ts'

export interface FollowOptions {
  readonly store: Store
  readonly bus: LiveBus
  readonly session: SessionId
  /** Events with a higher seq. */
  readonly after: number
  readonly signal: AbortSignal
}

/**
 * Yields events and live deltas until the signal aborts. What was shown live before an event became durable comes before it.
 * `idle` is called each time everything known has been yielded; an answer of `stop` ends it.
 */
export async function* follow(options: FollowOptions, idle?: () => Promise<'stop' | void>): AsyncGenerator<Watched, void, undefined> {
  const { store, bus, session, signal } = options
  let cursor = options.after
  let changed = true
  let live: Live[] = []
  let poke: (() => void) | null = null
  const wake = (): void => poke?.()
  const undo = [
    store.watch(session, () => {
      changed = true
      wake()
    }),
    bus.subscribe(session, (item) => {
      live.push(item)
      wake()
    }),
    listen(signal, wake),
  ]
  try {
    while (!signal.aborted) {
      for (const item of live.splice(0)) yield { kind: 'live', live: item }
      if (changed) {
        changed = false
        const { events } = await store.read(session, { after: cursor })
        for (const item of live.splice(0)) yield { kind: 'live', live: item }
        for (const event of events) {
          cursor = event.seq
          yield { kind: 'event', event }
        }
        if ((await idle?.()) === 'stop') return
      }
      if (changed || live.length > 0 || signal.aborted) continue
      await new Promise<void>((resolve) => (poke = resolve))
      poke = null
    }
  } finally {
    live = []
    for (const run of undo) run()
  }
}

function listen(signal: AbortSignal, run: () => void): () => void {
  signal.addEventListener('abort', run, { once: true })
  return () => signal.removeEventListener('abort', run)
}
