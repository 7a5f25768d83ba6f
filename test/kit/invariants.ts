/** What must hold of every session at rest, however it got there. Each function answers with what is broken, each in a sentence. */
import type { Event, EventOf } from '../../src/kernel/events.ts'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import type { State } from '../../src/kernel/state.ts'
import type { SessionId } from '../../src/kernel/ids.ts'
import type { Store } from '../../src/runtime/ports.ts'
import type { BodyRun } from './tools.ts'

/** Folds a log, from its start or on from a state; an event that is refused is reported. */
export function foldLog(
  events: readonly Event[],
  state = emptyState(),
): { readonly state: State; readonly broken: string[] } {
  const broken: string[] = []
  for (const event of events) {
    const refused = fold(state, event)
    if (refused !== null) broken.push(`${refused.rule}: event ${event.seq} (${event.type}): ${refused.problem}`)
  }
  return { state, broken }
}

const ofType = <Type extends Event['type']>(events: readonly Event[], type: Type): Extract<Event, { type: Type }>[] =>
  events.filter((event): event is Extract<Event, { type: Type }> => event.type === type)

/** C2, C4: every call has one outcome, and none was started twice that must not be. */
export function callFaults(events: readonly Event[]): string[] {
  const faults: string[] = []
  const replies = ofType(events, 'reply.completed') as EventOf<'reply.completed'>[]
  for (const call of replies.flatMap((reply) => reply.calls)) {
    const ends = events.filter((event) => event.type === 'call.ended' && event.call === call.id).length
    if (ends !== 1) faults.push(`C2: ${call.id} has ${ends} outcomes`)
    const starts = events.filter((event) => event.type === 'call.started' && event.call === call.id).length
    if (call.effect === 'write' && starts > 1) faults.push(`C4: the write ${call.id} was started ${starts} times`)
  }
  return faults
}

/** C3, C4: no write ran twice, and no body that changes something before its start was durable. */
export function bodyFaults(events: readonly Event[], runs: readonly BodyRun[]): string[] {
  const faults: string[] = []
  const effects = new Map(
    (ofType(events, 'reply.completed') as EventOf<'reply.completed'>[]).flatMap((reply) =>
      reply.calls.map((call) => [call.id as string, call.effect]),
    ),
  )
  const ran = new Map<string, number>()
  for (const run of runs) {
    ran.set(run.call, (ran.get(run.call) ?? 0) + 1)
    const isDurable = events.some(
      (event) => event.type === 'call.started' && event.call === run.call && event.fence === run.fence,
    )
    if (effects.get(run.call) !== 'read' && !isDurable)
      faults.push(`C3: the body of ${run.call} ran under fence ${run.fence} without a durable start`)
  }
  for (const [call, times] of ran)
    if (effects.get(call) === 'write' && times > 1) faults.push(`C4: the body of the write ${call} ran ${times} times`)
  return faults
}

/** I2, I6: what became of each posted input is in the log exactly once, or it is still pending. */
export async function inputFaults(
  store: Store,
  session: SessionId,
  events: readonly Event[],
  posted: Iterable<string>,
): Promise<string[]> {
  const faults: string[] = []
  const pending = new Set((await store.pending(session, { all: true })).map((input) => input.id as string))
  for (const id of posted) {
    const receipt = await store.receipt(session, id as never)
    const facts = events.filter((event) => 'input' in event && event.input === (id as never)).length
    const expected = receipt?.kind === 'queued' || receipt?.kind === 'withdrawn' ? 0 : 1
    if (receipt === null) faults.push(`I1: input ${id} is unknown`)
    else if ((receipt.kind === 'queued') !== pending.has(id))
      faults.push(`I6: input ${id} is ${receipt.kind}, and ${pending.has(id) ? '' : 'not '}pending`)
    else if (facts !== expected) faults.push(`I2: input ${id} is ${receipt.kind}, and ${facts} times in the log`)
  }
  return faults
}

/** T1: every start has its end. */
export function balanceFaults({ turn, step }: State): string[] {
  return [
    ...(turn === null ? [] : [`T1: turn ${turn.n} is open`]),
    ...(step === null ? [] : [`T1: step ${step.n} is open`]),
  ]
}
