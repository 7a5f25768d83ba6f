/** I1–I6: no input is lost, doubled or out of order, and none is left out of the request that it came before. */
import type { Event } from '../../../kernel/events.ts'
import type { Append } from '../../../runtime/ports.ts'
import type { Check, Seen } from '../check.ts'

export interface InputOptions {
  readonly followups: 'one' | 'all'
}

export function inputCheck({ followups }: InputOptions): Check {
  const settledBy = new Map<string, number>()
  let turn = 0
  let taken = 0

  return {
    name: 'inputs',
    append(append, seen) {
      claims(append, seen)
      order(append, seen)
    },
    event(event, seen) {
      if (event.type === 'turn.started') {
        turn = event.turn
        taken = 0
      }
      if ('input' in event && event.input !== undefined) once(event.input as string, event, seen)
      if (event.type === 'input.entered' && event.lane === 'followup') atStart(event, seen)
      if (event.type === 'model.requested' && event.purpose === 'step')
        nothingWaits(['control', 'steer', 'note'], 'I4', 'the model is asked', seen)
      if (event.type === 'turn.ended' && (event.outcome.kind === 'completed' || event.outcome.kind === 'max-tokens'))
        nothingWaits(['control', 'steer'], 'I5', `the turn ends ${event.outcome.kind}`, seen)
    },
  }

  function once(input: string, event: Event, seen: Seen): void {
    const before = settledBy.get(input)
    if (before !== undefined) seen.fail('I2', `input ${input} is settled by event ${before} and by ${event.seq}`)
    settledBy.set(input, event.seq)
  }

  function atStart(event: Event, seen: Seen): void {
    taken++
    if (event.step !== 0) seen.fail('I3', `a followup enters in step ${event.step}`)
    if (followups === 'one' && taken > 1) seen.fail('I3', `${taken} followups enter turn ${turn}`)
  }
}

/** What an append settles and what it says of it are the same (I2, I6). */
function claims({ events, consume }: Append, seen: Seen): void {
  const facts = new Map<string, Event>()
  for (const event of events) if ('input' in event && event.input !== undefined) facts.set(event.input, event)
  for (const { id, as } of consume) {
    const fact = facts.get(id)
    // A log that was brought from elsewhere knows it already (I1).
    if (fact === undefined && seen.state.settled.has(id)) continue
    if (fact === undefined) seen.fail('I2', `input ${id} is settled as ${as.kind}, and no event says so`)
    else if ((as.kind === 'entered') !== (fact.type !== 'input.rejected'))
      seen.fail('I6', `input ${id} is ${as.kind}, and the log says ${fact.type}`)
    facts.delete(id)
  }
  for (const [id, event] of facts)
    if (seen.shadow.known.has(id)) seen.fail('I2', `event ${event.seq} (${event.type}) does not claim its input ${id}`)
}

/** Inputs enter in the order in which they stand in the queue (I3). */
function order({ events }: Append, seen: Seen): void {
  let last = -1
  for (const event of events) {
    if (event.type === 'turn.started') last = -1
    if (event.type !== 'input.entered') continue
    const at = seen.shadow.pending.findIndex(({ id, isMoved }) => id === event.input && !isMoved)
    if (at < 0) continue
    if (at < last) seen.fail('I3', `input ${event.input} enters behind one that came later`)
    last = at
  }
}

function nothingWaits(lanes: readonly string[], rule: string, when: string, seen: Seen): void {
  const waits = seen.inbox.find(({ lane }) => lanes.includes(lane))
  if (waits !== undefined) seen.fail(rule, `${when} while the ${waits.lane} ${waits.id} is pending`)
}
