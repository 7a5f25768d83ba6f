/** How the Messages API says no. */
import type { Refusal } from '../../wire.ts'

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'request_too_large'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'api_error'
  | 'overloaded_error'

const STATUS: { readonly [Type in ErrorType]: number } = {
  invalid_request_error: 400,
  authentication_error: 401,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
}

/** A refusal in the API's envelope. */
export function refuse(rule: string, message: string, type: ErrorType = 'invalid_request_error'): Refusal {
  return { rule, status: STATUS[type], body: envelope(type, message) }
}

export const envelope = (type: string, message: string): object => ({
  type: 'error',
  error: { type, message },
  request_id: null,
})

/** The type of error that a status stands for. */
export function typeOfStatus(status: number): string {
  const known = Object.entries(STATUS).find(([, one]) => one === status)
  return known?.[0] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}
