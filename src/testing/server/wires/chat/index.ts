/** Chat completions, as OpenAI and those who took the form over from it speak them. */
import type { ScriptStep } from '../../../../models/scripted/index.ts'
import { stringOf } from '../../json-body.ts'
import type { Refusal, Wire, WireRequest } from '../../wire.ts'
import { endpointOf, type Endpoint } from './dialects.ts'
import { refusalOf } from './rules.ts'
import { errorChunk, framesOf } from './stream.ts'
import { viewOf } from './view.ts'

/** The wire of one endpoint, by the name in its path; without one it is OpenAI's. */
export function chatWire(name: string | undefined): Wire {
  const endpoint = ({ body }: WireRequest): Endpoint => endpointOf(name, stringOf(body['model']))
  return {
    name: `chat/${name ?? 'openai'}`,
    responsePrefix: 'chatcmpl-',
    refusalOf: (request) => refusalOf(request, endpoint(request)),
    viewOf: ({ body }) => viewOf(body),
    headersOf: ({ response }) => ({ 'x-request-id': `req_${response}` }),
    framesOf: (step, request) => framesOf(step, request, endpoint(request)),
    errorFrame: (step) => errorChunk(errorOf(step)),
    errorAnswer,
  }
}

function errorAnswer(step: ScriptStep): Omit<Refusal, 'rule'> {
  return { status: step.fault?.status ?? 500, body: errorOf(step) }
}

function errorOf({ fault = { kind: 'http' } }: ScriptStep): object {
  const {
    message = 'The server had an error while processing your request.',
    type = 'server_error',
    code,
    status,
  } = fault
  return { error: { message, type, param: null, code: code ?? status ?? null } }
}
