/** Rules of thinking: how it is asked for, where it must stand, and what became of the blocks that came back. */
import { isPlainObject } from '../../../../util/json.ts'
import type { JsonObject } from '../../json-body.ts'
import type { WireRequest } from '../../wire.ts'
import { familyOf, refusesBudgets, type Family } from './families.ts'
import { refuse } from './refuse.ts'
import type { Rule } from './rule.ts'
import { isIncomplete, isThought, thoughtsOf } from './thinking.ts'
import type { Turn } from './turns.ts'

const BINDING_BETA = 'thinking-binding-controls-2026-08-01'

export const thinkingConfig: Rule = ({ body, family, model }) => {
  const thinking = body['thinking']
  const type = isPlainObject(thinking) ? thinking['type'] : undefined
  const choice = isPlainObject(body['tool_choice']) ? body['tool_choice']['type'] : undefined
  if (type === 'disabled' && family === 'bound')
    return refuse('A20', `thinking.type: "disabled" is not supported on ${model}; thinking is always on`)
  if (type === 'enabled') {
    const budget = Number((thinking as JsonObject)['budget_tokens'])
    if (refusesBudgets(model))
      return refuse('A20', `thinking.type: "enabled" is not supported on ${model}; use "adaptive"`)
    if (!(budget >= 1_024))
      return refuse('A20', 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
    if (budget >= Number(body['max_tokens']))
      return refuse('A20', '`max_tokens` must be greater than `thinking.budget_tokens`')
  }
  if (type === 'adaptive' && family === 'classic')
    return refuse('A20', `thinking.type: "adaptive" is not supported on ${model}`)
  if (!thinks(body, family)) return
  if (choice === 'any' || choice === 'tool')
    return refuse('A20', 'Thinking may not be enabled when tool_choice forces tool use.')
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    return refuse('A20', '`temperature` may only be set to 1 when thinking is enabled.')
}

/** Whether replies to this request think. */
export function thinks(body: JsonObject, family: Family): boolean {
  const type = isPlainObject(body['thinking']) ? body['thinking']['type'] : undefined
  return family === 'bound' || type === 'enabled' || type === 'adaptive'
}

export const mustStart: Rule = ({ body, family, turns }) => {
  for (const { role, blocks } of turns) {
    if (role !== 'assistant' || blocks.length === 0 || isThought(blocks[0]!)) continue
    if (family === 'classic' && blocks.some(isThought))
      return refuse(
        'A21',
        `${blocks[0]!.path}.type: If an assistant message contains any thinking blocks, the first block must be \`thinking\` or \`redacted_thinking\`. Found \`${blocks[0]!.type}\`.`,
      )
  }
  const first = family === 'classic' && thinks(body, family) ? openLoop(turns)?.blocks[0] : undefined
  if (first !== undefined && !isThought(first))
    return refuse(
      'A21',
      `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    )
}

/** The reply with which the running loop of tools began; later ones of the loop need not think. Null: no loop is open. */
function openLoop(turns: readonly Turn[]): Turn | null {
  const hasResults = (turn: Turn | undefined): boolean =>
    turn?.blocks.some(({ type }) => type === 'tool_result') ?? false
  let at = turns.length - 1
  if (!hasResults(turns[at])) return null
  while (hasResults(turns[at])) at -= 2
  return turns[at + 1] ?? null
}

/** Nothing was said behind it: a reply that broke off while it thought is no reply. */
export const ending: Rule = ({ turns }) => {
  const last = turns
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ blocks }) => blocks.slice(-1))
    .find(isThought)
  if (last !== undefined)
    return refuse('A32', `messages.${last.m}: The final block in an assistant message cannot be \`${last.type}\`.`)
}

export const unwanted: Rule = ({ body, family, turns }) => {
  const thought = family === 'classic' && !thinks(body, family) ? openLoop(turns)?.blocks.find(isThought) : undefined
  if (thought !== undefined)
    return refuse(
      'A33',
      `${thought.path}: When thinking is disabled, an \`assistant\` message in the final position cannot contain \`${thought.type}\`. To use thinking blocks, enable \`thinking\` in your request.`,
    )
}

export const prefill: Rule = ({ body, family, turns }) => {
  const last = turns.at(-1)!
  // A reply that paused goes on where it stopped.
  if (last.role !== 'assistant' || last.blocks.some(isThought)) return
  if (family !== 'classic' || thinks(body, family))
    return refuse(
      'A10',
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
}

export const signatures: Rule = ({ turns }) => {
  for (const { at, claims } of turns.flatMap(thoughtsOf)) {
    if (claims === null && at.type === 'redacted_thinking')
      return refuse('A25', `${at.path}: Invalid \`data\` in \`redacted_thinking\` block`)
    if (claims === null) return refuse('A23', `${at.path}: Invalid \`signature\` in \`thinking\` block`)
  }
}

export const latest: Rule = ({ turns }) => {
  const turn = turns.findLast(({ role }) => role === 'assistant')
  const thoughts = turn === undefined ? [] : thoughtsOf(turn)
  const altered =
    thoughts.find(({ isAltered }) => isAltered) ?? (turn !== undefined && isIncomplete(turn) ? thoughts[0] : undefined)
  if (altered !== undefined)
    return refuse(
      'A22',
      `${altered.at.path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
    )
  const older = turns.flatMap(thoughtsOf).find(({ isAltered }) => isAltered)
  if (older !== undefined) return refuse('A24', `${older.at.path}: Invalid \`signature\` in \`thinking\` block`)
}

export const binding: Rule = ({ body, family, headers, turns, model }) => {
  if (family !== 'bound' || dropsUnbound(body, headers)) return
  const other = turns.flatMap(thoughtsOf).find(({ claims, isElsewhere }) => isElsewhere && claims?.model === model)
  if (other !== undefined)
    return refuse(
      'A26',
      `${other.at.path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`${BINDING_BETA}\` value in the \`anthropic-beta\` header.`,
    )
}

/** The client would rather lose thinking than the request. */
function dropsUnbound(body: JsonObject, headers: WireRequest['headers']): boolean {
  const thinking = body['thinking']
  const setting = isPlainObject(thinking) ? thinking['block_binding'] : undefined
  const drops = isPlainObject(setting) && setting['prefix_mismatch_behavior'] === 'drop_block'
  return drops && (headers['anthropic-beta'] ?? '').split(',').some((value) => value.trim() === BINDING_BETA)
}

/**
 * Thinking that a model of the bound family does not read, of a request that is answered all the same: what another model thought, and
 * what stands behind something else. With a block goes all thinking of its turn that comes after it.
 */
export function droppedOf(turns: readonly Turn[], model: string): readonly object[] {
  if (familyOf(model) !== 'bound') return []
  return turns.flatMap((turn) => {
    const thoughts = thoughtsOf(turn)
    const from = thoughts.findIndex(({ claims, isElsewhere }) => isElsewhere || claims?.model !== model)
    if (from < 0) return []
    const isOther = thoughts[from]!.claims?.model !== model
    const reason = isOther ? 'model_binding_mismatch' : 'prefix_binding_mismatch'
    return thoughts.slice(from).map(({ at }) => ({ type: 'thinking_dropped', path: at.path, reason }))
  })
}
