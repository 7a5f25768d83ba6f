/** A plugin in two hooks: what the agent may not do, and what it must have done before its turn may end. */
import { agent, open, tool, type Plugin } from 'turnstep'
import { z } from 'zod'
import { offline } from './offline.ts'

const houseRules: Plugin = {
  name: 'house-rules',
  setup(scope) {
    scope.section({ name: 'house-rules', text: 'Order for at most 100 EUR. End with a line "Total: …".' })
    scope.on('decideCall', ({ record, args }) =>
      record.name === 'order' && Number(args['price']) > 100
        ? { kind: 'deny', reason: 'More than 100 EUR needs a person.' }
        : undefined,
    )
    scope.on('decideStop', ({ text }) =>
      text.includes('Total:') ? { goal: 'met' } : { veto: 'Say what it comes to, in a line "Total: …".' },
    )
  },
}

const order = tool({
  name: 'order',
  description: 'Order an article',
  effect: 'write',
  input: z.object({ article: z.string(), price: z.number() }),
  run: ({ article, price }) => `Ordered: ${article}, ${price} EUR.`,
})
const model = process.env['DEEPSEEK_API_KEY'] ? 'deepseek/deepseek-chat' : offline
const buyer = agent({ model, instructions: 'You buy for the office.', tools: [order], plugins: [houseRules] })

const session = await open(buyer, { store: 'memory' })
const turn = await session.send('We need a desk lamp.')
for await (const event of turn.events) {
  if (event.type === 'call.ended') console.log(`${event.call}: ${event.outcome.kind}`)
  if (event.type === 'stop.vetoed') console.log(`not yet, says ${event.by}`)
}
const { kind, goal } = await turn.outcome
console.log(`${kind}, goal ${goal}`) // completed, goal met
await session.close()
