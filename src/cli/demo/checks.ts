/** What the demo claims, checked on what can be seen from outside: the log, the record of the bank, the processes. */
import type { Event, EventOf, EventType } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import type { CallId } from '../../kernel/ids.ts'
import type { Damage } from '../../runtime/ports.ts'
import { decimal, expectedTotal, type Scene } from './scene.ts'
import type { WorkerEnd } from './worker-process.ts'

export interface Evidence {
  /** The log as it was seen, in order. */
  events: readonly Event[]
  /** Process ids by the fence they wrote under. */
  readonly writers: Map<number, number>
  /** Lines in the record of the bank. */
  payments: readonly string[]
  /** How the first process ended. */
  killed: WorkerEnd | null
  /** How the second process ended. */
  ended: WorkerEnd | null
  /** What the next request said of the write that was left open. */
  told: string | null
  /** What the store found when it read everything back; undefined: it was not asked. */
  damage: Damage | null | undefined
  /** Processes of the demo that the system still knows. */
  left: readonly number[]
}

export type CheckName =
  | 'steerEntered'
  | 'steerObeyed'
  | 'killedMidWrite'
  | 'sameTurn'
  | 'toldUnknown'
  | 'notRepeated'
  | 'paidOnce'
  | 'followupWaited'
  | 'chainIntact'
  | 'foldsLegally'
  | 'processesGone'

export type Checks = Readonly<Record<CheckName, boolean>>

/** Every claim, and whether it holds. */
export function checkAll(evidence: Evidence, scene: Scene): Checks {
  const { events, writers, payments, killed, ended, told, damage, left } = evidence
  const write = writeOf(events)
  return {
    steerEntered: steerEntered(events),
    steerObeyed: payments[0]?.includes(`,${decimal(expectedTotal(scene))},`) === true,
    killedMidWrite: killed?.signal === 'SIGKILL' && write !== null && write.started.fence < write.ended.fence,
    sameTurn: sameTurn(events) && ended?.code === 0,
    toldUnknown: write?.ended.outcome.kind === 'unknown' && told !== null && told !== '',
    notRepeated: write !== null && write.starts === 1 && looked(events, write.ended.seq, scene.bank),
    paidOnce: payments.length === 1,
    followupWaited: followupWaited(events),
    chainIntact: damage === null,
    foldsLegally: foldsLegally(events),
    processesGone: left.length === 0 && writers.size > 0,
  }
}

/** The facts of the one write that was killed; null where they are not all there. */
function writeOf(events: readonly Event[]) {
  const id = callOf(events, 'pay')
  const starts = all(events, 'call.started').filter((event) => event.call === id)
  const ended = all(events, 'call.ended').find((event) => event.call === id)
  const [started] = starts
  return started === undefined || ended === undefined ? null : { started, ended, starts: starts.length }
}

/** The first call of this tool. */
export function callOf(events: readonly Event[], tool: string): CallId | undefined {
  const calls = all(events, 'reply.completed').flatMap((event) => event.calls)
  return calls.find(({ name }) => name === tool)?.id
}

function steerEntered(events: readonly Event[]): boolean {
  const at = events.findIndex((event) => event.type === 'input.entered' && event.lane === 'steer')
  if (at === -1) return false
  // The gate may be passed before or after the step is opened; what matters is that no request stands in between.
  const before = events.slice(0, at).findLast(({ type }) => type !== 'step.ended' && type !== 'step.started')
  const next = events.slice(at).find(({ type }) => type === 'model.requested' || type.startsWith('call.'))
  return before?.type === 'call.ended' && next?.type === 'model.requested' && next.turn === before.turn
}

function sameTurn(events: readonly Event[]): boolean {
  const starts = all(events, 'turn.started').filter(({ turn }) => turn === 1)
  const end = all(events, 'turn.ended').find(({ turn }) => turn === 1)
  return starts.length === 1 && end?.outcome.kind === 'completed' && end.fence > starts[0]!.fence
}

/** The model read the record of the bank after it was told. */
function looked(events: readonly Event[], after: number, bank: string): boolean {
  const replies = all(events, 'reply.completed').filter(({ seq }) => seq > after)
  return replies.some(({ calls }) => calls.some(({ name, args }) => name === 'read_file' && args?.['path'] === bank))
}

function followupWaited(events: readonly Event[]): boolean {
  const entered = all(events, 'input.entered').find(({ lane, turn }) => lane === 'followup' && turn === 2)
  const ends = all(events, 'turn.ended')
  const [first, second] = ends
  return entered !== undefined && entered.seq > first!.seq && second?.outcome.kind === 'completed' && ends.length === 2
}

function foldsLegally(events: readonly Event[]): boolean {
  const state = emptyState()
  return events.length > 0 && events.every((event) => fold(state, event) === null)
}

function all<Type extends EventType>(events: readonly Event[], type: Type): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type)
}
