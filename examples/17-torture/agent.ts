/**
 * A clerk whose bank is a file. Torture it: `npx turnstep torture ./agent.ts` kills it wherever it can die, and asks `check` each time
 * what the bank says. `CARELESS=1` shows what it finds: a letter that is written again although it is the same letter.
 */
import { appendFile, readFile } from 'node:fs/promises'
import { agent, tool } from 'turnstep'
import type { TortureRun } from 'turnstep/testing'
import { z } from 'zod'

const BANK = 'bank.csv'
const LETTERS = 'letters.csv'

/** Lines of a file in the working folder: every run of a torture has one of its own. */
async function lines(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

const refund = tool({
  name: 'refund',
  description: 'Pay back an order',
  effect: 'write',
  input: z.object({ order: z.string().meta({ examples: ['order-7'] }), amount: z.number().positive() }),
  approval: ({ amount }) => amount > 0.5,
  run: async ({ order, amount }, { idempotencyKey }) => {
    await appendFile(BANK, `${idempotencyKey},${order},${amount}\n`)
    return `Refunded ${amount} EUR.`
  },
  reconcile: async (key) => {
    const found = (await lines(BANK)).some((line) => line.startsWith(`${key},`))
    return found ? 'Refunded, before the interruption.' : null
  },
})

const write = tool({
  name: 'write_letter',
  description: 'Tell the customer',
  effect: 'idempotent',
  input: z.object({ text: z.string() }),
  run: async ({ text }, { idempotencyKey }) => {
    const isWritten = (await lines(LETTERS)).some((line) => line.startsWith(`${idempotencyKey},`))
    if (!isWritten || process.env['CARELESS']) await appendFile(LETTERS, `${idempotencyKey},${text}\n`)
    return 'Sent.'
  },
})

export default agent({
  name: 'clerk',
  model: 'deepseek/deepseek-chat',
  instructions: 'You handle refunds.',
  tools: [refund, write],
})

/** Looks at the outside world after each run; every text is a complaint. */
export async function check({ calls }: TortureRun): Promise<readonly string[]> {
  const done = [...(await lines(BANK)), ...(await lines(LETTERS))].map((line) => line.split(',')[0]!)
  const twice = done.filter((key, index) => done.indexOf(key) !== index)
  const missing = calls.filter(({ outcome, key }) => outcome === 'ok' && key !== null && !done.includes(key))
  return [
    ...twice.map((key) => `done twice: ${key}`),
    ...missing.map(({ tool: name, key }) => `${name} says that it is done, and it is not: ${key}`),
  ]
}
