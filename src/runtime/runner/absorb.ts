/**
 * Control inputs, taken at any point of a step (I13): aborts, decisions, answers, late outcomes, timers. Each becomes a fact in the
 * commit that consumes it, and only then has its effect; what has lost its object is rejected as stale.
 */
import type { Draft } from '../../kernel/events.ts'
import type { Control, ControlInput } from '../../kernel/input.ts'
import { progressOf } from '../../kernel/guard.ts'
import { textOf, type Part } from '../../kernel/message.ts'
import type { Run } from './run.ts'
import { finishParts } from './tool-result.ts'

/** Takes all pending control in order of arrival and makes it durable. True: an abort was among it, fire its signal. */
export async function absorbControl(run: Run): Promise<boolean> {
  const inputs = run.inbox.controls()
  let aborted = false
  // Results that are only in the buffer must not depend on whether this control is still there.
  if (run.journal.holdsResults) await run.journal.flush()
  for (const input of inputs) {
    const draft = draftOf(run, input)
    run.journal.record(draft ?? { type: 'input.rejected', input: input.id, lane: 'control', reason: 'stale' })
    run.journal.consume(input, draft === null ? { kind: 'rejected', reason: 'stale' } : { kind: 'entered', ...at(run) })
    aborted ||= draft?.type === 'turn.abort-asked'
  }
  await run.journal.flush()
  run.inbox.drop(inputs)
  return aborted
}

function at({ state }: Run): { readonly turn: number; readonly step: number } {
  return { turn: state.turn?.n ?? state.turnN, step: state.step?.n ?? state.turn?.steps ?? 0 }
}

/** Null: stale. */
function draftOf(run: Run, input: ControlInput): Draft | null {
  const { control, id } = input
  const { state } = run
  switch (control.kind) {
    case 'abort': {
      if (state.turn === null || state.turn.abort !== null) return null
      const until = run.store.now() + (control.graceMs ?? run.agent.settings.graceMs)
      return { type: 'turn.abort-asked', input: id, reason: control.reason, pending: control.pending, until }
    }
    case 'decide':
      return decision(run, input, control)
    case 'answer':
      return answer(run, input, control)
    case 'late':
      return late(run, input, control)
    case 'resume':
      return state.turn === null && state.held !== null ? { type: 'session.resumed', input: id } : null
    case 'timer':
      return { type: 'loop.noted', key: `timer:${control.name}`, value: control.data ?? null, input: id }
  }
}

/** Bound to the call and to the arguments that were seen; consumed once (A2). */
function decision(run: Run, input: ControlInput, control: Extract<Control, { kind: 'decide' }>): Draft | null {
  const { turn, step } = run.state
  if (turn?.limitAsk?.id === control.call && turn.limitAsk.decided === null) {
    return { type: 'turn.limit-decided', ask: control.call, goOn: control.decision === 'allow', input: input.id }
  }
  const call = step?.byId.get(control.call)
  if (call?.status !== 'asked') return null
  if (control.argsHash !== undefined && control.argsHash !== call.argsHash) return null
  if (call.expiresAt !== null && run.store.now() >= call.expiresAt) return null
  const { decision: decided, grant, reason } = control
  return {
    type: 'call.approval-decided',
    call: control.call,
    decision: decided,
    by: input.origin,
    grant,
    input: input.id,
    ...(reason === undefined ? {} : { reason }),
  }
}

function answer(run: Run, input: ControlInput, control: Extract<Control, { kind: 'answer' }>): Draft | null {
  const status = run.state.step?.byId.get(control.call)?.status
  // The world outside may be faster than the body that is about to say that it waits for it.
  return status === 'deferred' || status === 'started' ? end(run, input, control) : late(run, input, control)
}

/** The real end of a call that was closed is news; of one that is still open, and not ours, it is the outcome (C5, case 056). */
function late(run: Run, input: ControlInput, control: Extract<Control, { kind: 'late' | 'answer' }>): Draft | null {
  const { state, wording, fence } = run
  const open = state.step?.byId.get(control.call)
  if (open?.status === 'started' && open.fence < fence) return end(run, input, control)
  const straggler = state.stragglers.get(control.call)
  if (straggler === undefined) return null
  const parts = finishParts(run, control.content)
  const text = wording.late(control.call, straggler.name, control.outcome, textOf(parts))
  const images = parts.filter((part): part is Exclude<Part, { type: 'text' }> => part.type !== 'text')
  return {
    type: 'call.ended-late',
    call: control.call,
    outcome: control.outcome,
    content: [{ type: 'text', text }, ...images],
    input: input.id,
  }
}

/** What comes from outside is bound and made safe like what a body returns (C11, I10). */
function end(
  run: Run,
  input: ControlInput,
  { call, outcome, content }: Extract<Control, { kind: 'late' | 'answer' }>,
): Draft {
  const parts = finishParts(run, content)
  return { type: 'call.ended', call, outcome, content: parts, progress: progressOf(textOf(parts)), input: input.id }
}
