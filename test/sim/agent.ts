/**
 * The agent of our own simulation: tools of every effect class, with and without resources, approval and reconciliation, whose services
 * answer as chance has it; and limits that are met.
 */
import type { EffectClass } from '../../src/kernel/events.ts'
import { agent, type AgentLimits, type AgentSpec } from '../../src/runtime/define/agent.ts'
import { tool } from '../../src/runtime/define/define-tool.ts'
import { defer, type Tool, type ToolDefinition, type ToolResult } from '../../src/runtime/define/tool.ts'
import type { SimCheck, SimWorld } from '../../src/testing/sim/sim.ts'
import { testPlugins } from '../setup/plugins.ts'

/** What a service answers. */
type Answer = readonly [kind: 'says' | 'fails' | 'busy' | 'later', text: string] | readonly ['later', string, number]

const INPUT = { type: 'object', properties: { n: { type: 'integer', minimum: 0, maximum: 5 } } } as const

export function simulatedAgent(world: SimWorld): AgentSpec {
  world.check(lastMessageIsAnswered())
  return agent({
    model: 'moody',
    instructions: 'Do as you are told.',
    tools: [
      service(world, 'look', 'read'),
      service(world, 'peek', 'read', { resources: () => [{ name: 'a', mode: 'read' }] }),
      service(world, 'put', 'idempotent', { resources: () => [{ name: 'b', mode: 'write' }] }),
      service(world, 'save', 'write', { resources: () => [{ name: 'a', mode: 'write' }] }),
      service(world, 'pay', 'write', { approval: true }),
      service(world, 'order', 'write', {
        resources: () => [{ name: 'c', mode: 'write' }],
        reconcile: () => world.decide('found', 'found out', (chance) => chance.pick(['found out', null])),
      }),
    ],
    plugins: testPlugins,
    limits: world.decide<Limits>('limits', {}, (chance) => ({
      steps: 2 + chance.below(6),
      atSteps: chance.pick(['error', 'summary', 'handback', 'ask'] as const),
      followups: chance.pick(['one', 'all'] as const),
      afterFailure: chance.pick(['hold', 'hold', 'hold', 'continue'] as const),
      graceMs: 500 + chance.below(3_000),
      pool: 1 + chance.below(4),
    })),
  })
}

type Limits = { readonly [Name in keyof AgentLimits]: AgentLimits[Name] & (string | number) }

function service(world: SimWorld, name: string, effect: EffectClass, more: Partial<ToolDefinition> = {}): Tool {
  return tool({
    name,
    description: `the service ${name}`,
    effect,
    input: INPUT,
    timeoutMs: 6_000,
    ...more,
    run: () => resultOf(answerOf(world, name)),
  })
}

function answerOf(world: SimWorld, name: string): Answer {
  return world.decide<Answer>(`answer ${name}`, SAYS, (chance) =>
    chance.weighted<() => Answer>([
      [name === 'order' ? 0 : 60, () => ['says', `result ${chance.below(50)}`]],
      [8, () => ['fails', 'failed']],
      [5, () => ['busy', 'busy']],
      [name === 'order' ? 40 : 2, () => (chance.is(0.3) ? ['later', 'waits', 4_000] : ['later', 'waits'])],
    ])(),
  )
}

const SAYS: Answer = ['says', 'calm']

function resultOf([kind, text, expiresInMs]: Answer): ToolResult {
  switch (kind) {
    case 'says':
      return text
    case 'fails':
      throw new Error(text)
    case 'busy':
      return { error: { code: 'busy', message: text, retryable: true } }
    case 'later':
      return defer(text, expiresInMs === undefined ? {} : { expiresInMs })
  }
}

/** However it came to rest, the next message is answered. */
function lastMessageIsAnswered(): SimCheck {
  return {
    name: 'last message',
    end(seen) {
      const last = seen.log.findLast((event) => event.type === 'turn.ended')
      if (last?.type === 'turn.ended' && last.outcome.kind !== 'completed')
        seen.fail('last message', `the last message ended ${last.outcome.kind}`)
    },
  }
}
