/**
 * A process that can die. Owns what dies with it: its timers, its view of the store. What it had begun and not heard of by then it
 * will never hear of, and nothing of it reaches the store any more: just so does a killed process look from outside.
 */
import type { Clock, Store } from '../../src/runtime/ports.ts'
import { deferred, type Deferred } from '../../src/util/deferred.ts'

type Method = (...args: unknown[]) => unknown

export interface MortalOptions {
  readonly clock: Clock
  readonly store: Store
  /** Waited for before and after each verb of the store, as on a network. */
  readonly latency?: () => Promise<void>
}

export class Mortal {
  readonly clock: Clock
  readonly store: Store
  readonly #options: MortalOptions
  readonly #timers = new Set<() => void>()
  readonly #watchers = new Set<() => void>()
  #dead = false
  #cut = false
  #thaw: Deferred<void> | null = null

  constructor(options: MortalOptions) {
    this.#options = options
    this.clock = { now: () => options.clock.now(), after: (ms, run, how) => this.#after(ms, run, how) }
    this.store = this.#mortalStore(options.store)
  }

  get isDead(): boolean {
    return this.#dead
  }

  /** Timers that are armed, and watchers of the store that are registered: a process that ended well has none. */
  get leftovers(): { readonly timers: number; readonly watchers: number } {
    return { timers: this.#timers.size, watchers: this.#watchers.size }
  }

  /** Dies at this instant, without a word. */
  die(): void {
    this.#dead = true
    for (const off of [...this.#timers, ...this.#watchers]) off()
  }

  /** Cuts the line to the store, or mends it: while it is cut every verb fails. */
  cut(isCut: boolean): void {
    this.#cut = isCut
  }

  /** Stops it as a whole machine is stopped: it does nothing, knows nothing of it, and goes on later where it stood. */
  freeze(): void {
    this.#thaw ??= deferred<void>()
  }

  thaw(): void {
    this.#thaw?.resolve()
    this.#thaw = null
  }

  #after(ms: number, run: () => void, how: Parameters<Clock['after']>[2]): () => void {
    if (this.#dead) return () => {}
    const cancel = this.#options.clock.after(
      ms,
      () => {
        if (this.#thaw === null) {
          this.#timers.delete(off)
          run()
        } else void this.#thaw.promise.then(() => this.#timers.delete(off) && run())
      },
      how,
    )
    const off = (): void => {
      this.#timers.delete(off)
      cancel()
    }
    this.#timers.add(off)
    return off
  }

  #mortalStore(store: Store): Store {
    return new Proxy(store, {
      get: (target, key) => {
        const value = target[key as keyof Store] as unknown
        if (typeof value !== 'function') return value
        const method = value.bind(target) as Method
        if (key === 'now') return method
        if (key === 'close') return async () => {}
        if (key === 'watch') return (...args: Parameters<Store['watch']>) => this.#watch(store, ...args)
        return (...args: unknown[]) => this.#call(method, args)
      },
    })
  }

  #watch(store: Store, session: Parameters<Store['watch']>[0], onChange: Parameters<Store['watch']>[1]): () => void {
    if (this.#dead) return () => {}
    const unwatch = store.watch(session, (what) => {
      if (this.#thaw !== null) void this.#thaw.promise.then(() => this.#watchers.has(off) && onChange(what))
      else if (!this.#cut) onChange(what)
    })
    const off = (): void => {
      this.#watchers.delete(off)
      unwatch()
    }
    this.#watchers.add(off)
    return off
  }

  async #call(method: Method, args: unknown[]): Promise<unknown> {
    const { latency } = this.#options
    await latency?.()
    await this.#alive()
    if (this.#cut) throw new Error('the store cannot be reached')
    try {
      return await method(...args)
    } finally {
      await latency?.()
      await this.#alive()
    }
  }

  /** Comes back to the frozen when they thaw, and never to the dead. */
  async #alive(): Promise<void> {
    while (this.#thaw !== null) await this.#thaw.promise
    if (this.#dead) await new Promise(() => {})
  }
}
