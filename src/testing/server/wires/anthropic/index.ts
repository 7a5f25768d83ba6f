/** The Messages API of Anthropic. */
import type { ScriptStep } from '../../../../models/scripted/index.ts'
import type { Refusal, Wire } from '../../wire.ts'
import { envelope, typeOfStatus } from './refuse.ts'
import { refusalOf } from './rules.ts'
import { errorEvent, framesOf } from './stream.ts'
import { RESPONSE_PREFIX } from './thinking.ts'
import { viewOf } from './view.ts'

export const anthropic: Wire = {
  name: 'anthropic',
  responsePrefix: RESPONSE_PREFIX,
  refusalOf,
  viewOf: ({ body }) => viewOf(body),
  headersOf: ({ response }) => ({ 'request-id': `req_${response.slice(RESPONSE_PREFIX.length)}` }),
  framesOf,
  errorFrame: (step) => errorEvent(errorOf(step, 'api_error')),
  errorAnswer,
}

function errorAnswer(step: ScriptStep): Omit<Refusal, 'rule'> {
  const { status = 500 } = step.fault ?? {}
  return { status, body: errorOf(step, typeOfStatus(status)) }
}

function errorOf({ fault = { kind: 'http' } }: ScriptStep, type: string): object {
  const word = fault.status === undefined ? type : typeOfStatus(fault.status)
  return envelope(fault.type ?? word, fault.message ?? 'Internal server error')
}
