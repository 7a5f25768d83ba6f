/** A reply as the events of the Messages API, or as the one JSON object of a request that asked for no stream. */
import { pieces, type ScriptStep } from '../../../../models/scripted/index.ts'
import { isPlainObject } from '../../../../util/json.ts'
import type { Frame, WireRequest } from '../../wire.ts'
import { replyOf, type Reply, type ReplyBlock } from './reply.ts'

/** The whole answer. */
export function framesOf(step: ScriptStep, request: WireRequest): readonly Frame[] {
  const reply = replyOf(step, request)
  if (request.body['stream'] !== true) return [{ text: JSON.stringify(wholeOf(reply)), isPiece: true }]
  return [
    event('message_start', { message: { ...headOf(reply), content: [], stop_reason: null, usage: firstUsage(reply) } }),
    ...reply.blocks.flatMap((block, index) => [
      ...(step.stream?.ping === true ? [event('ping', {})] : []),
      ...blockFrames(block, index, step),
    ]),
    event('message_delta', { delta: { stop_reason: reply.stopReason, stop_sequence: null }, usage: reply.usage }),
    event('message_stop', {}),
  ]
}

/** As `event: error` in the stream. */
export const errorEvent = (error: object): string => `event: error\ndata: ${JSON.stringify(error)}\n\n`

const event = (type: string, data: object, isPiece = false): Frame => ({
  text: `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`,
  isPiece,
})

const headOf = ({ id, model, dropped }: Reply): object => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  stop_sequence: null,
  ...(dropped.length === 0 ? {} : { input_transformations: dropped }),
})

/** Before anything was written the output is one token. */
const firstUsage = ({ usage }: Reply): object => ({ ...usage, output_tokens: 1 })

function wholeOf(reply: Reply): object {
  const content = reply.blocks.map((block) =>
    block.type === 'tool_use' ? { ...block, input: objectIn(block.input) } : block,
  )
  return { ...headOf(reply), content, stop_reason: reply.stopReason, usage: reply.usage }
}

/** Where there is no stream, arguments that are no object never reach a client as text. */
function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : {}
  } catch {
    return {}
  }
}

function blockFrames(block: ReplyBlock, index: number, { stream = {} }: ScriptStep): Frame[] {
  const start = (content_block: object, isPiece = false): Frame =>
    event('content_block_start', { index, content_block }, isPiece)
  const delta = (value: object): Frame => event('content_block_delta', { index, delta: value }, true)
  const stop = event('content_block_stop', { index })
  switch (block.type) {
    case 'redacted_thinking':
      return [start(block, true), stop]
    case 'text': {
      const deltas = pieces(block.text, stream.chunk).map((text) => delta({ type: 'text_delta', text }))
      return [start({ type: 'text', text: '' }), ...deltas, stop]
    }
    case 'thinking': {
      const { signature } = block
      const deltas = pieces(block.thinking, stream.chunk).map((thinking) => delta({ type: 'thinking_delta', thinking }))
      const head = start({ type: 'thinking', thinking: '', signature: '' })
      return [head, ...deltas, delta({ type: 'signature_delta', signature }), stop]
    }
    case 'tool_use': {
      const { id, name } = block
      // Arguments of nothing are left out altogether: all that comes is the first, empty piece.
      const args = block.input === '{}' ? [] : pieces(block.input, stream.argChunk)
      const deltas = ['', ...args].map((partial_json) => delta({ type: 'input_json_delta', partial_json }))
      return [start({ type: 'tool_use', id, name, input: {} }), ...deltas, stop]
    }
  }
}
