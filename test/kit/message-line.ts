import type { Message } from '../../src/kernel/message.ts'
import { parts } from '../../src/testing/sim/facts.ts'

/** One line per message of a context. */
export function messageLine(message: Message): string {
  if (message.role === 'user') return `user ${parts(message.content)}`
  if (message.role === 'tool') return `tool ${message.call} ${message.outcome} ${parts(message.content)}`
  const calls = message.calls.map((call) => `${call.name}(${call.args})`)
  return ['assistant', parts(message.parts), ...calls].join(' ')
}
