/**
 * Aborting as a tree: what aborts a scope aborts those under it. `AbortSignal.any` keeps every composite alive as long as its
 * longest-lived parent (case 095), and a DOM signal costs what a step is made of; so scopes are linked by hand, listen only once
 * somebody listens to them, and make their `AbortSignal` when it is first asked for.
 */

type Listener = (reason: unknown) => void

/** Something that can be aborted, alone or with what it belongs to. */
export class AbortScope {
  readonly #parent: AbortScope | AbortSignal | null
  #over: { readonly reason: unknown } | null = null
  #left = false
  #controller: AbortController | null = null
  /** Who listens: scopes under this one, and functions. A list that is kept, as a set is rebuilt again and again where things come and go. */
  #listeners: (AbortScope | Listener)[] | null = null
  #onSignal: (() => void) | null = null
  #isListening = false

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
    const listeners = this.#listeners ?? []
    this.#listeners = null
    for (const listener of listeners) {
      if (listener instanceof AbortScope) listener.abort(reason)
      else listener(reason)
    }
  }

  /** Calls `run` once when it aborts, not if it is aborted already; `unlisten` takes it back. */
  onAbort(run: Listener): void {
    if (this.aborted) return
    this.#listen()
    this.#add(run)
  }

  unlisten(run: Listener): void {
    this.#remove(run)
  }

  /** Parts from its parent: what it knew it keeps, what comes later passes it by. Call it in a `finally`. */
  leave(): void {
    if (this.#left) return
    const parent = this.#parent
    if (this.#over === null && this.aborted) this.#over = { reason: parent!.reason }
    this.#left = true
    if (!this.#isListening) return
    if (parent instanceof AbortScope) parent.#remove(this)
    else parent!.removeEventListener('abort', this.#onSignal!)
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  #listen(): void {
    const parent = this.#parent
    if (parent === null || this.#left || this.#isListening) return
    this.#isListening = true
    if (parent instanceof AbortScope) {
      parent.#listen()
      parent.#add(this)
      return
    }
    this.#onSignal = () => this.abort(parent.reason)
    parent.addEventListener('abort', this.#onSignal, { once: true })
  }

  #add(listener: AbortScope | Listener): void {
    if (this.#listeners === null) this.#listeners = [listener]
    else this.#listeners.push(listener)
  }

  #remove(listener: AbortScope | Listener): void {
    const listeners = this.#listeners
    const at = listeners?.indexOf(listener) ?? -1
    if (at < 0) return
    // The last takes its place: nobody is promised an order.
    const last = listeners!.pop()!
    if (at < listeners!.length) listeners![at] = last
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
