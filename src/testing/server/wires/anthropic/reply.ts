/** A scripted reply as the Messages API gives it: the whole message, of which the stream is made. */
import { argsOf, stopOf, type Emit, type ScriptStep, type Stop } from '../../../../models/scripted/index.ts'
import { stringOf, type JsonObject } from '../../json-body.ts'
import { hashOf, seal } from '../../seal.ts'
import type { WireRequest } from '../../wire.ts'
import { familyOf } from './families.ts'
import { tokensOf } from './rules.ts'
import { droppedOf, thinks } from './thinking-rules.ts'
import { callId } from './thinking.ts'
import { parse } from './turns.ts'

/** A block of content; the input of a call as the text that the model wrote. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: string }

export interface Reply {
  readonly id: string
  readonly model: string
  readonly blocks: readonly ReplyBlock[]
  readonly stopReason: string
  readonly usage: JsonObject
  /** What the model did not read of the request. */
  readonly dropped: readonly object[]
}

/** The reply to a request that was not refused. A model that was not asked to think has no thoughts to show. */
export function replyOf(step: ScriptStep, { body, response }: WireRequest): Reply {
  const model = stringOf(body['model'])
  const thinking = thinks(body, familyOf(model))
  const emits = (step.emit ?? []).filter((emit) => thinking || !isThought(emit))
  const count = emits.filter(isThought).length
  const { prefix, turns } = parse(body)
  const sealed = (text: string, index: number): string =>
    seal({ text: hashOf(text), prefix, model, response, index, count })
  let thoughts = 0
  let calls = 0
  const blocks = emits.map((emit): ReplyBlock => {
    if ('text' in emit) return { type: 'text', text: emit.text }
    if ('redacted' in emit) return { type: 'redacted_thinking', data: sealed('', thoughts++) }
    if ('reasoning' in emit) {
      const text = step.stream?.omitThinking === true ? '' : emit.reasoning
      return { type: 'thinking', thinking: text, signature: sealed(text, thoughts++) }
    }
    const { id = callId(response, calls++, count > 0), name } = emit.call
    return { type: 'tool_use', id, name, input: argsOf(emit.call) }
  })
  return {
    id: response,
    model,
    blocks,
    stopReason: stopReasonOf(step),
    usage: usageOf(step, body, blocks),
    dropped: droppedOf(turns, model),
  }
}

const isThought = (emit: Emit): boolean => 'reasoning' in emit || 'redacted' in emit

const STOP_REASONS: { readonly [Word in Exclude<Stop, `raw:${string}`>]: string } = {
  end: 'end_turn',
  tool: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  filter: 'refusal',
  pause: 'pause_turn',
  context: 'model_context_window_exceeded',
  sequence: 'stop_sequence',
}

function stopReasonOf(step: ScriptStep): string {
  const stop = stopOf(step)
  return stop.startsWith('raw:') ? stop.slice('raw:'.length) : STOP_REASONS[stop as keyof typeof STOP_REASONS]
}

/** What the script says, else an estimate. Its `input` is the whole; this API tells the cached part apart from the rest. */
function usageOf({ usage }: ScriptStep, body: JsonObject, blocks: readonly ReplyBlock[]): JsonObject {
  const { input = tokensOf(body), cacheRead = 0, cacheWrite = 0, reasoning } = usage ?? {}
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: usage?.output ?? Math.ceil(JSON.stringify(blocks).length / 4),
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  }
}
