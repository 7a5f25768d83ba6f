/**
 * The runner's epochs (X1). Owns when one begins; what is in it is the agent's, and that no request goes out of line with it the fold's.
 * Invariant: after a call the epoch's system text, tools and model are those of the agent that goes on.
 */
import type { Run } from './run.ts'

/** Begins a new epoch wherever system text, tools or model are not those of the last one (X1). Contract: no step is open. */
export function ensureEpoch({ agent, state, journal }: Run, why: 'changed' | 'switched' = 'changed'): void {
  const { content } = agent
  const { epoch } = state
  if (epoch?.content.hash === content.hash) return
  const reason = epoch === null ? 'created' : why
  journal.record({ type: 'epoch.started', n: (epoch?.n ?? 0) + 1, reason, content })
}
