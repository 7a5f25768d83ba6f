/** The log as the narrator sees it: from outside, event by event, as they become durable. Reads only; drives nothing. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import { pause } from '../../runtime/pause.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { SessionHandle } from '../../runtime/session.ts'
import { deferred } from '../../util/deferred.ts'

interface LogViewOptions {
  readonly session: SessionHandle
  readonly clock: Clock
  /** Ends every wait, with its reason. */
  readonly signal: AbortSignal
  readonly show: (event: Event) => Promise<void> | void
}

/** Every wait of the demo ends by then: what it waited for did not happen. */
const PATIENCE_MS = 15_000
const POLL_MS = 25

export class LogView {
  /** All that was seen so far, in order. */
  readonly events: Event[] = []
  readonly #options: LogViewOptions
  readonly #stream: AsyncIterator<Event>
  readonly #failure = deferred<never>()

  constructor(options: LogViewOptions) {
    this.#options = options
    this.#stream = eventsOf(options.session)
    // Nobody may be waiting when it comes; who waits next will hear of it.
    this.#failure.promise.catch(() => {})
  }

  /** Nothing more is to be expected: every wait ends with this. */
  fail(error: Error): void {
    this.#failure.reject(error)
  }

  /** Shows events up to the first one that is looked for, and answers it. Throws `script-failed` if none comes. */
  async until(what: string, isIt: (event: Event) => boolean): Promise<Event> {
    const { clock } = this.#options
    const last = clock.now() + PATIENCE_MS
    for (;;) {
      const event = await this.#within(this.#next(), last - clock.now(), what)
      this.events.push(event)
      await this.#options.show(event)
      if (isIt(event)) return event
    }
  }

  /** Waits until something outside of the log is so. Throws `script-failed` if it does not become so. */
  async untilTrue(what: string, isSo: () => boolean): Promise<void> {
    const { clock } = this.#options
    const last = clock.now() + PATIENCE_MS
    while (!isSo()) {
      if (clock.now() >= last) throw this.#missed(what)
      await this.#within(pause(clock, POLL_MS), PATIENCE_MS, what)
    }
  }

  /** The value, unless it takes longer than `ms` or the demo is broken off. */
  async #within<T>(value: Promise<T>, ms: number, what: string): Promise<T> {
    const { clock, signal } = this.#options
    signal.throwIfAborted()
    let undo: () => void = () => {}
    const end = new Promise<never>((_resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error)
      const cancel = clock.after(ms, () => reject(this.#missed(what)))
      signal.addEventListener('abort', stop, { once: true })
      undo = () => {
        cancel()
        signal.removeEventListener('abort', stop)
      }
    })
    try {
      return await Promise.race([value, end, this.#failure.promise])
    } finally {
      undo()
    }
  }

  async #next(): Promise<Event> {
    const { value, done } = await this.#stream.next()
    if (done === true) throw new TurnstepError('session-closed', 'the demo stopped watching its session')
    return value
  }

  #missed(what: string): TurnstepError {
    const last = this.events.at(-1)
    return new TurnstepError(
      'script-failed',
      `the demo waited ${PATIENCE_MS / 1000} s for ${what}; the last event seen was ${last === undefined ? 'none' : `${last.seq} ${last.type}`}`,
    )
  }
}

async function* eventsOf(session: SessionHandle): AsyncGenerator<Event, undefined> {
  for await (const seen of session.watch({ after: 0 })) if (seen.kind === 'event') yield seen.event
  return undefined
}
