/** Rules of roles, tools, blocks and the pairing of calls with their results. */
import { isPlainObject } from '../../../../util/json.ts'
import { objectsOf, stringOf } from '../../json-body.ts'
import type { Refusal } from '../../wire.ts'
import { takesSystemMessages } from './families.ts'
import { refuse } from './refuse.ts'
import type { Rule } from './rule.ts'
import { textBlocks, type Block, type Turn } from './turns.ts'

export const roles: Rule = ({ turns, model, body }) => {
  const systemAt = objectsOf(body['messages']).findIndex(({ role }) => role === 'system')
  if (systemAt >= 0 && !takesSystemMessages(model))
    return refuse('A05', `messages.${systemAt}: role 'system' is not supported on this model`)
  const odd = turns.find(({ role }) => !['user', 'assistant', 'system'].includes(role))
  if (odd !== undefined) return refuse('A05', `messages: Unexpected role "${odd.role}"`)
  if (turns[0]!.role === 'assistant') return refuse('A04', 'messages: first message must use the "user" role')
}

export const tools: Rule = ({ body }) => {
  const names = new Set<string>()
  for (const [n, tool] of objectsOf(body['tools']).entries()) {
    const name = stringOf(tool['name'])
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      return refuse('A18', `tools.${n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
    if (names.has(name)) return refuse('A18', 'tools: Tool names must be unique.')
    names.add(name)
    const schema = tool['input_schema']
    if (!isPlainObject(schema)) return refuse('A18', `tools.${n}.custom.input_schema: Field required`)
    if (schema['type'] !== 'object')
      return refuse('A18', `tools.${n}.custom.input_schema.type: Input should be 'object'`)
    const extra = Object.keys(tool).find((key) => !TOOL_KEYS.has(key))
    if (extra !== undefined) return refuse('A06', `tools.${n}.custom.${extra}: Extra inputs are not permitted`)
  }
}

const TOOL_KEYS = new Set(['name', 'description', 'input_schema', 'cache_control', 'type', 'strict'])

export const emptiness: Rule = ({ body }) => {
  const messages = objectsOf(body['messages'])
  for (const [m, { role, content }] of messages.entries()) {
    const isOptional = m === messages.length - 1 && role === 'assistant'
    if (content === '' || (Array.isArray(content) && content.length === 0)) {
      if (isOptional) continue
      return refuse(
        'A07',
        `messages.${m}: all messages must have non-empty content except for the optional final assistant message`,
      )
    }
  }
}

export const texts: Rule = ({ blocks, turns }) => {
  for (const text of allTexts(blocks)) {
    if (text === '') return refuse('A08', 'messages: text content blocks must be non-empty')
    if (text.trim() === '') return refuse('A08', 'messages: text content blocks must contain non-whitespace text')
  }
  const last = turns.at(-1)!
  const end = last.blocks.at(-1)
  if (last.role === 'assistant' && end?.type === 'text' && /\s$/.test(stringOf(end.block['text'])))
    return refuse('A09', 'messages: final assistant content cannot end with trailing whitespace')
}

/** Those in results as well. */
function allTexts(blocks: readonly Block[]): string[] {
  return blocks.flatMap(({ block, type }) => {
    if (type === 'text') return [stringOf(block['text'])]
    if (type !== 'tool_result' || block['content'] === undefined || typeof block['content'] === 'string') return []
    return textBlocks(block['content']).flatMap((part) => (part['type'] === 'text' ? [stringOf(part['text'])] : []))
  })
}

export const fields: Rule = ({ blocks }) => {
  for (const { block, type, path } of blocks) {
    const known = BLOCK_KEYS[type]
    if (known === undefined)
      return refuse('A06', `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`)
    const missing = known.required.find((key) => block[key] === undefined)
    if (missing !== undefined)
      return refuse(type === 'thinking' ? 'A24' : 'A06', `${path}.${type}.${missing}: Field required`)
    const extra = Object.keys(block).find(
      (key) => key !== 'type' && ![...known.required, ...known.optional].includes(key),
    )
    if (extra === 'cache_control') return refuse('A28', `${path}.${type}.cache_control: Extra inputs are not permitted`)
    if (extra !== undefined) return refuse('A06', `${path}.${type}.${extra}: Extra inputs are not permitted`)
  }
}

const BLOCK_KEYS: { readonly [type: string]: { readonly required: string[]; readonly optional: string[] } } = {
  text: { required: ['text'], optional: ['cache_control', 'citations'] },
  image: { required: ['source'], optional: ['cache_control'] },
  thinking: { required: ['thinking', 'signature'], optional: [] },
  redacted_thinking: { required: ['data'], optional: [] },
  tool_use: { required: ['id', 'name', 'input'], optional: ['cache_control'] },
  tool_result: { required: ['tool_use_id'], optional: ['content', 'is_error', 'cache_control'] },
}

export const calls: Rule = ({ blocks }) => {
  const seen = new Set<string>()
  for (const { block, type, path } of blocks) {
    if (type === 'tool_use') {
      const id = stringOf(block['id'])
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id))
        return refuse('A16', `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
      if (seen.has(id))
        return refuse('A14', `${path}: each tool_use must have a unique id; \`tool_use\` ids must be unique`)
      seen.add(id)
      if (!isPlainObject(block['input']))
        return refuse('A17', `${path}.tool_use.input: Input should be a valid dictionary`)
    }
    const hasImage = textBlocks(block['content']).some((part) => part['type'] !== 'text')
    if (type === 'tool_result' && block['is_error'] === true && hasImage)
      return refuse('A31', `${path}.tool_result: all content must be type \`text\` if \`is_error\` is true`)
  }
}

export const pairing: Rule = ({ turns }) => {
  for (const [at, turn] of turns.entries()) {
    if (turn.role === 'assistant') {
      const refusal = unanswered(turn, turns[at + 1])
      if (refusal !== null) return refusal
    } else {
      const refusal = unasked(turn, turns[at - 1])
      if (refusal !== null) return refusal
    }
  }
}

const idsOf = (turn: Turn | undefined, type: string, key: string): string[] =>
  (turn?.blocks ?? []).flatMap((block) => (block.type === type ? [stringOf(block.block[key])] : []))

function unanswered(turn: Turn, next: Turn | undefined): Refusal | null {
  // Only the results that stand first count: whatever stands before one cuts it off.
  const firstOther = next?.blocks.findIndex(({ type }) => type !== 'tool_result') ?? -1
  const leading =
    next === undefined
      ? undefined
      : { ...next, blocks: firstOther < 0 ? next.blocks : next.blocks.slice(0, firstOther) }
  const answered = new Set(idsOf(leading, 'tool_result', 'tool_use_id'))
  const open = idsOf(turn, 'tool_use', 'id').filter((id) => !answered.has(id))
  if (open.length === 0) return null
  return refuse(
    'A11',
    `messages.${turn.blocks.at(-1)!.m}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  )
}

function unasked(turn: Turn, before: Turn | undefined): Refusal | null {
  const asked = new Set(before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : [])
  const seen = new Set<string>()
  for (const { block, type, path } of turn.blocks) {
    if (type !== 'tool_result') continue
    const id = stringOf(block['tool_use_id'])
    if (!asked.has(id))
      return refuse(
        'A12',
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      )
    if (seen.has(id))
      return refuse(
        'A13',
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      )
    seen.add(id)
  }
  return null
}
