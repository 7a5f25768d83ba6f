/** T7, C13, I13: what is bounded ends in time, wherever the process that owes it is well and its store does as it is told. */
import type { Event } from '../../../kernel/events.ts'
import type { Tool } from '../../../runtime/define/tool.ts'
import type { Check, Seen } from '../check.ts'

/** For the way to the store and back, several times. */
const SLACK_MS = 2_000
/** A hook may take so long before what landed meanwhile is written down. */
const HOOK_MS = 30_000

export interface BoundOptions {
  readonly toolOf: (name: string) => Tool | undefined
}

export function boundCheck({ toolOf }: BoundOptions): Check {
  return {
    name: 'bounds',
    event(event, seen) {
      // The fold has closed the turn already: what it was told is in the log.
      if (event.type === 'turn.ended' && event.outcome.kind === 'aborted') endedInTime(event, seen)
    },
    moment(seen) {
      const steady = seen.steadySince
      if (steady === null) return
      abortIsOver(seen, steady)
      callsAreOver(seen, steady)
      controlIsHeard(seen, steady)
    },
  }

  function callsAreOver(seen: Seen, steady: number): void {
    for (const call of seen.state.step?.calls ?? []) {
      if (call.status !== 'started') continue
      const timeoutMs = toolOf(call.record.name)?.timeoutMs
      const startedAt = seen.log[call.seq - 1]!.at
      if (timeoutMs !== undefined && seen.now > Math.max(startedAt, steady) + timeoutMs + HOOK_MS + SLACK_MS)
        seen.fail('C13', `${call.record.id} runs since ${seen.now - startedAt} ms; its timeout is ${timeoutMs} ms`)
    }
  }
}

function endedInTime(event: Event, seen: Seen): void {
  const asked = seen.log.findLast((one) => one.type === 'turn.abort-asked')
  const steady = seen.steadySince
  if (asked?.type !== 'turn.abort-asked' || steady === null) return
  const late = event.at - Math.max(asked.until, steady)
  if (late > SLACK_MS) seen.fail('T7', `the turn ends ${late} ms after its grace was over`)
}

function abortIsOver(seen: Seen, steady: number): void {
  const until = seen.state.turn?.abort?.until
  if (until !== undefined && seen.now > Math.max(until, steady) + SLACK_MS)
    seen.fail('T7', `the turn is still open ${seen.now - until} ms after its grace was over`)
}

function controlIsHeard(seen: Seen, steady: number): void {
  const { now } = seen
  const deaf = seen.shadow.pending.find(({ lane, at }) => lane === 'control' && now > Math.max(at, steady) + SLACK_MS)
  if (deaf !== undefined) seen.fail('I13', `the control input ${deaf.id} is not heard for ${now - deaf.at} ms`)
}
