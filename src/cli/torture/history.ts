/** What is wrong with a log: every event is folded, and every request that a model saw is held to what any wire takes. */
import type { Event } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import { Messages } from '../../kernel/message.ts'
import { TranscriptCheck } from '../../kernel/transcript.ts'
import type { TortureComplaint } from '../../protocol/torture.ts'

/** The first event that breaks a rule ends it: nothing behind it can be judged. */
export function historyComplaints(events: readonly Event[]): TortureComplaint[] {
  const state = emptyState()
  const transcript = new TranscriptCheck()
  for (const event of events) {
    const { seq } = event
    const broken = fold(state, event)
    if (broken !== null) return [{ kind: 'rule-broken', seq, ...broken }]
    if (event.type !== 'model.requested') continue
    const fault = transcript.check(new Messages(state.context), state.context)
    if (fault !== null) return [{ kind: 'request-broken', seq, at: fault.at, problem: fault.problem }]
  }
  return []
}
