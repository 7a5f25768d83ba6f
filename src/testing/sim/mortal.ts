/**
 * A process that can die. Owns what dies with it: its timers, its view of the store. What it had begun and not heard of by then it
 * will never hear of, and nothing of it reaches the store any more: just so does a killed process look from outside.
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Clock, Store } from '../../runtime/ports.ts'
import { deferred, type Deferred } from '../../util/deferred.ts'
import { layerOver } from './store-layer.ts'

export interface MortalOptions {
  readonly clock: Clock
  readonly store: Store
}

export class Mortal {
  readonly clock: Clock
  readonly store: Store
  readonly #below: Clock
  readonly #timers = new Set<() => void>()
  readonly #watchers = new Set<() => void>()
  #dead = false
  #cut = false
  #thaw: Deferred<void> | null = null

  constructor({ clock, store }: MortalOptions) {
    this.#below = clock
    this.clock = { now: () => clock.now(), after: (ms, run, how) => this.#after(ms, run, how) }
    this.store = this.#mortalStore(store)
  }

  get isDead(): boolean {
    return this.#dead
  }

  get isFrozen(): boolean {
    return this.#thaw !== null
  }

  get isCut(): boolean {
    return this.#cut
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

  /** Null: it lives, go on. Else what comes back to the frozen when they thaw, and never to the dead. */
  pause(): Promise<void> | null {
    return this.#dead || this.#thaw !== null ? this.#untilAlive() : null
  }

  async #untilAlive(): Promise<void> {
    while (this.#thaw !== null) await this.#thaw.promise
    if (this.#dead) await new Promise(() => {})
  }

  #after(ms: number, run: () => void, how: Parameters<Clock['after']>[2]): () => void {
    if (this.#dead) return () => {}
    const cancel = this.#below.after(
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
    const mortal = layerOver(store, (_verb, _args, run) => {
      if (this.#dead || this.#thaw !== null) return this.#reach(run)
      this.#throwIfCut()
      const answer = run()
      return answer instanceof Promise ? this.#hear(answer) : answer
    })
    return { ...mortal, watch: (...args) => this.#watch(store, ...args), close: async () => {} }
  }

  async #reach(run: () => unknown): Promise<unknown> {
    await this.#untilAlive()
    this.#throwIfCut()
    return this.#hear(Promise.resolve(run()))
  }

  async #hear(answer: Promise<unknown>): Promise<unknown> {
    try {
      return await answer
    } finally {
      await this.pause()
      // Cut off in between: it may have happened, and nobody here will be told.
      this.#throwIfCut()
    }
  }

  #throwIfCut(): void {
    if (this.#cut)
      throw new TurnstepError('store-failed', 'the store cannot be reached; the line to it is cut in this test')
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
}
