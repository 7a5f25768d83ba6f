/** What comes after a crash: a log that ends somewhere, a lease whose owner is dead, and inputs that are still pending. */
import type { Event, EventOf } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import { LEASE_MS, type World } from './world.ts'

/** Writes a log as its runners did, one lease after the other, and leaves the last of them behind. The session is there already. */
export async function seedLog({ store, clock }: World, session: SessionId, events: readonly Event[]): Promise<void> {
  let tail = 0
  for (const fence of new Set(events.map((event) => event.fence))) {
    for (let given = 0; given < fence;) {
      await clock.advance(1)
      const lease = await store.acquire(session, { owner: 'the dead', ttlMs: 1 })
      if (lease.kind !== 'acquired') throw new Error(`not acquired: ${lease.kind}`)
      given = lease.fence
    }
    const written = events.filter((event) => event.fence === fence)
    const appended = await store.append({ session, fence, tail, events: written, consume: [] })
    if (appended.kind !== 'appended') throw new Error(`not seeded: ${appended.kind}`)
    tail = appended.tail
  }
  await clock.advance(Math.max(0, (events.at(-1)?.at ?? 0) - clock.now()) + LEASE_MS)
}

/** Posts what people said and what enters later: at this point it was pending, or had not been said yet. Answers with its ids. */
export async function postLater({ store }: World, session: SessionId, later: readonly Event[]): Promise<string[]> {
  const entering = later.filter((event): event is EventOf<'input.entered'> => event.type === 'input.entered')
  const fromPeople = entering.filter(({ origin }) => origin.kind === 'user' || origin.kind === 'steer')
  for (const { input: id, lane, origin, content } of fromPeople) await store.put(session, { id, lane, origin, content })
  return fromPeople.map((event) => event.input)
}
