import { TurnstepError } from '../kernel/errors.ts'
import type { State } from '../kernel/state.ts'
import type { AgentSpec } from '../runtime/define/agent.ts'
import type { Cli } from './cli.ts'

/**
 * Refuses to go on with a turn of another agent: a call that it let through, or asks about, would be closed here as unknown to us, and
 * what was approved would never be done. Throws `agent-mismatch`.
 */
export function refuseForeignTurn({ texts }: Cli, session: string, { step }: State, agent: AgentSpec): void {
  // Plugins bring tools of their own, which nobody knows before they are loaded.
  if ((agent.plugins ?? []).length > 0) return
  const offered = new Set((agent.tools ?? []).map((tool) => tool.name))
  const foreign = step?.calls.find(
    ({ status, record }) => status !== 'requested' && status !== 'ended' && !offered.has(record.name),
  )
  if (foreign === undefined) return
  const { name } = foreign.record
  throw new TurnstepError('agent-mismatch', texts.foreignTurn(session, name), { data: { session, tool: name } })
}
