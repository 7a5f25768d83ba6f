import { describe, expect, it } from 'vitest'
import { failureOfError, failureOfNetwork } from './failures.ts'
import { retryAfter } from './retry-after.ts'

function read(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return failureOfError({
    provider: 'acme',
    status,
    headers: new Headers(headers),
    body: text,
    now: 0,
  })
}

const openai = (message: string, code: string | null = null) => ({ error: { message, type: 'x', param: null, code } })

describe('kinds', () => {
  it.each([
    ['an overflow by its code', 400, openai('Too long.', 'context_length_exceeded'), 'context-overflow', false],
    [
      'an overflow by its words',
      400,
      openai("This model's maximum context length is 8192 tokens."),
      'context-overflow',
      false,
    ],
    ['an overflow of Qwen', 400, openai('Range of input length should be [1, 30720]'), 'context-overflow', false],
    [
      'an overflow of MiniMax',
      400,
      openai('invalid params, context window exceeds limit (2013)'),
      'context-overflow',
      false,
    ],
    ['an overflow of GLM', 400, openai('Prompt too long', '1261'), 'context-overflow', false],
    [
      'an overflow of llama.cpp',
      400,
      openai('the request exceeds the available context size'),
      'context-overflow',
      false,
    ],
    ['a rate limit', 429, openai('Rate limit reached', 'rate_limit_exceeded'), 'rate-limited', true],
    ['a rate limit that speaks of tokens', 429, openai('Too many tokens per minute'), 'rate-limited', true],
    ['a quota behind 429', 429, openai('You exceeded your current quota', 'insufficient_quota'), 'quota', false],
    ['a quota of GLM behind 429', 429, openai('用量已达上限', '1308'), 'quota', false],
    [
      'a limit per minute that calls itself a quota',
      429,
      { error: { message: 'You exceeded your current quota', details: [{ retryDelay: '7s' }] } },
      'rate-limited',
      true,
    ],
    ['a quota behind 403', 403, openai('Arrearage'), 'quota', false],
    ['an empty purse', 402, openai('Insufficient Balance'), 'quota', false],
    ['a bad key', 401, openai('Incorrect API key'), 'auth', false],
    [
      'a broken pairing',
      400,
      openai("An assistant message with 'tool_calls' must be followed by tool messages"),
      'transcript-invalid',
      false,
    ],
    [
      'a broken pairing of MiniMax',
      400,
      openai("invalid params, tool result's tool id(X) not found (2013)"),
      'transcript-invalid',
      false,
    ],
    [
      'missing reasoning of V3.2',
      400,
      openai('Missing `reasoning_content` field in the assistant message at message index 2.'),
      'replay-missing',
      false,
    ],
    [
      'missing reasoning of V4',
      400,
      openai('The `reasoning_content` in the thinking mode must be passed back to the API.'),
      'replay-missing',
      false,
    ],
    [
      'missing reasoning of Kimi',
      400,
      openai('thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'),
      'replay-missing',
      false,
    ],
    ['a spoiled signature', 400, openai('Invalid `signature` in `thinking` block'), 'replay-rejected', false],
    [
      'a spoiled signature that a gateway calls 429',
      429,
      openai('Invalid `signature` in `thinking` block'),
      'replay-rejected',
      false,
    ],
    [
      'reasoning where none is known',
      400,
      openai("Unknown parameter: 'messages[2].reasoning'."),
      'replay-rejected',
      false,
    ],
    ['an unknown parameter', 400, openai("Unknown parameter: 'top_k'."), 'invalid-request', false],
    ['no such model', 404, openai('The model does not exist'), 'invalid-request', false],
    ['a server fault', 500, '<html>Internal error</html>', 'server', true],
    ['a gateway timeout', 504, '', 'server', true],
    ['overload', 503, openai('busy'), 'overloaded', true],
    ['overload by 529', 529, openai('busy'), 'overloaded', true],
    ['overload by its words', 500, openai('The engine is currently overloaded'), 'overloaded', true],
    ['an error in a stream', 200, openai('something', 'server_error'), 'server', true],
    [
      'an error in a stream with a status for its code',
      200,
      { error: { code: 429, message: 'slow down' } },
      'rate-limited',
      true,
    ],
    ['an error in a stream with words only', 200, { error: 'rate limit reached' }, 'rate-limited', true],
    [
      'an error of vLLM',
      200,
      { object: 'error', message: 'context length exceeded', code: 400 },
      'context-overflow',
      false,
    ],
    [
      'an error of MiniMax',
      200,
      { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      'quota',
      false,
    ],
  ] as const)('reads %s', (_what, status, body, kind, retry) => {
    expect(read(status, body)).toMatchObject({ kind, retry })
  })

  it('keep status, code and request id, and what was said', () => {
    const failure = read(429, openai('Slow\n  down', 'rate_limit_exceeded'), {
      'x-request-id': 'req_9',
      'retry-after': '2',
    })
    expect(failure).toMatchObject({ status: 429, code: 'rate_limit_exceeded', requestId: 'req_9', retryAfterMs: 2000 })
    expect(failure.message).toBe('acme answered 429: Slow down.')
  })

  it('name the causes that fetch hides', () => {
    const cause = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' })
    const { message } = failureOfNetwork(new TypeError('fetch failed', { cause }), 'http://127.0.0.1:9/v1?key=1')
    expect(message).toContain('no connection to http://127.0.0.1:9: fetch failed: connect refused (ECONNREFUSED)')
    expect(message).not.toContain('key=1')
  })
})

describe('how long to wait', () => {
  const now = Date.parse('2026-11-01T00:00:00Z')
  it.each([
    ['milliseconds before seconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, '', 1500],
    ['seconds', { 'retry-after': '2.5' }, '', 2500],
    ['a date', { 'retry-after': 'Sun, 01 Nov 2026 00:00:05 GMT' }, '', 5000],
    ['a date that has passed', { 'retry-after': 'Sun, 01 Nov 2026 00:00:00 GMT' }, '', 0],
    ['RetryInfo', {}, '{"error":{"details":[{"retryDelay": "7s"}]}}', 7000],
    ['words', {}, 'Please try again in 11.5s.', 11_500],
    ['words in milliseconds', {}, 'Please try again in 250ms', 250],
    ['words in minutes and seconds', {}, 'try again in 1m2.5s', 62_500],
    ['other words', {}, 'Rate limited, retry after 30 seconds', 30_000],
    ['nothing', {}, 'try again later', null],
    ['nonsense', { 'retry-after': 'soon' }, '', null],
  ])('reads %s', (_what, headers, body, wanted) => {
    expect(retryAfter(new Headers(headers as unknown as Record<string, string>), body, now)).toBe(wanted)
  })
})
