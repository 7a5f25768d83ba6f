/** How a script's faults look from outside. */
import type { Failure, FailureKind } from '../../kernel/failure.ts'
import type { ModelEnd } from '../../runtime/ports.ts'
import { assertNever } from '../../util/assert.ts'
import type { Fault } from './script.ts'

/** The terminal of a call whose signal has aborted. */
export function aborted(partial: boolean): ModelEnd {
  return {
    type: 'end',
    kind: 'aborted',
    failure: { kind: 'aborted', message: 'the call was aborted', retry: false, partial },
    usage: null,
  }
}

/** The failure that the fault is. `partial`: chunks were shown before. */
export function failureOf(fault: Fault, partial: boolean): Failure {
  const kind = fault.failure ?? faultKind(fault)
  return {
    kind,
    message:
      fault.message ??
      `the script's ${fault.kind} fault${fault.status === undefined ? '' : ` with status ${fault.status}`}`,
    retry: RETRYABLE.has(kind),
    partial,
    ...(fault.status === undefined ? {} : { status: fault.status }),
    ...(fault.code === undefined ? {} : { code: fault.code }),
    ...(fault.retryAfterSeconds === undefined ? {} : { retryAfterMs: fault.retryAfterSeconds * 1000 }),
  }
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set([
  'idle-timeout',
  'overloaded',
  'rate-limited',
  'protocol',
  'interrupted',
  'server',
  'network',
])

function faultKind(fault: Fault): FailureKind {
  switch (fault.kind) {
    case 'reset':
    case 'cut':
    case 'cleanEnd':
      return 'interrupted'
    case 'garbage':
      return 'protocol'
    case 'stall':
      return 'idle-timeout'
    case 'http':
    case 'midError':
      return kindOfStatus(fault.status ?? 500)
    default:
      return assertNever(fault.kind, 'fault')
  }
}

function kindOfStatus(status: number): FailureKind {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'quota'
  if (status === 429) return 'rate-limited'
  if (status === 503 || status === 529) return 'overloaded'
  return status >= 500 ? 'server' : 'invalid-request'
}
