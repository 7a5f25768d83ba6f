/**
 * Replay state of a model that has none: a string that names the step and carries a digest of the reply, so that any process can
 * tell whether it came back whole and with its own reply. It holds characters that a careless copy spoils.
 */
import type { AssistantMessage } from '../../kernel/message.ts'
import type { ModelReply } from '../../runtime/ports.ts'
import { quickHash } from '../../util/hash.ts'

const MARK = 'scripted'

/** The state of the reply that the step `label` gave. */
export function replayState(label: string, reply: Pick<ModelReply, 'parts' | 'calls'>): string {
  const parts = reply.parts.map((part) =>
    part.type === 'call' ? callDigest(reply.calls[part.index]!) : textDigest(part),
  )
  return stateText(label, parts)
}

/** Why the message's state is not the one that was given with it, or null if it is. */
export function replayProblem(message: AssistantMessage): string | null {
  const state = message.replay?.state
  if (state === undefined) return 'the replay state of a reply is gone'
  const calls = new Map(message.calls.map((call) => [call.id, call]))
  const parts = message.parts.map((part) =>
    part.type === 'call' ? callDigest(calls.get(part.call)!) : textDigest(part),
  )
  const label = state.slice(MARK.length + 2, state.lastIndexOf('"'))
  return state === stateText(label, parts)
    ? null
    : `replay state ${JSON.stringify(state)} was altered, or belongs to another reply`
}

function stateText(label: string, parts: readonly string[]): string {
  return `${MARK} "${label}" \\ +/= 状态 ${quickHash(parts.join('\u0001'))}`
}

const textDigest = (part: { readonly type: string; readonly text: string }): string => `${part.type} ${part.text}`
const callDigest = (call: { readonly name: string; readonly providerId: string }): string =>
  `call ${call.providerId} ${call.name}`
