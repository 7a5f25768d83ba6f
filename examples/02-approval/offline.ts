/** Stands in for a provider where there is no key: asks for the refund, then says what came of it. */
import { scriptedModel } from 'turnstep'

export const offline = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { emit: [{ text: last.outcome === 'ok' ? 'Done.' : 'It was not refunded.' }] }
  return { emit: [{ call: { name: 'refund', args: { order: '7', amount: 42 } } }] }
})
