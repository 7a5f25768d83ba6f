/** How a turn stops (T2, T5, I5, I9): hooks may veto, a steer may slip in, and what is left in the queue is dealt with by policy. */
import type { Goal, TurnOutcome } from '../../kernel/outcome.ts'
import type { Lane } from '../../kernel/input.ts'
import type { Run } from './run.ts'
import { askEach, hasHook } from './run-hooks.ts'
import { neutralise, withNotice } from '../wording.ts'

/** `again`: look again; `gone`: an input to be settled was changed meanwhile, load again. */
export type Ended = 'ended' | 'again' | 'gone'

/** The moment before a good end. Does nothing if control arrives, or if a steer makes the end untrue: the loop looks again. */
export async function stopTurn(run: Run, outcome: TurnOutcome): Promise<Ended> {
  const verdict = await askStop(run, outcome)
  if (verdict === 'control') return 'again'
  if (verdict.veto === null) return endTurn(run, outcome, verdict.goal)
  const { vetoes, limits } = run.state.turn!
  if (vetoes >= limits.vetoes) return endTurn(run, { kind: 'veto-capped', vetoes }, verdict.goal)
  run.journal.record({
    type: 'stop.vetoed',
    by: verdict.veto.by,
    content: [{ type: 'text', text: neutralise(verdict.veto.message) || run.wording.goOn }],
  })
  return 'again'
}

const GOALS: readonly Goal[] = ['unchecked', 'met', 'unmet']

interface StopVerdict {
  veto: null | { readonly by: string; readonly message: string }
  goal: Goal
}

async function askStop(run: Run, outcome: TurnOutcome): Promise<StopVerdict | 'control'> {
  const verdict: StopVerdict = { veto: null, goal: 'unchecked' }
  if (!hasHook(run, 'decideStop')) return verdict
  const turn = run.state.turn!
  const stop = { outcome, text: turn.last?.text ?? '', vetoes: turn.vetoes, vetoesMax: turn.limits.vetoes }
  const asked = await askEach(
    run,
    'decideStop',
    (hook, context) => hook(stop, context),
    (answer, plugin) => {
      if (answer.goal !== undefined && !GOALS.includes(answer.goal))
        throw new TypeError(`its goal is "${String(answer.goal)}"; known: ${GOALS.join(', ')}`)
      if (answer.veto !== undefined && typeof answer.veto !== 'string') throw new TypeError('its veto is no message')
      verdict.goal = answer.goal ?? verdict.goal
      if (answer.veto === undefined) return
      verdict.veto = { by: plugin, message: answer.veto }
      return 'stop'
    },
  )
  return asked === 'control' ? 'control' : verdict
}

/** Ends the turn. `completed` and `max-tokens` are true only if no steer is pending in the same transaction (I5). */
export async function endTurn(run: Run, outcome: TurnOutcome, goal: Goal = 'unchecked'): Promise<Ended> {
  if (outcome.kind === 'aborted') await settlePending(run)
  const proven: readonly Lane[] =
    outcome.kind === 'completed' || outcome.kind === 'max-tokens' ? ['control', 'steer'] : []
  const committed = await run.journal.commit(
    { type: 'turn.ended', outcome: withNotice(outcome, run.wording), goal },
    proven,
  )
  return committed === 'done' ? 'ended' : committed === 'gone' ? 'gone' : 'again'
}

/** Policy for what was still waiting when the turn was aborted (I9). */
async function settlePending(run: Run): Promise<void> {
  const policy = run.state.turn!.abort!.pending
  if (policy !== 'return' && policy !== 'drop') return
  if (run.journal.holdsResults) await run.journal.flush()
  const { at } = run.state.turn!.abort!
  // What came after the abort was not meant by it.
  const inputs = run.inbox.messages(['steer', 'note', 'followup']).filter((input) => input.at <= at)
  for (const input of inputs) {
    const reason = policy === 'return' ? 'returned' : 'dropped'
    run.journal.record({ type: 'input.rejected', input: input.id, lane: input.lane, reason })
    run.journal.consume(input, { kind: 'rejected', reason })
  }
  run.inbox.drop(inputs)
}
