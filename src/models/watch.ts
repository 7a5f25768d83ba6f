/**
 * Watches one model call: what ends a wait that the other side does not end.
 * Owns: the caller's signal, the timers, and the signal given to the transport. Not: what is waited for.
 * 1. Whether a call was aborted is decided by the caller's signal alone, never by an error that came back.
 * 2. A timer runs only during a wait, so that a slow reader is not taken for a silent server.
 * 3. After `close` there is no timer and no listener left.
 */
import type { Clock } from '../runtime/ports.ts'

export interface WatchLimits {
  /** From the start to the first byte of the answer's body. */
  readonly firstChunkTimeoutMs: number
  /** Between two chunks. */
  readonly idleTimeoutMs: number
  /** For the whole call. */
  readonly totalTimeoutMs: number
}

/** What cut a wait short. */
export type Cut = { readonly kind: 'aborted' } | { readonly kind: 'first' | 'idle' | 'total'; readonly afterMs: number }

export type Waited<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'cut'; readonly cut: Cut }

export class Watch {
  readonly #clock: Clock
  readonly #limits: WatchLimits
  readonly #caller: AbortSignal
  readonly #transport = new AbortController()
  readonly #startedAt: number
  readonly #onAbort = (): void => this.#end({ kind: 'aborted' })
  #heard = false
  #idleMs: number
  #cut: Cut | null = null
  #waiting: ((cut: Cut) => void) | null = null

  constructor(clock: Clock, limits: WatchLimits, caller: AbortSignal) {
    this.#clock = clock
    this.#limits = limits
    this.#caller = caller
    this.#startedAt = clock.now()
    this.#idleMs = limits.idleTimeoutMs
    if (caller.aborted) this.#cut = { kind: 'aborted' }
    else caller.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** For the transport: aborts when the call is cut or closed. */
  get signal(): AbortSignal {
    return this.#transport.signal
  }

  /** Set once the call was cut. */
  get cut(): Cut | null {
    return this.#cut
  }

  /** The first chunk has come: from now on the idle limit counts. */
  heard(): void {
    this.#heard = true
  }

  /** All that matters has come: from now on silence ends the call after `ms`. */
  hurry(ms: number): void {
    this.#idleMs = Math.min(this.#idleMs, ms)
  }

  /** Waits for the promise, the abort, or the limit that runs now. Never rejects; one wait at a time. */
  wait<T>(promise: Promise<T>): Promise<Waited<T>> {
    const limit = this.#limit()
    if (this.#cut === null && limit.leftMs <= 0) this.#end(limit.cut)
    return new Promise((resolve) => {
      const disarm = this.#cut === null ? this.#clock.after(limit.leftMs, () => this.#end(limit.cut)) : null
      const settle = (waited: Waited<T>): void => {
        disarm?.()
        this.#waiting = null
        resolve(this.#cut === null ? waited : { kind: 'cut', cut: this.#cut })
      }
      this.#waiting = (cut) => settle({ kind: 'cut', cut })
      promise.then(
        (value) => settle({ kind: 'value', value }),
        (error: unknown) => settle({ kind: 'failed', error }),
      )
      if (this.#cut !== null) this.#waiting(this.#cut)
    })
  }

  /** Ends the watch, and with it whatever the transport still does. */
  close(): void {
    this.#caller.removeEventListener('abort', this.#onAbort)
    this.#waiting = null
    this.#transport.abort()
  }

  #end(cut: Cut): void {
    if (this.#cut !== null) return
    this.#cut = cut
    this.#waiting?.(cut)
    this.#transport.abort()
  }

  #limit(): { readonly leftMs: number; readonly cut: Cut } {
    const spent = this.#clock.now() - this.#startedAt
    const { firstChunkTimeoutMs, totalTimeoutMs } = this.#limits
    const next = this.#heard
      ? { leftMs: this.#idleMs, cut: { kind: 'idle', afterMs: this.#idleMs } as const }
      : { leftMs: firstChunkTimeoutMs - spent, cut: { kind: 'first', afterMs: firstChunkTimeoutMs } as const }
    const total = totalTimeoutMs - spent
    return total < next.leftMs ? { leftMs: total, cut: { kind: 'total', afterMs: totalTimeoutMs } } : next
  }
}
