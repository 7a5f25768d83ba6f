/**
 * What went wrong on a wire, as a `Failure`. Statuses, codes and texts of providers are read here and nowhere else; nothing they
 * claim about retrying is trusted. What must not be shown is hidden where failures leave the adapter, by `Secrets`.
 */
import type { Failure, FailureKind } from '../kernel/failure.ts'
import { isPlainObject } from '../util/json.ts'
import { quoted } from '../util/text.ts'
import { retryAfter } from './retry-after.ts'
import type { Cut } from './watch.ts'

/** An answer that is a refusal, or an error in the middle of a stream (`status` 200). */
interface WireError {
  readonly provider: string
  readonly status: number
  readonly headers: Headers
  /** The body's text, or the error's own JSON. */
  readonly body: string
  readonly now: number
}

/** Reads a refusal. Kinds and `retry` follow from status, code and text, in that order of trust only where they agree. */
export function failureOfError(error: WireError): Failure {
  const said = readBody(error.body)
  const status = error.status === 200 ? (said.status ?? 200) : error.status
  const happened = error.status === 200 ? 'broke off the reply' : `answered ${error.status}`
  const { text } = said
  const after = retryAfter(error.headers, error.body, error.now)
  const kind = kindOf(status, said, after !== null)
  const requestId = requestIdOf(error.headers)
  return {
    kind,
    message: `${error.provider} ${happened}${text === '' ? '' : `: ${text}`}. ${ADVICE[kind] ?? ''}`.trimEnd(),
    retry: RETRYABLE.has(kind),
    ...(error.status === 200 ? {} : { status: error.status }),
    ...(said.code === '' ? {} : { code: said.code }),
    ...(after === null ? {} : { retryAfterMs: after }),
    ...(requestId === null ? {} : { requestId }),
  }
}

/** The failure of a call that was cut by its watch. */
export function failureOfCut(cut: Cut): Failure {
  switch (cut.kind) {
    case 'aborted':
      return { kind: 'aborted', message: 'the model call was aborted', retry: false }
    case 'first':
      return { kind: 'idle-timeout', message: `no answer came within ${cut.afterMs} ms`, retry: true }
    case 'idle':
      return { kind: 'idle-timeout', message: `nothing more came for ${cut.afterMs} ms`, retry: true }
    case 'total':
      return {
        kind: 'interrupted',
        message: `the reply was not complete after ${cut.afterMs} ms: raise totalTimeoutMs`,
        retry: false,
      }
  }
}

/** The failure of a call that never got an answer. */
export function failureOfNetwork(error: unknown, url: string): Failure {
  const { origin } = new URL(url)
  return {
    kind: 'network',
    message: `no connection to ${origin}: ${causesOf(error)}. Check the base URL, the network and the proxy settings.`,
    retry: true,
  }
}

/** The failure of an answer that broke off. */
export function failureOfBreak(error: unknown): Failure {
  return {
    kind: 'interrupted',
    message: `the connection broke before the reply was complete: ${causesOf(error)}`,
    retry: true,
  }
}

/** Of what a provider said, so much is shown. */
const SEEN_MAX = 300

/** The failure of an answer that is not what the wire says. */
export function protocolFailure(problem: string, seen: string, retry = true): Failure {
  return { kind: 'protocol', message: `${problem}: ${quoted(seen, SEEN_MAX)}`, retry }
}

/** The failure of a stream that stopped without saying why. */
export const noFinish: Failure = {
  kind: 'interrupted',
  message: 'the stream ended without a finish reason, so the reply may be incomplete',
  retry: true,
}

interface Said {
  readonly text: string
  readonly code: string
  /** An HTTP status named in the body. */
  readonly status: number | null
}

/** Bodies seen in the wild: `{error: {message, code, type}}`, `{error: "…"}`, `{message, code}`, `{base_resp: {…}}`, plain text. */
function readBody(body: string): Said {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { text: oneLine(body), code: '', status: null }
  }
  const outer = Array.isArray(parsed) ? (parsed as unknown[])[0] : parsed
  if (!isPlainObject(outer)) return { text: oneLine(body), code: '', status: null }
  const inner = [outer['error'], outer['base_resp'], outer].find(
    (value) => isPlainObject(value) || typeof value === 'string',
  )
  if (typeof inner === 'string')
    return { text: oneLine(inner), code: word(outer['code']), status: statusOf(outer['code']) }
  const error = inner as Record<string, unknown>
  const code = word(error['code']) || word(error['status_code']) || word(error['type'])
  const text = word(error['message']) || word(error['msg']) || word(error['status_msg']) || body
  return { text: oneLine(text), code, status: statusOf(error['code']) ?? statusOf(error['status']) }
}

function statusOf(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) && number >= 400 && number < 600 ? number : null
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > SEEN_MAX ? `${line.slice(0, SEEN_MAX)}…` : line
}

function requestIdOf(headers: Headers): string | null {
  for (const name of REQUEST_IDS) {
    const id = headers.get(name)
    if (id !== null && id !== '') return id
  }
  return null
}

const REQUEST_IDS = ['x-request-id', 'request-id', 'x-ds-trace-id', 'x-trace-id', 'trace-id', 'cf-ray']

function kindOf(status: number, said: Said, mayWait: boolean): FailureKind {
  const all = `${said.code} ${said.text}`
  const told = TEXTS.find(([, pattern]) => pattern.test(all))?.[0]
  if (told === 'replay-missing' || told === 'replay-rejected' || told === 'transcript-invalid') return told
  // Some say quota where they mean a limit per minute: then they say how long to wait.
  const passes = status === 429 && mayWait && !EMPTY_PURSE.test(all)
  if (status === 402 || (told === 'quota' && status !== 401 && !passes)) return 'quota'
  if (status === 401 || status === 403) return 'auth'
  if (status === 429) return 'rate-limited'
  if (told === 'context-overflow') return told
  if (status === 503 || status === 529) return 'overloaded'
  if (status === 408 || status >= 500) return told === 'overloaded' ? told : 'server'
  if (status >= 400) return 'invalid-request'
  return told ?? 'server'
}

/** A quota that no waiting fills. */
const EMPTY_PURSE = /insufficient|arrearage|余额不足|欠费|\b1113\b|\b1308\b/i

/** What texts and codes mean, tried in order. */
const TEXTS: readonly (readonly [FailureKind, RegExp])[] = [
  [
    'replay-missing',
    /missing `?reasoning_content|reasoning_content.{0,60}(must be passed back|is missing)|missing a thought_signature/i,
  ],
  [
    'replay-rejected',
    /invalid.{0,20}signature|corrupted thought signature|encrypted[_ ]content|(unknown|unexpected|unsupported).{0,40}(reasoning|\.thinking)|reasoning_content.{0,40}not (allowed|supported|permitted)/i,
  ],
  [
    'transcript-invalid',
    /must be followed by tool messages|must be a response to a prece|tool_call_id.{0,80}not found|tool id.{0,60}not found|content or tool_calls must be set|no tool (output|call) found/i,
  ],
  [
    'quota',
    /insufficient[_ ](quota|balance|credit|funds)|exceeded[_ ](your )?current[_ ]quota|billing|arrearage|余额不足|欠费|\b1113\b|\b1308\b/i,
  ],
  [
    'context-overflow',
    /context[_ ](length|window|size)|maximum (context|prompt|input)|prompt is too long|input length should be|input token count|reduce the length of|\b1261\b/i,
  ],
  ['rate-limited', /rate[_ -]?limit|too many requests|\b1302\b|\b1305\b/i],
  ['overloaded', /overload|at capacity|server is busy|unavailable|insufficient_system_resource/i],
  ['auth', /invalid[_ ]api[_ ]key|authentication|unauthorized/i],
  ['invalid-request', /invalid[_ ]request|invalid params/i],
]

const RETRYABLE: ReadonlySet<FailureKind> = new Set(['overloaded', 'rate-limited', 'server'])

const ADVICE: { readonly [Kind in FailureKind]?: string } = {
  auth: 'Check the API key and what it may use.',
  quota: 'The account has no quota or balance left: a retry cannot help.',
  'context-overflow': 'The context is too long for this model: compact it, or use a model with a larger window.',
  'transcript-invalid': 'The transcript broke a rule of this wire: please report it.',
  'replay-missing': 'Reasoning that has to go back was not sent: please report it.',
  'invalid-request': 'Check the model name, the base URL and the provider options.',
}

/** The messages of an error and its causes: fetch hides the reason in the cause. */
function causesOf(error: unknown): string {
  const said: string[] = []
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const code = (at as { readonly code?: unknown }).code
    said.push(typeof code === 'string' && !at.message.includes(code) ? `${at.message} (${code})` : at.message)
  }
  return said.filter((text) => text !== '').join(': ') || String(error)
}
