/** A state as text and back, so that opening a long session reads its tail only. Says nothing that the log does not say. */
import type { CallId } from './ids.ts'
import type { Call, Snapshot, State, Step } from './state.ts'

/** Rises when `State` changes shape: an older snapshot is then not used, and the log is folded from its start. */
const SNAPSHOT_FORMAT = 1

export function toSnapshot(state: State): Snapshot {
  const { settled, grants, stragglers, step, ...plain } = state
  const form = {
    format: SNAPSHOT_FORMAT,
    ...plain,
    settled: [...settled],
    grants: [...grants],
    stragglers: [...stragglers],
    step: step === null ? null : { ...step, byId: undefined },
    directives: state.turn?.directives.map((message) => state.context.indexOf(message)) ?? [],
  }
  return JSON.stringify(form) as Snapshot
}

/** Null: a snapshot of another format. Throws on text that is no snapshot at all. */
export function fromSnapshot(text: Snapshot): State | null {
  const { format, settled, grants, stragglers, step, directives, ...plain } = JSON.parse(text) as SnapshotForm
  if (format !== SNAPSHOT_FORMAT) return null
  const state: State = {
    ...plain,
    settled: new Set(settled),
    grants: new Set(grants),
    stragglers: new Map(stragglers),
    step:
      step === null
        ? null
        : { ...step, byId: new Map(step.calls.map((call): [CallId, Call] => [call.record.id, call])) },
  }
  if (state.turn !== null) state.turn.directives = directives.flatMap((at) => directiveAt(state, at))
  return state
}

type SnapshotForm = Omit<State, 'settled' | 'grants' | 'stragglers' | 'step'> & {
  format: number
  settled: Parameters<State['settled']['add']>[0][]
  grants: string[]
  stragglers: [CallId, State['stragglers'] extends Map<CallId, infer Value> ? Value : never][]
  step: Omit<Step, 'byId'> | null
  directives: number[]
}

/** Directives are the very messages of the context: a compaction finds them by identity. */
function directiveAt(state: State, at: number): NonNullable<State['turn']>['directives'] {
  const message = state.context[at]
  return message?.role === 'user' ? [message] : []
}
