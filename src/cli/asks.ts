/** Questions that wait for a person: which there are, how they are shown, which one is meant. */
import { isTurnstepError, TurnstepError } from '../kernel/errors.ts'
import type { SessionId } from '../kernel/ids.ts'
import { loadState } from '../runtime/runner/load.ts'
import type { Store } from '../runtime/ports.ts'
import type { Ask } from '../runtime/session.ts'
import { asksOf } from '../runtime/runner/status.ts'
import { usage, type Cli } from './cli.ts'
import { argsText } from './describe.ts'
import { visible, visibleLines } from './visible.ts'

/** All open questions, also while other calls of the same step still run. */
export async function openAsks(store: Store, session: SessionId): Promise<Ask[]> {
  return asksOf((await loadState(store, session)).state)
}

/** How many questions are open; null: what is in the log cannot be read. Most sessions are told by their last event. */
export async function countAsks(store: Store, session: SessionId, tail: number): Promise<number | null> {
  try {
    const { events } = await store.read(session, { after: Math.max(0, tail - 1), limit: 1 })
    const last = events.at(-1)
    if (last !== undefined && (last.turn === 0 || last.type === 'turn.ended')) return 0
    const { state, damage } = await loadState(store, session)
    return damage === null ? asksOf(state).length : null
  } catch (error) {
    if (isTurnstepError(error, 'log-damaged') || isTurnstepError(error, 'format-newer')) return null
    throw error
  }
}

/** Whatever in it is not ours is shown as it is: no hidden characters, and no line that could pass for another question. */
function askLine({ texts: { asking } }: Cli, ask: Ask, n: number): string {
  const call = visible(ask.call)
  const tool = visible(ask.tool)
  const reason = visibleLines(ask.reason)
  switch (ask.kind) {
    case 'approval':
      return asking.approval(n, call, tool, argsText(ask.args), reason).trimEnd()
    case 'deferred':
      return asking.deferred(n, call, tool, reason)
    case 'step-limit':
      return asking['step-limit'](n, call, reason)
  }
}

/** Shows the questions, numbered from 1. */
export function showAsks(cli: Cli, asks: readonly Ask[]): void {
  cli.out.question(cli.texts.waiting(asks.length))
  for (const [index, ask] of asks.entries()) {
    cli.out.line({ type: 'ask', ...ask })
    cli.out.question(askLine(cli, ask, index + 1))
  }
}

/** The question that is meant: by call id, by its number, or the only one. Throws `ask-missing` and, after listing, `usage-invalid`. */
export function pickAsk(cli: Cli, session: string, asks: readonly Ask[], which: string | undefined): Ask {
  const { texts } = cli
  if (which !== undefined) {
    const found = asks.find((ask, index) => ask.call === which || String(index + 1) === which)
    if (found !== undefined) return found
    throw new TurnstepError('ask-missing', texts.noSuchAsk(which, asks.map((ask) => ask.call).join(', ')))
  }
  const [only] = asks
  if (only === undefined) throw new TurnstepError('ask-missing', texts.noAsk(session))
  if (asks.length === 1) return only
  showAsks(cli, asks)
  throw usage(texts.severalAsks(asks.length))
}
