/**
 * A tool that asks a person first. Run it: it stops at the question, and the process ends. Run it again: the answer is given, and the
 * same step goes on; what runs is what was approved, once.
 */
import { appendFile } from 'node:fs/promises'
import { agent, open, tool } from 'turnstep'
import { z } from 'zod'
import { offline } from './offline.ts'

const refund = tool({
  name: 'refund',
  description: 'Pay back an order',
  effect: 'write',
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: ({ order, amount }) => amount > 20 && `Refund ${amount} EUR for order ${order}?`,
  run: async ({ order, amount }, { idempotencyKey }) => {
    await appendFile('refunds.csv', `${order},${amount},${idempotencyKey}\n`)
    return `Refunded ${amount} EUR.`
  },
})
const model = process.env['DEEPSEEK_API_KEY'] ? 'deepseek/deepseek-chat' : offline
const clerk = agent({ model, instructions: 'You handle refunds.', tools: [refund] })

const session = await open(clerk, { session: 'order-7' })
const before = await session.settled()
if (before.kind === 'waiting') {
  for (const ask of before.asks) {
    console.log(`approved: ${ask.reason}`)
    await session.approve(ask.call)
  }
} else await session.send('Order 7 arrived broken, please refund its 42 EUR.', { id: 'order-7-refund' }) // said once, however often this runs

const after = await session.settled()
if (after.kind === 'waiting') for (const ask of after.asks) console.log(`waiting: ${ask.reason}`)
else console.log(after.kind)
await session.close()
