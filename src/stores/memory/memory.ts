/**
 * A store that lives and dies with its process. Several harnesses may share one object of it; between them leases have a time to
 * live by the given clock. Events are kept as they were given: they are immutable (L1), so nothing is cloned or serialised.
 */
import type { SessionId } from '../../kernel/ids.ts'
import type { Acquired, Append, Appended, Clock, QueueMark, SessionRow, Store } from '../../runtime/ports.ts'
import { assertEnterable, assertSound, NO_QUEUE } from '../rules.ts'
import type { ReleaseOptions } from '../rules.ts'
import { Watchers } from '../watchers.ts'
import { MemorySession } from './session.ts'

export interface MemoryStoreOptions {
  /** Leases, expiry and `notBefore` go by it. */
  readonly clock: Clock
}

/** Makes an empty store. Its sessions live as long as the object, also after `close`. */
export function memoryStore(options: MemoryStoreOptions): Store {
  return new MemoryStore(options.clock)
}

class MemoryStore implements Store {
  readonly name = 'memory'
  readonly wantsSnapshots = false
  readonly #clock: Clock
  readonly #sessions = new Map<SessionId, MemorySession>()
  readonly #watchers = new Watchers()
  #lives = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  async create(id: SessionId): Promise<'created' | 'exists'> {
    if (this.#sessions.has(id)) return 'exists'
    this.#sessions.set(id, new MemorySession(++this.#lives, this.now()))
    this.#watchers.notify(id, 'inbox')
    return 'created'
  }

  append(append: Append): Appended {
    assertSound(append)
    const session = this.#sessions.get(append.session)
    if (session === undefined) return { kind: 'fenced' }
    const now = this.now()
    const appended = session.append(append, now)
    if (appended.kind === 'appended') {
      session.updatedAt = now
      this.#watchers.notify(append.session, 'log')
    }
    return appended
  }

  read(id: SessionId, { after = 0, limit = Infinity }: { readonly after?: number; readonly limit?: number } = {}) {
    const events = this.#sessions.get(id)?.events ?? []
    return { events: events.slice(after, after + limit), tail: events.length, damage: null }
  }

  async verify(): Promise<null> {
    return null
  }

  async put(...[id, input, options = {}]: Parameters<Store['put']>) {
    if (input.lane !== 'control') assertEnterable(input.id, input.content)
    const session = this.#sessions.get(id)
    if (session === undefined) return { kind: 'missing' } as const
    const posted = session.put(input, options.notBefore ?? -Infinity, this.now())
    if (posted.kind === 'queued') this.#changed(id, session)
    return posted
  }

  async pending(id: SessionId, options: { readonly all?: boolean } = {}) {
    return this.#sessions.get(id)?.pending(options.all === true ? Infinity : this.now()) ?? []
  }

  async pendingSince(id: SessionId, since: QueueMark | null) {
    const session = this.#sessions.get(id)
    return session?.pendingSince(since, this.now()) ?? NO_QUEUE
  }

  async receipt(...[id, input]: Parameters<Store['receipt']>) {
    return this.#sessions.get(id)?.receipt(input) ?? null
  }

  async edit(...[id, input, change]: Parameters<Store['edit']>) {
    if (change.content !== undefined) assertEnterable(input, change.content)
    return this.#change(id, (session) => session.edit(input, change))
  }

  async withdraw(...[id, input]: Parameters<Store['withdraw']>) {
    return this.#change(id, (session) => session.withdraw(input))
  }

  async move(...[id, input, before]: Parameters<Store['move']>) {
    return this.#change(id, (session) => session.move(input, before))
  }

  async acquire(...[id, { owner, ttlMs }]: Parameters<Store['acquire']>): Promise<Acquired> {
    const session = this.#sessions.get(id)
    if (session === undefined) return { kind: 'missing' }
    const now = this.now()
    if (session.lease !== null && session.isDriven(now)) {
      return { kind: 'busy', owner: session.lease.owner, since: session.lease.since }
    }
    session.fence++
    session.lease = { owner, since: now, ttlMs, expiresAt: now + ttlMs }
    this.#changed(id, session)
    return {
      kind: 'acquired',
      fence: session.fence,
      tail: session.tail,
      life: session.life,
      expiresAt: now + ttlMs,
      repaired: null,
    }
  }

  async renew(id: SessionId, fence: number) {
    const session = this.#sessions.get(id)
    if (session === undefined || session.lease === null || !session.holds(fence)) return { kind: 'lost' } as const
    session.lease.expiresAt = this.now() + session.lease.ttlMs
    return { kind: 'renewed', expiresAt: session.lease.expiresAt } as const
  }

  async release(id: SessionId, fence: number, options: ReleaseOptions) {
    const session = this.#sessions.get(id)
    const released = session?.release(fence, options, this.now()) ?? ({ kind: 'lost' } as const)
    if (session !== undefined && released.kind === 'released') this.#changed(id, session)
    return released
  }

  async due(among?: readonly SessionId[]): Promise<readonly SessionId[]> {
    const now = this.now()
    const due: SessionId[] = []
    for (const id of among ?? this.#sessions.keys()) if (this.#sessions.get(id)?.isDue(now) === true) due.push(id)
    return due
  }

  async writePartial(...[id, fence, partial]: Parameters<Store['writePartial']>): Promise<void> {
    const session = this.#sessions.get(id)
    if (session !== undefined && session.holds(fence)) session.partial = partial
  }

  async readPartial(id: SessionId) {
    return this.#sessions.get(id)?.partial ?? null
  }

  async writeSnapshot(...[id, fence, seq, snapshot]: Parameters<Store['writeSnapshot']>): Promise<void> {
    const session = this.#sessions.get(id)
    if (session === undefined || !session.holds(fence) || seq > session.tail) return
    if (session.snapshot === null || session.snapshot.seq <= seq) session.snapshot = { seq, snapshot }
  }

  async readSnapshot(id: SessionId) {
    return this.#sessions.get(id)?.snapshot ?? null
  }

  async list(): Promise<readonly SessionRow[]> {
    const now = this.now()
    return [...this.#sessions].map(([id, session]) => ({
      session: id,
      createdAt: session.createdAt,
      updatedAt: session.updatedAt,
      tail: session.tail,
      pending: session.pendingCount,
      lease:
        session.lease !== null && session.isDriven(now)
          ? { owner: session.lease.owner, since: session.lease.since }
          : null,
      resting: session.lease === null,
    }))
  }

  async remove(id: SessionId): Promise<'removed' | 'missing' | 'busy'> {
    const session = this.#sessions.get(id)
    if (session === undefined) return 'missing'
    if (session.isDriven(this.now())) return 'busy'
    this.#sessions.delete(id)
    this.#watchers.notify(id, 'inbox')
    return 'removed'
  }

  watch(id: SessionId, onChange: Parameters<Store['watch']>[1]): () => void {
    return this.#watchers.add(id, onChange)
  }

  async close(): Promise<void> {
    this.#watchers.clear()
  }

  #change(id: SessionId, change: (session: MemorySession) => ReturnType<MemorySession['edit']>) {
    const session = this.#sessions.get(id)
    if (session === undefined) return { kind: 'missing' } as const
    const changed = change(session)
    if (changed.kind === 'changed') this.#changed(id, session)
    return changed
  }

  #changed(id: SessionId, session: MemorySession): void {
    session.updatedAt = this.now()
    this.#watchers.notify(id, 'inbox')
  }
}
