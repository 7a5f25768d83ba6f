/** I9, I11: after an end that is not good nothing starts without a new input. */
import type { TurnOutcome } from '../../../kernel/outcome.ts'
import type { Check } from '../check.ts'

export interface HoldOptions {
  readonly afterFailure: 'hold' | 'continue'
}

export function holdCheck({ afterFailure }: HoldOptions): Check {
  let held: number | null = null
  let mayStart = false

  return {
    name: 'hold',
    event(event, seen) {
      if (event.type === 'session.resumed') held = null
      if (event.type === 'turn.ended') {
        held = goesOn(event.outcome) ? null : event.seq
        // A steer that met the limit was said to the running turn (T4).
        mayStart = event.outcome.kind === 'step-limit'
      }
      if (event.type !== 'turn.started') return
      if (seen.isSeeding) held = null
      if (held !== null && event.trigger === 'input' && !mayStart && seen.shadow.newestTail < held)
        seen.fail('I9', `turn ${event.turn} starts by itself, after an end at event ${held}`)
    },
  }

  function goesOn({ kind }: TurnOutcome): boolean {
    return kind === 'completed' || (afterFailure === 'continue' && kind !== 'aborted')
  }
}
