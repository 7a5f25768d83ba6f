/** A Messages body as the API reads it: consecutive messages of one role are one turn, a text is a block. */
import { isPlainObject } from '../../../../util/json.ts'
import { listOf, type JsonObject } from '../../json-body.ts'
import { hashOf } from '../../seal.ts'

/** A block, and where it stands in the request. */
export interface Block {
  readonly block: JsonObject
  readonly type: string
  /** Index of the message. */
  readonly m: number
  /** Index in its content. */
  readonly c: number
  /** The path that errors name. */
  readonly path: string
  /** Names everything before this block: system text, tools, and every block in order. */
  readonly prefix: string
}

export interface Turn {
  readonly role: string
  readonly blocks: readonly Block[]
}

/** A body taken apart. */
export interface Parsed {
  readonly turns: readonly Turn[]
  /** Names everything in the request: what the reply to it will be bound to. */
  readonly prefix: string
}

/** Contract: the messages are objects. */
export function parse(body: JsonObject): Parsed {
  const turns: { role: string; blocks: Block[] }[] = []
  let prefix = hashOf([textBlocks(body['system']).map(bare), listOf(body['tools']).map(bare)])
  for (const [m, message] of listOf(body['messages']).entries()) {
    const { role, content } = message as JsonObject
    if (turns.at(-1)?.role !== role) turns.push({ role: String(role), blocks: [] })
    const turn = turns.at(-1)!
    for (const [c, block] of textBlocks(content).entries()) {
      turn.blocks.push({ block, type: String(block['type']), m, c, path: `messages.${m}.content.${c}`, prefix })
      prefix = hashOf([prefix, role, bare(block)])
    }
  }
  return { turns, prefix }
}

/** A text stands for one block. */
export function textBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content).filter(isPlainObject)
}

/** Where a cache may be cut says nothing to the model. */
function bare(value: unknown): unknown {
  if (!isPlainObject(value)) return value
  const { cache_control: _, ...rest } = value
  return rest
}
