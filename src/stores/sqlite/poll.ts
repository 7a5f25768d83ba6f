import type { SessionId } from '../../kernel/ids.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { Watchers } from '../watchers.ts'
import type { Database } from './database.ts'
import { toSql } from './text.ts'

/** Well under the 250 ms in which another process's change must be seen (L4). */
const EVERY_MS = 150

/**
 * Notices what other processes wrote, while somebody watches. One read of `data_version` each time, which touches no page; only
 * if it moved are the stamps of the watched sessions compared.
 */
export class Poll {
  readonly #db: Database
  readonly #clock: Clock
  readonly #watchers: Watchers
  readonly #stamps = new Map<SessionId, number>()
  #version = 0
  #cancel: (() => void) | null = null

  constructor(db: Database, clock: Clock, watchers: Watchers) {
    this.#db = db
    this.#clock = clock
    this.#watchers = watchers
  }

  /** Call it when a session gets a watcher. */
  start(session: SessionId): void {
    if (this.#cancel === null) {
      // Before the stamp: a change that falls between the two is then looked at once more.
      this.#version = this.#dataVersion()
      this.#arm()
    }
    if (!this.#stamps.has(session)) this.#stamps.set(session, this.#stamp(session))
  }

  /** Call it when a session has lost its last watcher. */
  leave(session: SessionId): void {
    this.#stamps.delete(session)
    if (this.#stamps.size === 0) this.stop()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#stamps.clear()
  }

  #arm(): void {
    this.#cancel = this.#clock.after(EVERY_MS, () => this.#look(), { unref: true })
  }

  #look(): void {
    this.#arm()
    for (const session of this.#moved()) this.#watchers.notify(session, 'inbox')
  }

  /** The watched sessions that have changed since the last look. */
  #moved(): SessionId[] {
    const moved: SessionId[] = []
    try {
      const version = this.#dataVersion()
      if (version === this.#version) return moved
      for (const [session, before] of this.#stamps) {
        const stamp = this.#stamp(session)
        if (stamp !== before) moved.push(session)
        this.#stamps.set(session, stamp)
      }
      this.#version = version
    } catch {
      // Swallows a read that failed inside a timer, where nobody could catch it: the next verb meets the same trouble and tells.
    }
    return moved
  }

  #dataVersion(): number {
    return this.#db.get<{ data_version: number }>('pragma data_version')!.data_version
  }

  /** 0 for a session that does not exist. */
  #stamp(session: SessionId): number {
    return this.#db.get<{ stamp: number }>('select stamp from sessions where session = ?', toSql(session))?.stamp ?? 0
  }
}
