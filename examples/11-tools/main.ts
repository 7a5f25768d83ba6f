/** What a tool declares, and what comes of it: order, approval, a result that comes later, an honest answer after a crash. */
import { defer, tool } from 'turnstep'
import { z } from 'zod'

/** A bank, as far as the tools need one. Payments have the caller's reference on them, so that a second one can be told from a first. */
export interface Bank {
  balance(account: string): Promise<number>
  pay(payment: {
    readonly from: string
    readonly to: string
    readonly amount: number
    readonly reference: string
  }): Promise<void>
  find(reference: string): Promise<{ readonly to: string; readonly amount: number } | null>
}

export function bankTools(bank: Bank) {
  const balance = tool({
    name: 'balance',
    description: 'The balance of an account',
    effect: 'read',
    input: z.object({ account: z.string() }),
    resources: ({ account }) => [{ name: `account:${account}`, mode: 'read' }],
    run: async ({ account }) => `${account}: ${await bank.balance(account)}`,
  })

  const pay = tool({
    name: 'pay',
    description: 'Pay an amount from an account',
    effect: 'write',
    input: z.object({ from: z.string(), to: z.string(), amount: z.number().positive() }),
    resources: ({ from }) => [{ name: `account:${from}`, mode: 'write' }],
    approval: ({ amount, to }) => amount > 100 && `Pay ${amount} to ${to}?`,
    timeoutMs: 30_000,
    run: async ({ from, to, amount }, { idempotencyKey }) => {
      await bank.pay({ from, to, amount, reference: idempotencyKey })
      return `Paid ${amount} to ${to}.`
    },
    reconcile: async (key) => {
      const found = await bank.find(key)
      return found === null ? null : `Paid ${found.amount} to ${found.to}, before the interruption.`
    },
  })

  const askBoss = tool({
    name: 'ask_boss',
    description: 'Ask the boss something; the answer may take days',
    effect: 'read',
    input: z.object({ question: z.string() }),
    run: ({ question }) => defer(`the boss: ${question}`, { expiresInMs: 7 * 24 * 3_600_000 }),
  })

  return [balance, pay, askBoss]
}
