/** The agent under simulation: it pays money back through a service that may be slow, fail, or lose its answer. */
import { agent, tool, type AgentSpec } from 'turnstep'

/** The service. It knows a refund by its reference, and pays each reference once. */
export class Bank {
  readonly paid = new Map<string, number>()
  /** Everything that left the account. */
  total = 0

  pay(reference: string, amount: number): void {
    if (this.paid.has(reference)) return
    this.paid.set(reference, amount)
    this.total += amount
  }
}

/** `referenceOf`: how a refund is known to the bank. */
export function refundAgent(bank: Bank, referenceOf: (order: string, key: string) => string): AgentSpec {
  return agent({
    model: 'deepseek/deepseek-chat',
    instructions: 'Refund orders. Ask before you pay more than 50.',
    tools: [
      tool<{ readonly order: string; readonly amount: number }>({
        name: 'refund',
        description: 'Pay the amount of an order back',
        effect: 'idempotent',
        input: {
          type: 'object',
          properties: { order: { type: 'string' }, amount: { type: 'integer', minimum: 1, maximum: 99 } },
          required: ['order', 'amount'],
        },
        approval: ({ amount }) => amount > 50,
        timeoutMs: 10_000,
        run: ({ order, amount }, { idempotencyKey }) => {
          bank.pay(referenceOf(order, idempotencyKey), amount)
          return `Order ${order}: ${amount} paid back.`
        },
      }),
    ],
  })
}
