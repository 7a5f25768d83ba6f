/** Runs a tool in a test as the call pool does: arguments parsed and validated, then the body. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeClock } from '../host/node.ts'
import { callId, sessionId } from '../kernel/ids.ts'
import type { Args, Tool, ToolContext, ToolError, ToolResult } from '../runtime/define/tool.ts'

export interface Answer {
  /** What the model reads. */
  readonly text: string
  /** Null where it went well. */
  readonly code: string | null
  readonly footer: string
  readonly result: ToolResult
}

/** Calls a tool; arguments that do not fit give the code `invalid`. */
export async function call(tool: Tool, args: object, more: Partial<ToolContext> = {}): Promise<Answer> {
  const validated = await tool.validate(args as Args)
  if (!validated.ok) return { text: validated.message, code: 'invalid', footer: '', result: validated.message }
  const result = await tool.run(validated.args, { ...context(), ...more })
  if (isError(result))
    return { text: result.error.message, code: result.error.code, footer: result.error.footer ?? '', result }
  return { text: textOf(result), code: null, footer: footerOf(result), result }
}

export function context(): ToolContext {
  return {
    signal: new AbortController().signal,
    session: sessionId('s'),
    call: callId('t1s1c1'),
    idempotencyKey: 's/t1s1c1',
    fence: 1,
    clock: nodeClock,
    progress() {},
  }
}

/** A folder of its own for a test file, by its real path. */
export function scratchFolder(): { readonly path: string; remove(): void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'turnstep-tools-')))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

const isError = (result: ToolResult): result is ToolError => typeof result === 'object' && 'error' in result

function textOf(result: ToolResult): string {
  if (typeof result === 'string') return result
  const content = 'content' in result ? result.content : Array.isArray(result) ? result : []
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `<${part.mediaType}>`)).join('\n')
}

function footerOf(result: ToolResult): string {
  return typeof result === 'object' && 'footer' in result ? (result.footer ?? '') : ''
}
