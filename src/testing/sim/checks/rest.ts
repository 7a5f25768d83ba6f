/** T1, C2, I1, I6: at rest everything has its end, and what the store says of the inputs is what the log says. */
import type { Event, EventOf } from '../../../kernel/events.ts'
import { inputId, type SessionId } from '../../../kernel/ids.ts'
import type { Store } from '../../../runtime/ports.ts'
import type { Check, Seen } from '../check.ts'

export interface RestOptions {
  readonly store: Store
  readonly session: SessionId
}

export function restCheck({ store, session }: RestOptions): Check {
  return {
    name: 'rest',
    async end(seen) {
      const { turn, step } = seen.state
      if (turn !== null) seen.fail('T1', `turn ${turn.n} is open at rest`)
      if (step !== null) seen.fail('T1', `step ${step.n} is open at rest`)
      callsHaveEnds(seen)
      await sameLog(seen)
      await sameInbox(seen)
    },
  }

  async function sameLog(seen: Seen): Promise<void> {
    const { events, tail } = await store.read(session)
    if (tail !== seen.log.length || events.some((event, at) => event.type !== seen.log[at]!.type))
      seen.fail('L1', `the log has ${tail} events; ${seen.log.length} were appended`)
  }

  async function sameInbox(seen: Seen): Promise<void> {
    const pending = await store.pending(session, { all: true })
    const found = pending.map(({ id }) => id as string).join()
    const expected = seen.inbox.map(({ id }) => id).join()
    if (found !== expected) seen.fail('I2', `pending are "${found}"; left should be "${expected}"`)
    const waiting = new Set(pending.map(({ id }) => id as string))
    const facts = factsOf(seen.log)
    for (const id of seen.shadow.known) {
      const receipt = await store.receipt(session, inputId(id))
      const times = facts.get(id) ?? 0
      if (receipt === null) seen.fail('I1', `input ${id} is unknown`)
      else if ((receipt.kind === 'queued') !== waiting.has(id))
        seen.fail('I6', `input ${id} is ${receipt.kind}, and ${waiting.has(id) ? '' : 'not '}pending`)
      else if (times !== (receipt.kind === 'queued' || receipt.kind === 'withdrawn' ? 0 : 1))
        seen.fail('I2', `input ${id} is ${receipt.kind}, and ${times} times in the log`)
    }
  }
}

function factsOf(log: readonly Event[]): ReadonlyMap<string, number> {
  const facts = new Map<string, number>()
  for (const event of log)
    if ('input' in event && event.input !== undefined) facts.set(event.input, (facts.get(event.input) ?? 0) + 1)
  return facts
}

function callsHaveEnds(seen: Seen): void {
  const open = new Set<string>()
  for (const event of seen.log) {
    if (event.type === 'reply.completed') for (const { id } of (event as EventOf<'reply.completed'>).calls) open.add(id)
    if (event.type === 'call.requested') open.add(event.call.id)
    if (event.type === 'call.ended') open.delete(event.call)
  }
  for (const call of open) seen.fail('C2', `${call} has no outcome`)
}
