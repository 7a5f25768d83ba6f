/** What became of the thinking in a request: each block is held against its seal, and against its neighbours. */
import { hashOf, unseal, type Claims } from '../../seal.ts'
import { stringOf } from '../../json-body.ts'
import type { Block, Turn } from './turns.ts'

/** A thinking block, and what its seal says. Null: no seal of ours. */
export interface Thought {
  readonly at: Block
  readonly claims: Claims | null
  /** The seal is sound and the text is another. */
  readonly isAltered: boolean
  /** The seal is sound and what stands before its reply is something else. */
  readonly isElsewhere: boolean
}

export const isThought = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'

/** The thoughts of a turn, in order. */
export function thoughtsOf({ blocks }: Turn): readonly Thought[] {
  return blocks.flatMap((at, index) => (isThought(at) ? [thoughtOf(at, blocks.slice(0, index + 1))] : []))
}

/** `upTo`: the blocks of its turn up to itself. The reply that it is of began at one of them, or went on from there after a pause. */
function thoughtOf(at: Block, upTo: readonly Block[]): Thought {
  const claims = unseal(at.block[at.type === 'thinking' ? 'signature' : 'data'])
  const text = at.type === 'thinking' ? stringOf(at.block['thinking']) : ''
  return {
    at,
    claims,
    isAltered: claims !== null && claims.text !== hashOf(text),
    isElsewhere: claims !== null && upTo.every(({ prefix }) => prefix !== claims.prefix),
  }
}

/** Blocks of one reply that are not all there, or not in their order; and a reply with calls whose thinking is gone altogether. */
export function isIncomplete(turn: Turn): boolean {
  const seen = new Map<string, Claims[]>()
  for (const { claims } of thoughtsOf(turn))
    if (claims !== null) seen.set(claims.response, [...(seen.get(claims.response) ?? []), claims])
  return [...seen.values()].some(
    (all) => all.length !== all[0]!.count || all.some(({ index }, place) => index !== place),
  )
}

/** A reply whose call says that there was thinking, and nothing of it came back. */
export function isGone(turn: Turn): boolean {
  const thoughts = thoughtsOf(turn)
  return turn.blocks.some(({ type, block }) => {
    const response = type === 'tool_use' ? thinkingResponse(stringOf(block['id'])) : null
    return response !== null && thoughts.every(({ claims }) => claims?.response !== response)
  })
}

/** The id of a call: it says of which reply it is, and whether that one thought. */
export function callId(response: string, index: number, thinks: boolean): string {
  return `toolu_${thinks ? 't' : 'n'}${index}_${response.slice(RESPONSE_PREFIX.length)}`
}

export const RESPONSE_PREFIX = 'msg_'

function thinkingResponse(id: string): string | null {
  const [, response] = /^toolu_t\d+_(.+)$/.exec(id) ?? []
  return response === undefined ? null : RESPONSE_PREFIX + response
}
