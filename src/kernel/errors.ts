/**
 * The one registry of thrown errors. Outcomes of calls, steps and turns are values and are not here; an error is thrown only
 * where the caller asked for something that cannot be done. The reference page `docs/reference/errors.md` lists the same codes.
 */
import type { Json } from '../util/json.ts'

/** `retry`: may go well later; `terminal`: will not, change something; `bug`: ours, please report it. */
export type ErrorClass = 'retry' | 'terminal' | 'bug'

/** Every code with its class. */
export const ERRORS = {
  'usage-invalid': 'terminal',
  'config-invalid': 'terminal',
  'tool-invalid': 'terminal',
  'plugin-invalid': 'terminal',
  'content-invalid': 'terminal',
  'session-id-invalid': 'terminal',
  'session-missing': 'terminal',
  'session-busy': 'retry',
  'session-closed': 'terminal',
  'session-readonly': 'terminal',
  'input-missing': 'terminal',
  'input-settled': 'terminal',
  'input-not-entered': 'terminal',
  'ask-missing': 'terminal',
  'agent-mismatch': 'terminal',
  'step-missing': 'terminal',
  'model-unknown': 'terminal',
  'model-key-missing': 'terminal',
  'script-failed': 'terminal',
  'store-driver-missing': 'terminal',
  'store-unwritable': 'terminal',
  'store-full': 'retry',
  'store-locked': 'retry',
  'store-newer': 'terminal',
  'store-failed': 'retry',
  'log-damaged': 'terminal',
  'log-conflict': 'retry',
  'lease-lost': 'retry',
  'format-newer': 'terminal',
  'import-invalid': 'terminal',
  'service-missing': 'terminal',
  'rule-broken': 'bug',
  'loop-stalled': 'bug',
  'effect-unsupported': 'bug',
} as const satisfies Record<string, ErrorClass>

/** What to branch on; a released code keeps its meaning. */
export type ErrorCode = keyof typeof ERRORS

/** Thrown by Turnstep. `message` quotes the value seen and says what to do next; branch on `code`, never on the text. */
export class TurnstepError extends Error {
  readonly code: ErrorCode
  readonly class: ErrorClass
  readonly data: Json

  constructor(code: ErrorCode, message: string, options: { readonly data?: Json; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'TurnstepError'
    this.code = code
    this.class = ERRORS[code]
    this.data = options.data ?? null
  }
}

/** Whether something thrown is ours, and of this code where one is given. */
export function isTurnstepError(error: unknown, code?: ErrorCode): error is TurnstepError {
  return error instanceof TurnstepError && (code === undefined || error.code === code)
}
