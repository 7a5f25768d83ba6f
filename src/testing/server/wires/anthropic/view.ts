/** A Messages request in neutral words. */
import { callId as asCallId } from '../../../../kernel/ids.ts'
import {
  Messages,
  textOf,
  type AssistantMessage,
  type Message,
  type Part,
  type ReplyPart,
  type ToolMessage,
} from '../../../../kernel/message.ts'
import type { ToolSpec } from '../../../../kernel/events.ts'
import { objectsOf, stringOf, type JsonObject } from '../../json-body.ts'
import type { View } from '../../wire.ts'
import { isGone, isIncomplete, thoughtsOf } from './thinking.ts'
import { parse, textBlocks, type Block, type Turn } from './turns.ts'

/** Contract: the body was not refused. */
export function viewOf(body: JsonObject): View {
  const { turns } = parse(body)
  const names = new Map<string, string>()
  const messages: Message[] = []
  for (const turn of turns) {
    if (turn.role === 'assistant') messages.push(assistantOf(turn, names))
    else messages.push(...userMessages(turn, names))
  }
  const choice = body['tool_choice'] as JsonObject | undefined
  return {
    request: {
      system: textOf(partsOf(textBlocks(body['system']))),
      tools: objectsOf(body['tools']).map(toolOf),
      messages: new Messages(messages),
      toolChoice: choice?.['type'] === 'none' ? 'none' : 'auto',
    },
    replays: turns
      .filter(({ role }) => role === 'assistant')
      .map((turn) => ({ isThere: thoughtsOf(turn).length > 0, problem: replayProblem(turn) })),
  }
}

/** What is wrong with the opaque state of a reply, in a sentence. */
function replayProblem(turn: Turn): string | null {
  if (isGone(turn)) return 'the thinking of a reply is gone'
  if (isIncomplete(turn)) return 'the thinking of a reply is not whole, or not in its order'
  for (const { at, claims, isAltered, isElsewhere } of thoughtsOf(turn)) {
    if (claims === null) return `the seal of ${at.path} is not one of ours, or was altered`
    if (isAltered) return `the text of ${at.path} was altered`
    if (isElsewhere) return `what stands before ${at.path} is not what stood there`
  }
  return null
}

function toolOf(tool: JsonObject): ToolSpec {
  return {
    name: stringOf(tool['name']),
    description: stringOf(tool['description']),
    parameters: tool['input_schema'] as ToolSpec['parameters'],
  }
}

function assistantOf({ blocks }: Turn, names: Map<string, string>): AssistantMessage {
  const parts: ReplyPart[] = []
  const calls: AssistantMessage['calls'][number][] = []
  for (const { type, block } of blocks) {
    if (type === 'text') parts.push({ type, text: stringOf(block['text']) })
    else if (type === 'thinking') parts.push({ type: 'reasoning', text: stringOf(block['thinking']) })
    else if (type === 'tool_use') {
      const [id, name] = [stringOf(block['id']), stringOf(block['name'])]
      names.set(id, name)
      parts.push({ type: 'call', call: asCallId(id) })
      calls.push({ id: asCallId(id), name, args: JSON.stringify(block['input']), providerId: id })
    }
  }
  return { role: 'assistant', parts, calls }
}

function userMessages({ role, blocks }: Turn, names: ReadonlyMap<string, string>): Message[] {
  const isResult = ({ type }: Block): boolean => type === 'tool_result'
  const rest = partsOf(blocks.filter((block) => !isResult(block)).map(({ block }) => block))
  const results = blocks.filter(isResult).map(({ block }) => resultOf(block, names))
  if (rest.length === 0) return results
  return [...results, { role: 'user', content: rest, origin: { kind: role === 'system' ? 'system' : 'user' } }]
}

function resultOf(block: JsonObject, names: ReadonlyMap<string, string>): ToolMessage {
  const id = stringOf(block['tool_use_id'])
  return {
    role: 'tool',
    call: asCallId(id),
    name: names.get(id) ?? '',
    outcome: block['is_error'] === true ? 'error' : 'ok',
    content: partsOf(textBlocks(block['content'])),
  }
}

function partsOf(blocks: readonly JsonObject[]): Part[] {
  return blocks.flatMap((block): Part[] => {
    if (block['type'] === 'text') return [{ type: 'text', text: stringOf(block['text']) }]
    if (block['type'] !== 'image') return []
    const source = block['source'] as JsonObject
    return [{ type: 'image', mediaType: stringOf(source['media_type']), data: stringOf(source['data']) }]
  })
}
