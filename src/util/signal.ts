/**
 * Aborting as a tree: what aborts a scope aborts those under it. `AbortSignal.any` keeps every composite alive as long as its
 * longest-lived parent (case 095), and a DOM signal costs what a step is made of; so scopes are linked by hand, listen only once
 * somebody listens to them, and make their `AbortSignal` when it is first asked for: most tools never do.
 */

/** Something that can be aborted, alone or with what it belongs to. */
export class AbortScope {
  readonly #parent: AbortScope | AbortSignal | null
  #over: { readonly reason: unknown } | null = null
  #left = false
  #controller: AbortController | null = null
  #listeners: Set<(reason: unknown) => void> | null = null
  #unlisten: (() => void) | null = null

  constructor(parent: AbortScope | AbortSignal | null = null) {
    this.#parent = parent
  }

  /** Aborted itself, or with its parent while it belonged to it. */
  get aborted(): boolean {
    return this.#over !== null || (!this.#left && this.#parent !== null && this.#parent.aborted)
  }

  get reason(): unknown {
    return this.#over !== null ? this.#over.reason : this.aborted ? this.#parent!.reason : undefined
  }

  /** For code that is not ours. */
  get signal(): AbortSignal {
    if (this.#controller !== null) return this.#controller.signal
    this.#controller = new AbortController()
    if (this.aborted) this.#controller.abort(this.reason)
    else this.#listen()
    return this.#controller.signal
  }

  /** Aborts this and everything under it. Only the first time counts. */
  abort(reason?: unknown): void {
    if (this.#over !== null) return
    this.#over = { reason }
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = null
    if (listeners !== null) for (const run of listeners) run(reason)
  }

  /** Calls `run` once when it aborts, not if it is aborted already; the answer takes it back. */
  onAbort(run: (reason: unknown) => void): () => void {
    if (this.aborted) return () => {}
    this.#listen()
    const listeners = (this.#listeners ??= new Set())
    listeners.add(run)
    return () => void listeners.delete(run)
  }

  /** Parts from its parent: what it knew it keeps, what comes later passes it by. Call it in a `finally`. */
  leave(): void {
    if (this.#left) return
    if (this.#over === null && this.aborted) this.#over = { reason: this.#parent!.reason }
    this.#left = true
    this.#unlisten?.()
    this.#unlisten = null
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  #listen(): void {
    const parent = this.#parent
    if (parent === null || this.#left || this.#unlisten !== null) return
    if (parent instanceof AbortScope) {
      this.#unlisten = parent.onAbort((reason) => this.abort(reason))
      return
    }
    const onAbort = (): void => this.abort(parent.reason)
    parent.addEventListener('abort', onAbort, { once: true })
    this.#unlisten = () => parent.removeEventListener('abort', onAbort)
  }
}

/** Resolves when the signal aborts; `off` takes the listener away. */
export function onceAborted(signal: AbortSignal): { readonly promise: Promise<void>; off(): void } {
  if (signal.aborted) return { promise: Promise.resolve(), off() {} }
  let listener!: () => void
  const promise = new Promise<void>((resolve) => {
    listener = resolve
    signal.addEventListener('abort', listener, { once: true })
  })
  return { promise, off: () => signal.removeEventListener('abort', listener) }
}
