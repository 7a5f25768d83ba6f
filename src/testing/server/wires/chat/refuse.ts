/** How chat endpoints say no. */
import type { Refusal } from '../../wire.ts'

/** A refusal in the envelope of all of them. */
export function refuse(
  rule: string,
  message: string,
  more: { readonly code?: string; readonly param?: string; readonly status?: number } = {},
): Refusal {
  const { code = null, param = null, status = 400 } = more
  return { rule, status, body: { error: { message, type: 'invalid_request_error', param, code } } }
}
