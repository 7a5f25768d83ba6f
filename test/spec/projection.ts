/**
 * What a log amounts to, in plain JSON: the requests that a model saw, the state at chosen events and at the end. `spec/golden` holds one
 * of these beside each log, so that a reader in another language has something to compare its own with; `spec/README.md` says what each
 * field is.
 */
import { FORMAT, type Event } from '../../src/kernel/events.ts'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import type { Message } from '../../src/kernel/message.ts'
import type { Call, State, Step, Turn } from '../../src/kernel/state.ts'

/** Events after which the state is written down. */
const POINTS: ReadonlySet<string> = new Set([
  'model.failed',
  'reply.completed',
  'call.approval-asked',
  'call.approval-decided',
  'call.deferred',
  'turn.abort-asked',
  'turn.limit-asked',
  'turn.ended',
  'context.compacted',
  'log.damaged',
])

/** The text of a projection file. Throws if the log is not legal. */
export function projectionOf(events: readonly Event[]): string {
  const state = emptyState()
  const requests: object[] = []
  const states: object[] = []
  let seen: readonly Message[] = []
  for (const event of events) {
    const broken = fold(state, event)
    if (broken !== null) throw new Error(`event ${event.seq} breaks ${broken.rule}: ${broken.problem}`)
    if (event.type === 'model.requested') {
      const { seq, turn, step, attempt, purpose, toolChoice, options } = event
      const asked = { seq, turn, step, attempt, purpose, toolChoice, ...(options === undefined ? {} : { options }) }
      requests.push({ ...asked, epoch: state.epoch!.n, ...growth(seen, state.context) })
      seen = [...state.context]
    }
    if (POINTS.has(event.type)) states.push(summary(state))
  }
  return lines({ format: FORMAT, events: events.length, requests, states, end: endOf(state, seen) })
}

/** The messages as those of the request before that are still in front, and what came behind them. */
function growth(before: readonly Message[], now: readonly Message[]): { kept: number; added: readonly Message[] } {
  let kept = 0
  while (kept < before.length && kept < now.length && same(before[kept], now[kept])) kept++
  return { kept, added: now.slice(kept) }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

function summary(state: State): object {
  const { seq, fence, agent, epoch, turn, step, held, goOn, lastTurn } = state
  return {
    seq,
    fence,
    agent,
    epoch: epoch?.n ?? 0,
    turn: turn === null ? null : turnSummary(turn),
    step: step === null ? null : stepSummary(step),
    held: held?.seq ?? null,
    goOn,
    lastTurn: lastTurn === null ? null : { n: lastTurn.n, outcome: lastTurn.outcome, goal: lastTurn.goal },
  }
}

function turnSummary({ n, steps, vetoes, entered, rejected, abort, sticky, ending, limitAsk }: Turn): object {
  return { n, steps, vetoes, entered, rejected, abort, sticky, ending, limitAsk }
}

function stepSummary({ n, purpose, request, attempts, retryAt, reply, calls }: Step): object {
  return {
    n,
    purpose,
    request: request === null ? null : { attempt: request.attempt, fence: request.fence },
    attempts,
    retryAt,
    finish: reply?.finish ?? null,
    calls: calls.map(callSummary),
  }
}

function callSummary({ record, parent, status, attempt, outcome }: Call): object {
  return { id: record.id, parent, status, attempt, outcome: outcome?.kind ?? null }
}

function endOf(state: State, seen: readonly Message[]): object {
  const { created, usage, grants, settled, stragglers, damage, late, contextSize } = state
  return {
    ...summary(state),
    created,
    usage,
    grants: [...grants],
    settled: [...settled],
    stragglers: [...stragglers.keys()],
    damage,
    late,
    contextSize,
    ...growth(seen, state.context),
  }
}

/** JSON with a line for each item of a list, so that a difference is seen. */
function lines(value: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(value).map(([name, field]) => {
    if (!Array.isArray(field) || field.length === 0) return `  ${JSON.stringify(name)}: ${JSON.stringify(field)}`
    return `  ${JSON.stringify(name)}: [\n${field.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}
