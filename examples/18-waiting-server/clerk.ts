/** An agent that asks a person before it pays much back, and a model that stands in for a provider where there is no key. */
import { agent, scriptedModel, tool, type AgentSpec } from 'turnstep'
import { z } from 'zod'

export function clerk(pay: (order: string, amount: number, key: string) => void): AgentSpec {
  const refund = tool({
    name: 'refund',
    description: 'Pay back an order',
    effect: 'write',
    input: z.object({ order: z.string(), amount: z.number() }),
    approval: ({ order, amount }) => amount > 20 && `Refund ${amount} EUR for order ${order}?`,
    run: ({ order, amount }, { idempotencyKey }) => {
      pay(order, amount, idempotencyKey)
      return `Refunded ${amount} EUR.`
    },
  })
  return agent({ model: offline, instructions: 'You handle refunds.', tools: [refund] })
}

const offline = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { emit: [{ text: last.outcome === 'ok' ? 'Done.' : 'It was not refunded.' }] }
  return { emit: [{ call: { name: 'refund', args: { order: '7', amount: 42 } } }] }
})
