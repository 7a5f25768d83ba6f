/** From a stored log to a state: the newest usable snapshot, then the events after it. Reads only (L4). */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import type { SessionId } from '../../kernel/ids.ts'
import { fromSnapshot } from '../../kernel/snapshot.ts'
import type { State } from '../../kernel/state.ts'
import type { PluginFold } from '../define/plugin-host.ts'
import type { Damage, Store } from '../ports.ts'

export interface Loaded {
  readonly state: State
  readonly damage: Damage | null
  /** Events folded: what a snapshot should spare the next one. */
  readonly folded: number
}

/** Folds the log. Plugins' own folds need it from its first event, so a snapshot is used only where there are none. */
export async function loadState(store: Store, session: SessionId, folds: readonly PluginFold[] = []): Promise<Loaded> {
  const start = folds.length === 0 ? await fromNewestSnapshot(store, session) : null
  const state = start ?? emptyState()
  const { events, damage } = await store.read(session, { after: state.seq })
  for (const own of folds) own.reset(session)
  foldAll(session, state, events)
  for (const own of folds) for (const event of events) own.apply(session, event)
  return { state, damage, folded: events.length }
}

/** Has folds of plugins that join a session read its log from the first event. */
export async function foldOwn(store: Store, session: SessionId, folds: readonly PluginFold[]): Promise<void> {
  if (folds.length === 0) return
  const { events } = await store.read(session)
  for (const own of folds) own.reset(session)
  for (const own of folds) for (const event of events) own.apply(session, event)
}

/** What a reader gets who comes to where the log cannot be read any more (L5). */
export function damagedLog(session: SessionId, damage: Damage): TurnstepError {
  const { from, reason } = damage
  const message = `the log of session "${session}" is damaged from event ${from} on: ${reason}; what comes before it can be read with \`limit\`, and opening the session for work sets the rest aside and goes on`
  return new TurnstepError('log-damaged', message, { data: { session, from, reason } })
}

/** The state of a whole log. Throws `log-damaged` rather than to show a part of it as if it were all (L5). */
export async function loadWhole(store: Store, session: SessionId): Promise<State> {
  const { state, damage } = await loadState(store, session)
  if (damage !== null) throw damagedLog(session, damage)
  return state
}

async function fromNewestSnapshot(store: Store, session: SessionId): Promise<State | null> {
  const stored = await store.readSnapshot(session)
  if (stored === null) return null
  try {
    return fromSnapshot(stored.snapshot)
  } catch {
    // A snapshot says nothing that the log does not say: without it the log is folded from its start.
    return null
  }
}

/** Folds events that were accepted once; one that is illegal now means a damaged log or a version that is too old for it. */
export function foldAll(session: SessionId, state: State, events: readonly Event[]): void {
  for (const event of events) {
    const broken = fold(state, event)
    if (broken === null) continue
    if (broken.rule === 'L6')
      throw new TurnstepError(
        'format-newer',
        `session "${session}" was written by a newer version: ${broken.problem}; update turnstep`,
      )
    throw new TurnstepError(
      'log-damaged',
      `event ${event.seq} (${event.type}) of session "${session}" breaks ${broken.rule}: ${broken.problem}; run \`turnstep verify ${session}\``,
      {
        data: { session, seq: event.seq, rule: broken.rule },
      },
    )
  }
}
