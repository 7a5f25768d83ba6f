/** From what a body returned to what is logged: text well cut (C11), marks neutralised (I10), never empty, hooks asked. */
import { progressOf } from '../../kernel/guard.ts'
import { textOf, textPart, type Part } from '../../kernel/message.ts'
import type { Call } from '../../kernel/state.ts'
import { cutText } from '../../util/cut.ts'
import { isPlainObject, type Json } from '../../util/json.ts'
import type { Maybe } from '../../util/maybe.ts'
import { messageOf } from '../../util/text.ts'
import { areParts, asLogged, asText } from '../borders.ts'
import type { Run } from './run.ts'
import { askEach, hasHook } from './run-hooks.ts'
import type { CallEnd, Deferred, ToolError, ToolResult } from '../define/tool.ts'
import { neutralise } from '../wording.ts'

/** The finished end of a body that returned. */
export function finishResult(run: Run, call: Call, result: Exclude<ToolResult, Deferred>): Maybe<FinishedEnd> {
  const end = isToolError(result) ? errorEnd(run, call, result) : okEnd(run, call, result)
  return hasHook(run, 'transformResult') ? transformed(run, call, end) : withProgress(end)
}

/** An end as it is logged, with what the loop guard goes by. */
type FinishedEnd = CallEnd & { readonly progress: string }

async function transformed(run: Run, call: Call, given: CallEnd): Promise<FinishedEnd> {
  let end = given
  await askEach(
    run,
    'transformResult',
    (hook, context) => hook(end, { ...context, call: call.record }),
    (value) => void (end = soundEnd(run, value)),
    undefined,
    'nothing',
  )
  return withProgress(end)
}

function withProgress({ outcome, content }: CallEnd): FinishedEnd {
  return { outcome, content, progress: progressOf(textOf(content)) }
}

/** The end of a body that threw, whatever it threw. */
export function thrownEnd(run: Run, call: Call, error: unknown): CallEnd {
  return errorEnd(run, call, { error: { code: codeOf(error), message: messageOf(error) } })
}

function codeOf(error: unknown): string {
  try {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    return typeof code === 'string' && code !== '' ? code : 'failed'
  } catch {
    // A getter of the thrown value throws: it has no code that can be read.
    return 'failed'
  }
}

function isToolError(result: unknown): result is ToolError {
  return isPlainObject(result) && isPlainObject(result['error'])
}

/** Units of an error's code: it is a word, not a text. */
const CODE_UNITS_MAX = 100

function errorEnd(run: Run, call: Call, { error }: ToolError): CallEnd {
  const message = cutText(neutralise(asText(error.message))).text
  const code = asText(error.code ?? 'failed').slice(0, CODE_UNITS_MAX)
  const outcome = {
    kind: 'error',
    code,
    message,
    ...(typeof error.retryable === 'boolean' ? { retryable: error.retryable } : {}),
  } as const
  const text = run.wording.outcome(outcome, call.record.effect)
  return {
    outcome,
    content: [textPart(typeof error.footer === 'string' ? `${text}\n${neutralise(error.footer)}` : text)],
  }
}

/** What a body returned is a fact: what cannot be logged of it is left out, and its effect is not called an error for that (C7). */
function okEnd(run: Run, call: Call, result: unknown): CallEnd {
  if (!isPlainObject(result) || !('content' in result))
    return { outcome: { kind: 'ok' }, content: finishParts(run, partsOf(result)) }
  const { content, data, footer } = result
  return {
    outcome: { kind: 'ok', ...(data === undefined ? {} : dataOf(run, call, data)) },
    content: finishParts(run, partsOf(content), typeof footer === 'string' ? footer : undefined),
  }
}

/** Text, parts, nothing, or any other value as the text that a model can read of it. */
function partsOf(content: unknown): string | readonly Part[] {
  if (content === undefined || content === null) return []
  return typeof content === 'string' || areParts(content) ? content : asText(content)
}

function dataOf(run: Run, call: Call, data: unknown): { readonly data?: Json } {
  try {
    return { data: asLogged(data) }
  } catch (cause) {
    run.report(
      new Error(`the data that tool "${call.record.name}" returned is left out: ${messageOf(cause)}`, { cause }),
    )
    return {}
  }
}

/** Throws for what is no end of a body that ran: the hook that gave it is reported, and the end stays as it was. */
function soundEnd(run: Run, end: CallEnd): CallEnd {
  const ran =
    isPlainObject(end) &&
    isPlainObject(end.outcome) &&
    (end.outcome['kind'] === 'ok' || end.outcome['kind'] === 'error')
  if (!ran || !areParts(end.content)) throw new TypeError('it is no `ok` or `error` with parts')
  return { outcome: asLogged(end.outcome) as CallEnd['outcome'], content: finishParts(run, end.content) }
}

/** Text that came from outside as parts that may be logged and shown: marks neutralised (I10), cut (C11), never empty. */
export function finishParts(run: Run, content: string | readonly Part[], footer?: string): readonly Part[] {
  const parts = boundText(typeof content === 'string' ? [textPart(content)] : content)
  if (footer !== undefined && footer !== '') parts.push(textPart(neutralise(footer)))
  return parts.length > 0 ? parts : [textPart(run.wording.noOutput)]
}

/** All text of a result shares one limit: parts that are over it together become one, before what is no text. */
function boundText(content: readonly Part[]): Part[] {
  const [only] = content
  if (content.length === 1 && only?.type === 'text')
    return only.text === '' ? [] : [textPart(cutText(neutralise(only.text)).text)]
  const parts = content
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => (part.type === 'text' ? textPart(neutralise(part.text)) : part))
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const { text, cut } = cutText(texts.join('\n'))
  return cut ? [textPart(text), ...parts.filter((part) => part.type !== 'text')] : parts
}
