/**
 * Ends what a log leaves open, as if its turn had been aborted where it stands: no call of it starts here, and none is said to have
 * ended that may not have. Owns which events that takes; the fold judges them like any other.
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event, EventBody } from '../../kernel/events.ts'
import { fold } from '../../kernel/fold.ts'
import type { InputId } from '../../kernel/ids.ts'
import type { CallOutcome } from '../../kernel/outcome.ts'
import type { Call, State } from '../../kernel/state.ts'
import { estimateUsage } from '../../runtime/runner/reply.ts'
import { WORDINGS, type Locale } from '../../runtime/wording.ts'

export interface Closing {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly fence: number
  /** The id of the abort: fresh. */
  readonly input: InputId
  /** Why the turn ends, for people. */
  readonly reason: string
}

/**
 * Folds into the state what ends its open turn, or the turn that it owes after a yes at the step limit (T4), and answers those
 * events; none where nothing is open or owed.
 */
export function closeTurn(state: State, closing: Closing): readonly Event[] {
  return draftsOf(state, closing).map((draft) => {
    const event = stamped(state, draft, closing)
    const broken = fold(state, event)
    if (broken === null) return event
    const what = `${event.type} (seq ${event.seq}) breaks ${broken.rule}: ${broken.problem}`
    throw new TurnstepError('rule-broken', `an open turn could not be ended: ${what}`, { data: { rule: broken.rule } })
  })
}

function draftsOf(state: State, { at, input, reason: why }: Closing): readonly EventBody[] {
  const { turn, step } = state
  if (turn === null && !state.goOn) return []
  const drafts: EventBody[] = []
  if (turn === null)
    drafts.push({ type: 'turn.started', trigger: 'go-on', limits: { steps: 1, stepPolicy: 'error', vetoes: 0 } })
  const abort = turn?.abort ?? null
  if (abort === null) drafts.push({ type: 'turn.abort-asked', input, reason: why, pending: 'keep', until: at })
  if (step !== null) {
    if (step.request !== null) drafts.push(interrupted(state, step.request.attempt))
    for (const call of step.calls) if (call.status !== 'ended') drafts.push(ended(state, call))
    drafts.push({ type: 'step.ended' })
  }
  const outcome = { kind: 'aborted', reason: abort?.reason ?? why } as const
  drafts.push({ type: 'turn.ended', outcome, goal: 'unchecked' })
  return drafts
}

function interrupted(state: State, attempt: number): EventBody {
  const usage = estimateUsage(state, '')
  return { type: 'reply.interrupted', attempt, reason: 'aborted', text: '', usage, retryAt: null }
}

function ended(state: State, { record, status }: Call): EventBody {
  const isBegun = status === 'started' || status === 'deferred'
  const outcome: Exclude<CallOutcome, { kind: 'ok' }> = isBegun
    ? { kind: 'unknown', reason: 'aborted' }
    : { kind: 'not-started', reason: 'aborted' }
  // A log of a later version may be in a language that is not known here.
  const wording = WORDINGS[state.created?.locale as Locale] ?? WORDINGS.en
  const content = [{ type: 'text', text: wording.outcome(outcome, record.effect) }] as const
  return { type: 'call.ended', call: record.id, outcome, content }
}

function stamped({ seq, turn, turnN, step }: State, draft: EventBody, { at, fence }: Closing): Event {
  const isStart = draft.type === 'turn.started'
  return {
    ...draft,
    seq: seq + 1,
    at,
    fence,
    turn: isStart ? turnN + 1 : (turn?.n ?? 0),
    step: isStart ? 0 : (step?.n ?? turn?.steps ?? 0),
  }
}
