/** Errors as people and programs read them. */
import { TurnstepError } from '../kernel/errors.ts'
import { isPlainObject } from '../util/json.ts'
import type { Cli } from './cli.ts'
import { EXIT, exitOfError } from './exit.ts'

/** Shows it. `exit`: the code that the process leaves with for it, if not the error's own. */
export function showError(cli: Cli, error: unknown, exit: number | null): void {
  const { out, texts } = cli
  if (!(error instanceof TurnstepError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    out.complain(texts.internal(text))
    return out.line({
      type: 'error',
      code: 'internal',
      class: 'bug',
      message: text,
      data: null,
      exit: exit ?? EXIT.failed,
    })
  }
  const { code, message, data } = error
  out.complain(texts.error(code, message))
  const advice = texts.advice(code)
  if (advice !== null) out.complain(advice)
  if (code === 'session-busy' && isPlainObject(data) && typeof data['session'] === 'string')
    out.complain(texts.busy(data['session']))
  out.line({ type: 'error', code, class: error.class, message, data, exit: exit ?? exitOfError(error) })
}
