/**
 * Logs that break a rule, one for each way to break it: at every event of every golden log, whatever might come next and may not. Each way
 * has a name here, and `spec/README.md` has a row for each name; a way that has none fails the test.
 */
import type { Event } from '../../src/kernel/events.ts'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import { refusal, type RuleBreak } from '../../src/kernel/legality.ts'
import type { State } from '../../src/kernel/state.ts'
import { draftsAt } from './drafts.ts'
import { goldenEvents, goldenNames } from './files.ts'

type Way = readonly [type: string, rule: string, says: RegExp, name: string]

/** A log of which one event is refused. */
export interface BrokenLog {
  /** Without its ending: rule, type of the event, name of the way. */
  readonly name: string
  readonly way: Way
  /** Type of the event that is refused; null: any. */
  readonly type: string | null
  readonly broken: RuleBreak
  readonly events: readonly Event[]
  /** Place of the event that is refused, from 1. */
  readonly seq: number
}

/** The ways to break a rule: type of the event, rule, what the refusal says, name. The first that fits. */
const WAYS: readonly Way[] = [
  ['*', 'L1', /^seq/, 'seq'],
  ['*', 'L1', /before session.created/, 'first'],
  ['*', 'W1', /^fence/, 'fence'],
  ['session.created', 'L1', /twice/, 'twice'],
  ['session.created', 'L6', /^format/, 'newer'],
  ['session.forked', 'L1', /second event/, 'late'],
  ['session.resumed', 'I9', /running/, 'in-turn'],
  ['session.resumed', 'I6', /settled/, 'settled'],
  ['epoch.started', 'X1', /^epoch/, 'number'],
  ['epoch.started', 'X1', /step is open/, 'in-step'],
  ['agent.switched', 'G2', /no turn/, 'no-turn'],
  ['agent.switched', 'G2', /step is open/, 'in-step'],

  ['turn.started', 'T1', /is open/, 'in-turn'],
  ['turn.started', 'T1', /after/, 'number'],
  ['turn.started', 'X1', /no epoch/, 'no-epoch'],
  ['turn.abort-asked', 'I13', /no turn/, 'no-turn'],
  ['turn.abort-asked', 'I13', /already/, 'twice'],
  ['turn.abort-asked', 'I6', /settled/, 'settled'],
  ['turn.limit-asked', 'T4', /no turn/, 'no-turn'],
  ['turn.limit-asked', 'T4', /already/, 'twice'],
  ['turn.limit-asked', 'T4', /step is open/, 'in-step'],
  ['turn.limit-asked', 'T4', /^step/, 'early'],
  ['turn.limit-decided', 'T4', /no turn/, 'no-turn'],
  ['turn.limit-decided', 'A2', /no such question/, 'no-question'],
  ['turn.limit-decided', 'I6', /settled/, 'settled'],
  ['turn.ended', 'T1', /no turn/, 'no-turn'],
  ['turn.ended', 'C12', /step is open/, 'in-step'],
  ['turn.ended', 'T7', /^aborted/, 'aborted'],
  ['turn.ended', 'T3', /sticky/, 'sticky'],
  ['turn.ended', 'T3', /decided/, 'decided'],
  ['turn.ended', 'T3', /not finished/, 'unfinished'],
  ['turn.ended', 'T4', /summary/, 'summary'],
  ['turn.ended', 'T3', /no reply was cut/, 'uncut'],
  ['turn.ended', 'T4', /^step/, 'early'],
  ['turn.ended', 'T5', /vetoes/, 'few-vetoes'],
  ['turn.ended', 'I13', /no abort/, 'unasked'],

  ['input.entered', 'I4', /no turn/, 'no-turn'],
  ['input.entered', 'I1', /settled/, 'settled'],
  ['input.entered', 'X8', /empty/, 'empty'],
  ['input.entered', 'I4', /gate/, 'no-gate'],
  ['input.entered', 'T7', /aborted/, 'aborted'],
  ['input.rejected', 'I6', /settled/, 'settled'],

  ['step.started', 'T1', /no turn/, 'no-turn'],
  ['step.started', 'T1', /is open/, 'in-step'],
  ['step.started', 'T7', /aborted/, 'aborted'],
  ['step.started', 'T1', /the turn ends/, 'ending'],
  ['step.started', 'T4', /second summary/, 'second-summary'],
  ['step.started', 'T4', /more than/, 'over-limit'],
  ['step.started', 'T4', /^step/, 'early-summary'],
  ['step.refused', 'T11', /no turn/, 'no-turn'],
  ['step.refused', 'T11', /asked already/, 'asked'],
  ['step.ended', 'T1', /no step/, 'no-step'],
  ['step.ended', 'T1', /model call/, 'open-request'],
  ['step.ended', 'C2', /calls are open/, 'open-calls'],

  ['model.requested', 'T1', /no step/, 'no-step'],
  ['model.requested', 'T7', /aborted/, 'aborted'],
  ['model.requested', 'T10', /failed/, 'failed'],
  ['model.requested', 'T10', /one model call/, 'second'],
  ['model.requested', 'T10', /^attempt/, 'number'],
  ['model.requested', 'X1', /messages of/, 'messages'],
  ['model.requested', 'X1', /nothing/, 'nothing'],
  ['model.requested', 'T4', /tools/, 'tools'],
  ['model.failed', 'T1', /no step/, 'no-step'],
  ['model.failed', 'T10', /not open/, 'number'],
  ['model.failed', 'W1', /fence/, 'fence'],
  ['reply.completed', 'T1', /no step/, 'no-step'],
  ['reply.completed', 'T10', /not open/, 'number'],
  ['reply.completed', 'W1', /fence/, 'fence'],
  ['reply.completed', 'T3', /empty/, 'empty'],
  ['reply.completed', 'C1', /call id/, 'id'],
  ['reply.completed', 'C2', /disagree/, 'parts'],
  ['reply.interrupted', 'T1', /no step/, 'no-step'],
  ['reply.interrupted', 'T10', /not open/, 'number'],

  ['call.requested', 'C2', /no step/, 'no-step'],
  ['call.requested', 'C1', /twice/, 'id'],
  ['call.requested', 'C2', /its own event/, 'of-reply'],
  ['call.requested', 'C2', /parent/, 'parent'],
  ['call.approval-asked', 'A2', /no step/, 'no-step'],
  ['call.approval-asked', 'A2', /no call/, 'no-call'],
  ['call.approval-asked', 'A2', / is /, 'status'],
  ['call.approval-decided', 'A2', /no step/, 'no-step'],
  ['call.approval-decided', 'A2', /no call/, 'no-call'],
  ['call.approval-decided', 'A2', / is /, 'status'],
  ['call.approval-decided', 'I6', /settled/, 'settled'],
  ['call.deferred', 'A4', /no step/, 'no-step'],
  ['call.deferred', 'A4', /no call/, 'no-call'],
  ['call.deferred', 'A4', / is /, 'status'],
  ['call.started', 'C3', /no step/, 'no-step'],
  ['call.started', 'C3', /no call/, 'no-call'],
  ['call.started', 'C3', /^start /, 'number'],
  ['call.started', 'C3', / is /, 'status'],
  ['call.started', 'T7', /aborted/, 'aborted'],
  ['call.started', 'T4', /limit/, 'summary'],
  ['call.started', 'C8', /^the reply ended/, 'cut'],
  ['call.started', 'C8', /arguments/, 'unread'],
  ['call.started', 'C4', /write/, 'write-again'],
  ['call.started', 'C4', /fence/, 'same-fence'],
  ['call.started', 'A2', /approved/, 'other-args'],
  ['call.started', 'C6', /first/, 'order'],
  ['call.ended', 'C2', /no step/, 'no-step'],
  ['call.ended', 'C2', /no call/, 'no-call'],
  ['call.ended', 'C2', / is ended/, 'twice'],
  ['call.ended', 'C2', / is /, 'status'],
  ['call.ended', 'C2', /content/, 'empty'],
  ['call.ended', 'I6', /settled/, 'settled'],
  ['call.ended-late', 'C5', /not waited/, 'not-waited'],
  ['call.ended-late', 'I6', /settled/, 'settled'],
  ['child.spawned', 'G1', /no step/, 'no-step'],
  ['child.spawned', 'G1', /no call/, 'no-call'],
  ['child.spawned', 'G1', / is /, 'status'],
  ['child.ended', 'I6', /settled/, 'settled'],

  ['stop.vetoed', 'T5', /no turn/, 'no-turn'],
  ['stop.vetoed', 'X8', /empty/, 'empty'],
  ['stop.vetoed', 'T5', /step is open/, 'in-step'],
  ['stop.vetoed', 'T5', /more than/, 'over-limit'],
  ['stop.vetoed', 'T7', /aborted/, 'aborted'],
  ['context.compacted', 'X3', /step is open/, 'in-step'],
  ['context.compacted', 'X3', /^up to/, 'range'],
  ['context.compacted', 'X3', /lose its call/, 'orphan'],
  ['context.compacted', 'X3', /in place of/, 'longer'],
  ['loop.noted', 'I6', /settled/, 'settled'],
]

/** Lines that stay behind the event that is refused: whoever names the last line of a file has not found it. */
const BEHIND = 2

/** The shortest log for each way, in order of their names. Throws on a refusal that no way fits, and on a way that no log shows. */
export function brokenLogs(): BrokenLog[] {
  const found = new Map<string, BrokenLog>()
  for (const base of bases()) {
    const state = emptyState()
    for (let cut = 0; cut <= base.length; cut++) {
      addBroken(found, state, base)
      if (cut < base.length) fold(state, base[cut]!)
    }
  }
  const shown = new Set([...found.values()].map(({ way }) => way))
  const idle = WAYS.filter((way) => !shown.has(way))
  if (idle.length > 0)
    throw new Error(`no golden log shows ${idle.map(([type, , , name]) => `${type} ${name}`).join(', ')}`)
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** The golden logs, and one that opens a step with nothing in the context. */
function bases(): Event[][] {
  const golden = goldenNames().map(goldenEvents)
  const start = golden[0]!.findIndex(({ type }) => type === 'turn.started') + 1
  const opening = golden[0]!.slice(0, start)
  const head = { ...opening.at(-1)!, seq: start + 1, step: 1 }
  const { seq, at, fence, turn, step } = head
  return [...golden, [...opening, { type: 'step.started', purpose: 'step', seq, at, fence, turn, step }]]
}

function addBroken(found: Map<string, BrokenLog>, state: State, base: readonly Event[]): void {
  const { seq: cut } = state
  for (const draft of draftsAt(state)) {
    const broken = refusal(state, draft)
    if (broken === null) continue
    const way = wayOf(draft, broken)
    // A log with something in it says more of a seq than an empty one.
    if (way[3] === 'seq' && cut < 3) continue
    const name = nameOf(way, draft, cut)
    if ((found.get(name)?.seq ?? Infinity) <= cut + 1) continue
    const events = [...base.slice(0, cut), draft, ...base.slice(cut, cut + BEHIND)]
    found.set(name, { name, way, type: way[0] === '*' ? null : way[0], broken, events, seq: cut + 1 })
  }
}

function wayOf(event: Event, { rule, problem }: RuleBreak): Way {
  const way = WAYS.find(
    ([type, of, says]) => (type === '*' || type === event.type) && of === rule && says.test(problem),
  )
  if (way === undefined) throw new Error(`no way of test/spec/broken.ts is "${event.type} ${rule}: ${problem}"`)
  return way
}

/** What one way means for different events of its type has several logs. */
function nameOf([type, rule, , way]: Way, event: Event, tail: number): string {
  if (way === 'seq') return `${rule}-seq-${event.seq > tail ? 'gap' : 'again'}`
  if (event.type === 'call.ended' && way === 'status') return `${rule}-${type}-${way}-${event.outcome.kind}`
  return type === '*' ? `${rule}-${way}` : `${rule}-${type}-${way}`
}
