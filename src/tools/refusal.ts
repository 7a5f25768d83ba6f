/** How a tool of ours says no: thrown inside, an error value at its border. */
import type { ToolContext, ToolError, ToolResult } from '../runtime/define/tool.ts'

/** What the model reads instead of a result: what was seen, and what to do next. Caught by `refusing`. */
export class Refusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'Refusal'
    this.code = code
  }
}

type Body<Input> = (args: Input, context: ToolContext) => Promise<ToolResult> | ToolResult

/** The body with refusals, errors of the file system and aborts made into error values. Anything else is a bug and is thrown on. */
export function refusing<Input>(body: Body<Input>): Body<Input> {
  return async (args, context) => {
    try {
      context.signal.throwIfAborted()
      return await body(args, context)
    } catch (error) {
      if (error instanceof Refusal) return asError(error.code, error.message)
      if (context.signal.aborted) return asError('aborted', 'The call was aborted before it was done.')
      const { code, syscall } = error as NodeJS.ErrnoException
      if (code === undefined || syscall === undefined) throw error
      return asError('io', `The file system refused: ${code} at ${syscall}.`)
    }
  }
}

const asError = (code: string, message: string): ToolError => ({ error: { code, message } })

/** Code of an error of the file system; empty for another. */
export const ioCode = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? ''
