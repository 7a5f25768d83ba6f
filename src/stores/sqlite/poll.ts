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

  /** Call it when a session got a watcher. */
  start(session: SessionId): void {
    if (!this.#stamps.has(session)) this.#stamps.set(session, this.#stamp(session))
    if (this.#cancel !== null) return
    this.#version = this.#dataVersion()
    this.#arm()
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
    const watched = this.#watchers.sessions
    if (watched.length === 0) return this.stop()
    this.#arm()
    const version = this.#dataVersion()
    if (version === this.#version) return
    this.#version = version
    for (const session of watched) {
      const stamp = this.#stamp(session)
      if (this.#stamps.get(session) === stamp) continue
      this.#stamps.set(session, stamp)
      this.#watchers.notify(session, 'inbox')
    }
  }

  #dataVersion(): number {
    return this.#db.get<{ data_version: number }>('pragma data_version')!.data_version
  }

  /** 0 for a session that does not exist. */
  #stamp(session: SessionId): number {
    return this.#db.get<{ stamp: number }>('select stamp from sessions where session = ?', toSql(session))?.stamp ?? 0
  }
}
