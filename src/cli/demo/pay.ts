/** The tool `pay`: the one of the demo that must not run twice, and is killed in the middle. */
import { appendFile } from 'node:fs/promises'
import { tool } from '../../runtime/define/define-tool.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import type { Desk } from './desk.ts'

interface PayArgs {
  readonly to: string
  /** A plain decimal. */
  readonly amount: string
  readonly reference: string
}

/** Far longer than the demo lets the process live. If nobody kills it, the payment goes through and the demo says so. */
const ANSWER_MS = 15_000

/**
 * Orders a payment: a line in the record of the bank at once, the answer much later. A `write` without `reconcile`: a bank that
 * cannot be asked by key, so that after a crash the outcome is `unknown` and the model has to look (C4).
 */
export function payTool({ bank }: Desk): Tool {
  return tool<PayArgs>({
    name: 'pay',
    description: 'Order the bank to pay. The order stands in its record at once; its answer may take a while.',
    effect: 'write',
    input: {
      type: 'object',
      properties: {
        to: { type: 'string', description: 'Who gets the money' },
        amount: { type: 'string', pattern: '^\\d+\\.\\d\\d$', description: 'Such as 12.50' },
        reference: { type: 'string', description: 'What it is for; names the payment in the record' },
      },
      required: ['to', 'amount', 'reference'],
      additionalProperties: false,
    },
    async run({ to, amount, reference }, { call, clock, signal }) {
      await appendFile(bank, `${reference},${to},${amount},${call}\n`)
      await bankAnswers(clock, signal)
      return `The bank has paid ${amount} to ${to}.`
    },
  })
}

function bankAnswers(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel()
      reject(signal.reason as Error)
    }
    const cancel = clock.after(ANSWER_MS, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}
