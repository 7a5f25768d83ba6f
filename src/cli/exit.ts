/** Exit codes: what a script may branch on. `docs/reference/cli.md` and `--help` show the same table. */
import type { ErrorCode, TurnstepError } from '../kernel/errors.ts'
import type { TurnOutcome } from '../kernel/outcome.ts'

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  config: 3,
  model: 4,
  limit: 5,
  waiting: 6,
  busy: 75,
  hangup: 129,
  aborted: 130,
  pipe: 141,
  terminated: 143,
} as const

/** Errors whose exit code does not follow from their class. */
const OF_CODE: Partial<Record<ErrorCode, number>> = {
  'usage-invalid': EXIT.usage,
  'content-invalid': EXIT.usage,
  'session-id-invalid': EXIT.usage,
  'session-missing': EXIT.usage,
  'input-missing': EXIT.usage,
  'input-settled': EXIT.usage,
  'ask-missing': EXIT.usage,
  'agent-mismatch': EXIT.config,
  'step-missing': EXIT.usage,
  'import-invalid': EXIT.usage,
  'config-invalid': EXIT.config,
  'tool-invalid': EXIT.config,
  'plugin-invalid': EXIT.config,
  'service-missing': EXIT.config,
  'model-unknown': EXIT.config,
  'model-key-missing': EXIT.config,
  'store-driver-missing': EXIT.config,
  'store-unwritable': EXIT.config,
  'store-newer': EXIT.config,
  'format-newer': EXIT.config,
}

export function exitOfError(error: TurnstepError): number {
  return OF_CODE[error.code] ?? (error.class === 'retry' ? EXIT.busy : EXIT.failed)
}

export function exitOfOutcome(outcome: TurnOutcome): number {
  switch (outcome.kind) {
    case 'completed':
      return EXIT.ok
    case 'budget':
    case 'step-limit':
      return EXIT.limit
    case 'error':
      return outcome.failure.kind === 'auth' ? EXIT.config : EXIT.model
    case 'max-tokens':
    case 'blocked':
    case 'refused':
    case 'stuck':
    case 'veto-capped':
    case 'aborted':
      return EXIT.failed
  }
}
