/** The first turn: one tool, a session that lasts, a question, a correction, the answer as it streams. Run it twice: it continues. */
import { agent, open, tool } from 'turnstep'
import { z } from 'zod'
import { offline } from './offline.ts'

const weather = tool({
  name: 'weather',
  description: 'Current weather of a city',
  effect: 'read',
  input: z.object({ city: z.string() }),
  run: ({ city }) => `${city}: 25 °C, clear`,
})
const model = process.env['DEEPSEEK_API_KEY'] ? 'deepseek/deepseek-chat' : offline
const guide = agent({ model, instructions: 'Be brief.', tools: [weather] })

const session = await open(guide, { session: 'trip' }) // durable, in .turnstep
const turn = await session.send('Is Beijing hotter than Shanghai?')
await session.steer('Only Shanghai, please') // enters at the next gate
for await (const text of turn.text) process.stdout.write(text)
console.log(`\n${(await turn.outcome).kind}`) // completed
await session.close()
