/** A chat request in neutral words. */
import { callId as asCallId } from '../../../../kernel/ids.ts'
import {
  Messages,
  textOf,
  type AssistantMessage,
  type Message,
  type Part,
  type ReplyPart,
} from '../../../../kernel/message.ts'
import type { ToolSpec } from '../../../../kernel/events.ts'
import { objectsOf, stringOf, type JsonObject } from '../../json-body.ts'
import type { View } from '../../wire.ts'
import { reasoningOf, replayProblem } from './reasoning.ts'

const isSystem = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'

/** Contract: the body was not refused. */
export function viewOf(body: JsonObject): View {
  const all = objectsOf(body['messages'])
  const names = new Map<string, string>()
  return {
    request: {
      system: all
        .filter(isSystem)
        .map(({ content }) => textOf(partsOf(content)))
        .join('\n'),
      tools: objectsOf(body['tools']).map((tool) => toolOf(tool['function'] as JsonObject)),
      messages: new Messages(all.filter((message) => !isSystem(message)).map((message) => messageOf(message, names))),
      toolChoice: body['tool_choice'] === 'none' ? 'none' : 'auto',
    },
    replays: all
      .filter(({ role }) => role === 'assistant')
      .map((message) => ({ isThere: reasoningOf(message) !== null, problem: replayProblem(message) })),
  }
}

function toolOf(named: JsonObject): ToolSpec {
  return {
    name: stringOf(named['name']),
    description: stringOf(named['description']),
    parameters: named['parameters'] as ToolSpec['parameters'],
  }
}

function messageOf(message: JsonObject, names: Map<string, string>): Message {
  if (message['role'] === 'assistant') return assistantOf(message, names)
  const content = partsOf(message['content'])
  if (message['role'] !== 'tool') return { role: 'user', content, origin: { kind: 'user' } }
  const id = stringOf(message['tool_call_id'])
  return { role: 'tool', call: asCallId(id), name: names.get(id) ?? '', outcome: 'ok', content }
}

function assistantOf(message: JsonObject, names: Map<string, string>): AssistantMessage {
  const parts: ReplyPart[] = []
  const reasoning = reasoningOf(message)
  if (reasoning !== null && reasoning !== '') parts.push({ type: 'reasoning', text: reasoning })
  const text = textOf(partsOf(message['content'])).replace(/^<think>[\s\S]*?<\/think>\s*/, '')
  if (text !== '') parts.push({ type: 'text', text })
  const calls = objectsOf(message['tool_calls']).map((call) => {
    const [id, named] = [stringOf(call['id']), call['function'] as JsonObject]
    const name = stringOf(named['name'])
    names.set(id, name)
    parts.push({ type: 'call', call: asCallId(id) })
    return { id: asCallId(id), name, args: stringOf(named['arguments']), providerId: id }
  })
  return { role: 'assistant', parts, calls }
}

function partsOf(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return objectsOf(content).flatMap((part): Part[] => {
    if (part['type'] === 'text') return [{ type: 'text', text: stringOf(part['text']) }]
    const url = stringOf((part['image_url'] as JsonObject | undefined)?.['url'])
    const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? []
    return mediaType === undefined ? [] : [{ type: 'image', mediaType, data: data ?? '' }]
  })
}
