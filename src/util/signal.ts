/**
 * Abort signals that are linked by hand. `AbortSignal.any` keeps every composite alive as long as its longest-lived parent
 * (case 095), so a link is made here, and undone by the one who made it.
 */

/** A child controller that aborts with its parents, until `unlink` is called. */
export interface LinkedSignal {
  readonly signal: AbortSignal
  /** The same as `signal.aborted`, without making the signal. */
  readonly aborted: boolean
  abort(reason?: unknown): void
  /** Takes the listeners off the parents. Call it in a `finally`. */
  unlink(): void
}

/**
 * Links a new signal to `parents`; if one of them is aborted already, so is the result. Nothing is made or listened to until
 * somebody asks for the signal: most tools never do.
 */
export function linkSignal(...parents: readonly AbortSignal[]): LinkedSignal {
  return new Link(parents)
}

class Link implements LinkedSignal {
  readonly #parents: readonly AbortSignal[]
  readonly #undo: (() => void)[] = []
  #controller: AbortController | null = null
  #given: { readonly reason: unknown } | null = null
  #unlinked = false

  constructor(parents: readonly AbortSignal[]) {
    this.#parents = parents
  }

  get signal(): AbortSignal {
    return (this.#controller ??= this.#connect()).signal
  }

  get aborted(): boolean {
    if (this.#controller !== null) return this.#controller.signal.aborted
    return this.#given !== null || (!this.#unlinked && this.#parents.some((parent) => parent.aborted))
  }

  abort(reason?: unknown): void {
    this.#given ??= { reason }
    this.#controller?.abort(reason)
  }

  unlink(): void {
    if (!this.#unlinked) this.#given ??= this.#abortedParent()
    this.#unlinked = true
    for (const off of this.#undo.splice(0)) off()
  }

  #connect(): AbortController {
    const controller = new AbortController()
    const over = this.#given ?? (this.#unlinked ? null : this.#abortedParent())
    if (over !== null) controller.abort(over.reason)
    else if (!this.#unlinked) for (const parent of this.#parents) this.#listen(parent, controller)
    return controller
  }

  #listen(parent: AbortSignal, controller: AbortController): void {
    const onAbort = (): void => controller.abort(parent.reason)
    parent.addEventListener('abort', onAbort, { once: true })
    this.#undo.push(() => parent.removeEventListener('abort', onAbort))
  }

  #abortedParent(): { readonly reason: unknown } | null {
    const parent = this.#parents.find((candidate) => candidate.aborted)
    return parent === undefined ? null : { reason: parent.reason }
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
