/** L2, X1, T10: a model is asked with exactly what the log says, and what any wire would take. */
import type { Message } from '../../../kernel/message.ts'
import { TranscriptCheck } from '../../../kernel/transcript.ts'
import type { ModelRequest } from '../../../runtime/ports.ts'
import type { Check, Seen } from '../check.ts'

export function requestCheck(): Check {
  const transcript = new TranscriptCheck()
  /** Messages that were compared already, of this runner in this epoch. */
  let compared = { fence: 0, epoch: 0, count: 0 }
  return {
    name: 'requests',
    asked(request, owner, seen) {
      if (seen.held?.owner !== owner) return ofZombie(request, seen)
      const { state } = seen
      if (state.step?.request == null) return seen.fail('T10', 'the model is asked, and the log does not say so')
      if (compared.fence !== seen.fence || compared.epoch !== request.epoch)
        compared = { fence: seen.fence, epoch: request.epoch, count: 0 }
      sameHead(request, seen)
      sameMessages(request, seen)
      const fault = transcript.check(request.messages, state.context)
      if (fault !== null) seen.fail('C2', `no wire would take message ${fault.at}: ${fault.problem}`)
    },
  }

  function sameMessages({ messages }: ModelRequest, seen: Seen): void {
    const { context } = seen.state
    if (messages.length !== context.length)
      return seen.fail('L2', `${messages.length} messages are asked about; the log gives ${context.length}`)
    for (let at = compared.count; at < context.length; at++)
      if (!same(messages.at(at)!, context[at]!)) return seen.fail('L2', `message ${at} is not that of the log`)
    compared.count = context.length
  }
}

function sameHead({ system, tools, epoch }: ModelRequest, seen: Seen): void {
  const known = seen.state.epoch
  if (known?.n !== epoch || known.content.system !== system || !sameTools(known.content.tools, tools))
    seen.fail('X1', `system text or tools are not those of epoch ${known?.n}`)
}

function sameTools(one: ModelRequest['tools'], other: ModelRequest['tools']): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** One that has lost its lease and does not know yet may still ask; what it asks must be legal all the same. */
function ofZombie({ messages }: ModelRequest, seen: Seen): void {
  const fault = new TranscriptCheck().check(messages, [])
  if (fault !== null) seen.fail('C2', `no wire would take message ${fault.at}: ${fault.problem}`)
}

function same(one: Message, other: Message): boolean {
  if (one === other) return true
  // Mostly both are made of the very parts of one event.
  if (one.role === 'tool' && other.role === 'tool' && one.content === other.content)
    return one.call === other.call && one.name === other.name && one.outcome === other.outcome
  return JSON.stringify(one) === JSON.stringify(other)
}
