/** What a model saw, rebuilt from the log (L2). */
import { TurnstepError } from '../../kernel/errors.ts'
import type { EventOf } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { State } from '../../kernel/state.ts'
import { damagedLog, loadWhole } from '../runner/load.ts'
import type { Store } from '../ports.ts'
import type { RequestContext } from '../session.ts'

/** Without `at`: what it would see now. With it: what the last model call of that step saw. */
export async function requestContext(
  store: Store,
  session: SessionId,
  at?: { readonly turn: number; readonly step: number },
): Promise<RequestContext> {
  if (at === undefined) return describe(await loadWhole(store, session), { purpose: 'step', toolChoice: 'auto' })
  const state = emptyState()
  let found: RequestContext | null = null
  const { events, damage } = await store.read(session)
  for (const event of events) {
    fold(state, event)
    if (event.turn > at.turn) break
    if (event.type === 'model.requested' && event.turn === at.turn && event.step === at.step)
      found = describe(state, event)
  }
  if (found === null && damage !== null) throw damagedLog(session, damage)
  if (found === null)
    throw new TurnstepError(
      'step-missing',
      `session "${session}" has no model call in turn ${at.turn}, step ${at.step}; \`history\` lists what there is`,
    )
  return found
}

function describe(
  state: State,
  { purpose, toolChoice, options }: Pick<EventOf<'model.requested'>, 'purpose' | 'toolChoice' | 'options'>,
): RequestContext {
  const content = state.epoch?.content
  const { n: epoch } = state.epoch ?? { n: 0 }
  const more = options === undefined ? {} : { options }
  return {
    system: content?.system ?? '',
    tools: content?.tools ?? [],
    messages: state.context.slice(),
    purpose,
    toolChoice,
    epoch,
    ...more,
  }
}
