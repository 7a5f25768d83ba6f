import { describe, expect, it } from 'vitest'
import { emptyState } from '../kernel/fold.ts'
import type { Call, State } from '../kernel/state.ts'
import { scriptedModel } from '../models/scripted/index.ts'
import { agent } from '../runtime/define/agent.ts'
import { tool } from '../runtime/define/define-tool.ts'
import type { Cli } from './cli.ts'
import { refuseForeignTurn } from './foreign.ts'
import { en } from './texts/en.ts'

const cli = { texts: en } as Cli
const ours = agent({
  model: scriptedModel([]),
  tools: [tool({ name: 'ours', description: 'one', input: { type: 'object' }, run: () => '' })],
})

function amid(name: string, status: Call['status']): State {
  const call = { record: { name }, status } as Call
  return { ...emptyState(), step: { calls: [call] } as unknown as NonNullable<State['step']> }
}

describe('going on with a turn', () => {
  it.each(['asked', 'approved', 'deferred', 'started', 'refused'] as const)(
    'A2: that has a call of another agent (%s) is refused, naming its tool',
    (status) => {
      expect(() => refuseForeignTurn(cli, 's', amid('refund', status), ours)).toThrow(
        expect.objectContaining({ code: 'agent-mismatch', message: expect.stringContaining('"refund"') }),
      )
    },
  )

  it('that is ours, has nothing open, or names a tool that nobody had, is not', () => {
    for (const state of [emptyState(), amid('ours', 'asked'), amid('refund', 'ended'), amid('made-up', 'requested')]) {
      expect(() => refuseForeignTurn(cli, 's', state, ours)).not.toThrow()
    }
  })
})
