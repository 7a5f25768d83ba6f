/** From what a body returned to what is logged: text well cut (C11), marks neutralised (I10), never empty, hooks asked. */
import { progressOf } from '../kernel/guard.ts'
import { textOf, textPart, type Part } from '../kernel/message.ts'
import type { Call } from '../kernel/state.ts'
import { cutText } from '../util/cut.ts'
import type { Run } from './run.ts'
import { askEach, hasHook } from './run-hooks.ts'
import type { CallEnd, Deferred, ToolError, ToolResult } from './tool.ts'
import { neutralise } from './wording.ts'

/** The finished end of a body that returned. */
export async function finishResult(run: Run, call: Call, result: Exclude<ToolResult, Deferred>): Promise<CallEnd & { readonly progress: string }> {
  let end = isToolError(result) ? errorEnd(run, call, result) : okEnd(run, result)
  if (hasHook(run, 'transformResult')) {
    await askEach(run, 'transformResult', (hook, context) => hook(end, { ...context, call: call.record }), (value) => void (end = value), undefined, 'nothing')
  }
  return { ...end, progress: progressOf(textOf(end.content)) }
}

/** The end of a body that threw. */
export function thrownEnd(run: Run, call: Call, error: unknown): CallEnd {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed'
  return errorEnd(run, call, { error: { code, message } })
}

function isToolError(result: Exclude<ToolResult, Deferred>): result is ToolError {
  return typeof result === 'object' && 'error' in result
}

function errorEnd(run: Run, call: Call, { error }: ToolError): CallEnd {
  const message = cutText(neutralise(error.message)).text
  const outcome = { kind: 'error', code: error.code, message, ...(error.retryable === undefined ? {} : { retryable: error.retryable }) } as const
  const text = run.wording.outcome(outcome, call.record.effect)
  return { outcome, content: [{ type: 'text', text: error.footer === undefined ? text : `${text}\n${neutralise(error.footer)}` }] }
}

function okEnd(run: Run, result: Exclude<ToolResult, Deferred | ToolError>): CallEnd {
  if (typeof result === 'string' || isParts(result)) return { outcome: { kind: 'ok' }, content: finishParts(run, result) }
  const outcome = { kind: 'ok', ...(result.data === undefined ? {} : { data: result.data }) } as const
  return { outcome, content: finishParts(run, result.content, result.footer) }
}

function isParts(result: unknown): result is readonly Part[] {
  return Array.isArray(result)
}

/** Text that came from outside as parts that may be logged and shown: marks neutralised (I10), cut (C11), never empty. */
export function finishParts(run: Run, content: string | readonly Part[], footer?: string): readonly Part[] {
  const parts = boundText(typeof content === 'string' ? [textPart(content)] : content)
  if (footer !== undefined && footer !== '') parts.push(textPart(neutralise(footer)))
  return parts.length > 0 ? parts : [textPart(run.wording.noOutput)]
}

/** All text of a result shares one limit: parts that are over it together become one, before what is no text. */
function boundText(content: readonly Part[]): Part[] {
  const parts = content
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => (part.type === 'text' ? textPart(neutralise(part.text)) : part))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const { text, cut } = cutText(texts.join('\n'))
  return cut ? [textPart(text), ...parts.filter((part) => part.type !== 'text')] : parts
}
