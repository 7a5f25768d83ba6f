/** Stands in for a provider where there is no key: looks up both cities once per question, then answers from what the tool said. */
import { scriptedModel, type ToolMessage } from 'turnstep'

export const offline = scriptedModel(({ messages }) => {
  const all = messages.toArray()
  const asked = all.findLastIndex((message) => message.role === 'user' && message.origin.kind === 'user')
  const since = all.slice(asked)
  const results = since.filter((message) => message.role === 'tool').map(textOf)
  if (results.length === 0) return { emit: ['Beijing', 'Shanghai'].map(lookUp) }
  const steered = since.some((message) => message.role === 'user' && message.origin.kind === 'steer')
  const wanted = results.filter((text) => !steered || text.startsWith('Shanghai'))
  return { emit: [{ text: `${wanted.join('. ')}.` }], stream: { chunk: 6 } }
})

const lookUp = (city: string) => ({ call: { name: 'weather', args: { city } } })

const textOf = ({ content }: ToolMessage) => content.map((part) => (part.type === 'text' ? part.text : '')).join('')
