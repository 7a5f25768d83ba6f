/** Thinking in the input of a chat endpoint: where it must stand, and whether it is what was said. */
import { isPlainObject } from '../../../../util/json.ts'
import { listOf, objectsOf, stringOf, type JsonObject } from '../../json-body.ts'
import { hashOf, unseal } from '../../seal.ts'
import type { Refusal } from '../../wire.ts'
import type { Endpoint } from './dialects.ts'
import { refuse } from './refuse.ts'

/** The thinking of an assistant message; null: there is none. An empty one is one. */
export function reasoningOf(message: JsonObject): string | null {
  for (const key of ['reasoning_content', 'reasoning']) {
    const value = message[key]
    if (typeof value === 'string') return value
  }
  if (Array.isArray(message['reasoning_details']))
    return objectsOf(message['reasoning_details'])
      .map(({ text }) => stringOf(text))
      .join('')
  return /^<think>([\s\S]*?)<\/think>/.exec(stringOf(message['content']))?.[1]?.trim() ?? null
}

/** The first message that lacks the thinking that must be there, or has what must not be there. */
export function reasoningRefusal(messages: readonly JsonObject[], { demands }: Endpoint): Refusal | null {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  for (const [at, message] of messages.entries()) {
    if (message['role'] !== 'assistant') continue
    const has = typeof message['reasoning_content'] === 'string'
    const calls = listOf(message['tool_calls']).length > 0
    if (demands === 'never' && has)
      return refuse('D01', `messages[${at}]: reasoning_content is not allowed in the input`)
    if (has) continue
    if (demands === 'turn' && calls && at > lastUser)
      return refuse(
        'D02',
        `Missing \`reasoning_content\` field in the assistant message at message index ${at}. For more information, please refer to the guide on thinking mode.`,
      )
    if (demands === 'spans' && isInSpanWithCalls(messages, at))
      return refuse('D03', 'The `reasoning_content` in the thinking mode must be passed back to the API.', {
        code: 'invalid_request_error',
      })
    if (demands === 'calls' && calls)
      return refuse(
        'K01',
        `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
      )
  }
  return null
}

/** Between the user messages around it there is a call. */
function isInSpanWithCalls(messages: readonly JsonObject[], at: number): boolean {
  const from = messages.slice(0, at).findLastIndex(({ role }) => role === 'user')
  const length = messages.slice(at).findIndex(({ role }) => role === 'user')
  const span = messages.slice(from + 1, length < 0 ? undefined : at + length)
  return span.some((message) => listOf(message['tool_calls']).length > 0)
}

/** What the ids of calls say of the thinking before them. Where an endpoint has ids that say nothing, nothing is known. */
export function replayProblem(message: JsonObject): string | null {
  const said = objectsOf(message['tool_calls']).flatMap(
    ({ id }) => /^call_\d+_([\w-]{8})$/.exec(stringOf(id))?.[1] ?? [],
  )
  const text = reasoningOf(message)
  if (said.length > 0 && said[0] !== markOf(text ?? ''))
    return text === null ? 'the thinking of a reply is gone' : 'the thinking of a reply was altered'
  for (const detail of listOf(message['reasoning_details'])) {
    if (!isPlainObject(detail) || (detail['signature'] === undefined && detail['data'] === undefined)) continue
    const claims = unseal(detail['signature'] ?? detail['data'])
    if (claims === null) return 'the seal of a reasoning detail is not one of ours, or was altered'
    if (claims.text !== hashOf(stringOf(detail['text']))) return 'the text of a reasoning detail was altered'
  }
  return null
}

/** Eight characters that name a text. */
export const markOf = (text: string): string => hashOf(text).slice(0, 8)
