/** What several parts of a runner say about a call in the same way. */
import type { CallId } from '../../kernel/ids.ts'
import type { Part } from '../../kernel/message.ts'
import type { CallOutcome } from '../../kernel/outcome.ts'
import type { Call } from '../../kernel/state.ts'
import type { Run } from './run.ts'

/** What the model reads of an outcome other than `ok`. */
export function outcomeContent(run: Run, call: Call, outcome: Exclude<CallOutcome, { kind: 'ok' }>): readonly Part[] {
  return [{ type: 'text', text: run.wording.outcome(outcome, call.record.effect) }]
}

/** The same for every start of a call, on any machine. */
export function idempotencyKey(run: Run, call: CallId): string {
  return `${run.session}/${call}`
}
