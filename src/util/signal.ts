/**
 * Abort signals that are linked by hand. `AbortSignal.any` keeps every composite alive as long as its longest-lived parent
 * (case 095), so a link is made here, and undone by the one who made it.
 */

/** A child controller that aborts with its parents, until `unlink` is called. */
export interface LinkedSignal {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
  /** Takes the listeners off the parents. Call it in a `finally`. */
  unlink(): void
}

/** Links a new signal to `parents`; if one of them is aborted already, so is the result. */
export function linkSignal(...parents: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController()
  const undo: (() => void)[] = []
  for (const parent of parents) {
    if (parent.aborted) {
      controller.abort(parent.reason)
      break
    }
    const onAbort = (): void => controller.abort(parent.reason)
    parent.addEventListener('abort', onAbort, { once: true })
    undo.push(() => parent.removeEventListener('abort', onAbort))
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink() {
      for (const off of undo.splice(0)) off()
    },
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
