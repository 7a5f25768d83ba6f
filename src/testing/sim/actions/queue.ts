/** What people change of what waits. */
import type { MessageLane } from '../../../kernel/input.ts'
import type { Chance } from '../chance.ts'
import type { SimSeen } from '../sim.ts'
import type { Action } from '../stage.ts'

interface Named {
  readonly id: string
}

function waiting({ inbox }: SimSeen): string[] {
  return inbox.filter(({ lane }) => lane !== 'control').map(({ id }) => id)
}

function pick(seen: SimSeen, chance: Chance): Named | null {
  const ids = waiting(seen)
  return ids.length === 0 ? null : { id: chance.pick(ids) }
}

export const edit: Action<Named> = {
  name: 'edit',
  weight: 2,
  propose: ({ seen }, chance) => pick(seen, chance),
  perform: ({ session }, { id }) => session.queue.edit(id, `another text of ${id}`),
}

export const withdraw: Action<Named> = {
  name: 'withdraw',
  weight: 2,
  propose: ({ seen }, chance) => pick(seen, chance),
  perform: ({ session }, { id }) => session.queue.withdraw(id),
}

export const move: Action<Named & { readonly before?: string }> = {
  name: 'move',
  weight: 2,
  propose({ seen }, chance) {
    const named = pick(seen, chance)
    return named === null || chance.is(0.5) ? named : { ...named, before: chance.pick(waiting(seen)) }
  },
  perform: ({ session }, { id, before }) => session.queue.move(id, before === undefined ? {} : { before }),
}

export const convert: Action<Named & { readonly lane: MessageLane }> = {
  name: 'convert',
  weight: 2,
  propose({ seen }, chance) {
    const named = pick(seen, chance)
    return named === null ? null : { ...named, lane: chance.pick<MessageLane>(['followup', 'steer', 'note']) }
  },
  perform: ({ session }, { id, lane }) => session.queue.convert(id, lane),
}
