/** Brings a session to rest: whatever it asks is answered. */
import type { Session } from '../../runtime/session.ts'
import type { World } from './world.ts'

const ANSWERS_MAX = 50

/** Approves, answers and says yes until the session is idle or held. */
export async function driveToRest(world: World, session: Session): Promise<'idle' | 'held'> {
  for (let answered = 0; answered < ANSWERS_MAX; answered++) {
    const status = await world.within(session.settled())
    if (status.kind === 'idle' || status.kind === 'held') return status.kind
    if (status.kind === 'running') throw new Error(`settled, and running turn ${status.turn}, step ${status.step}`)
    for (const ask of status.asks) {
      if (ask.kind === 'deferred') await session.answer(ask.call, 'answered')
      else await session.approve(ask.call)
    }
    await world.settle()
  }
  throw new Error(`not at rest after ${ANSWERS_MAX} answers`)
}
