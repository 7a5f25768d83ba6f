import type { SessionId } from '../kernel/ids.ts'
import type { Store } from '../runtime/ports.ts'

type OnChange = Parameters<Store['watch']>[1]
export type Change = Parameters<OnChange>[0]

/** Who wants to hear that a session changed, in this process. Shared by the stores. */
export class Watchers {
  readonly #bySession = new Map<SessionId, Set<OnChange>>()

  /** Whether somebody watches the session. */
  has(session: SessionId): boolean {
    return this.#bySession.has(session)
  }

  /** Calls `onChange` at every `notify` until the answer is called. The same function may watch twice. */
  add(session: SessionId, onChange: OnChange): () => void {
    const watchers = this.#bySession.get(session) ?? new Set()
    this.#bySession.set(session, watchers)
    const own: OnChange = (what) => onChange(what)
    watchers.add(own)
    return () => {
      watchers.delete(own)
      if (watchers.size === 0 && this.#bySession.get(session) === watchers) this.#bySession.delete(session)
    }
  }

  /** Calls the session's watchers, synchronously. Contract of a watcher: it does not throw. */
  notify(session: SessionId, what: Change): void {
    const watchers = this.#bySession.get(session)
    if (watchers === undefined) return
    // Whoever comes while the others are told may be told too, but they cannot make it endless.
    let left = watchers.size
    for (const onChange of watchers) {
      if (left-- === 0) return
      onChange(what)
    }
  }

  clear(): void {
    this.#bySession.clear()
  }
}
