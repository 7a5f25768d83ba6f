/** Replies as events, broken where a script says so. */
import { afterEach, describe, expect, it } from 'vitest'
import type { ScriptStep } from '../../../../models/scripted/index.ts'
import { objectsOf, stringOf, type JsonObject } from '../../json-body.ts'
import { modelServer, type ModelServer } from '../../server.ts'
import { ADAPTIVE, user } from './client.case.ts'

const open: ModelServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

interface Streamed {
  readonly server: ModelServer
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly events: readonly JsonObject[]
  /** The connection broke before the answer was whole. */
  readonly isBroken: boolean
}

async function stream(step: ScriptStep): Promise<Streamed> {
  const server = await modelServer({ script: [step] })
  open.push(server)
  const response = await fetch(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: ADAPTIVE,
      max_tokens: 100,
      stream: true,
      thinking: { type: 'adaptive' },
      messages: [user('go')],
    }),
  })
  const { text, isBroken } = await bodyOf(response)
  const events = text.split('\n\n').flatMap((event) => {
    const data = /^data: (.*)$/m.exec(event)?.[1]
    return data === undefined ? [] : [JSON.parse(data) as JsonObject]
  })
  return { server, status: response.status, headers: response.headers, text, events, isBroken }
}

async function bodyOf(response: Response): Promise<{ text: string; isBroken: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true })
    return { text, isBroken: false }
  } catch {
    return { text, isBroken: true }
  }
}

const WHOLE: ScriptStep = {
  emit: [
    { reasoning: 'let me see 看看' },
    { redacted: true },
    { text: 'Looking 😀.' },
    { call: { name: 'look', args: { at: '海' } } },
    { call: { name: 'look' } },
  ],
  usage: { input: 100, cacheRead: 64, cacheWrite: 6, output: 40, reasoning: 25 },
  stream: { chunk: 4, argChunk: 3, splitBytes: 1, ping: true },
}

const types = ({ events }: Streamed): unknown[] => events.map(({ type }) => type)
const deltas = ({ events }: Streamed): readonly JsonObject[] => objectsOf(events.map(({ delta }) => delta))
const joined = (streamed: Streamed, key: string): string =>
  deltas(streamed)
    .map((delta) => stringOf(delta[key]))
    .join('')

describe('a reply as events', () => {
  it('comes block by block, signed, with its usage, byte by byte if need be', async () => {
    const streamed = await stream(WHOLE)
    expect(types(streamed)[0]).toBe('message_start')
    expect(types(streamed).slice(-2)).toEqual(['message_delta', 'message_stop'])
    expect(streamed.events.filter(({ type }) => type === 'content_block_start')).toHaveLength(5)
    expect(types(streamed)).toContain('ping')
    expect(joined(streamed, 'thinking')).toBe('let me see 看看')
    expect(joined(streamed, 'text')).toBe('Looking 😀.')
    expect(joined(streamed, 'partial_json')).toBe('{"at":"海"}')
    expect(joined(streamed, 'signature')).toMatch(/^\+\/\+\//)
    expect(streamed.events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: {
        input_tokens: 30,
        cache_read_input_tokens: 64,
        cache_creation_input_tokens: 6,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 25 },
      },
    })
    streamed.server.verify()
  })

  it('keeps thinking from the reader and signs it all the same', async () => {
    const streamed = await stream({ ...WHOLE, stream: { omitThinking: true } })
    expect(joined(streamed, 'thinking')).toBe('')
    expect(joined(streamed, 'signature')).toMatch(/^\+\/\+\//)
  })

  it.each([
    ['end', 'end_turn'],
    ['length', 'max_tokens'],
    ['refusal', 'refusal'],
    ['pause', 'pause_turn'],
    ['context', 'model_context_window_exceeded'],
    ['sequence', 'stop_sequence'],
    ['raw:novel', 'novel'],
  ] as const)('stops as %s says: %s', async (stop, word) => {
    const streamed = await stream({ emit: [{ text: 'x' }], stop })
    expect(streamed.events.at(-2)).toMatchObject({ delta: { stop_reason: word } })
  })

  it('C8: closes the block of a call that was cut', async () => {
    const streamed = await stream({ emit: [{ call: { name: 'look', args: { at: 'the sea' }, cut: true } }] })
    expect(types(streamed).slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop'])
    expect(streamed.events.at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' } })
    expect(() => JSON.parse(joined(streamed, 'partial_json'))).toThrow('JSON')
  })
})

describe('a fault', () => {
  const emit = [{ text: 'one two three' }]
  const chunked = { chunk: 4 }

  it('http: the envelope, the status, the header', async () => {
    const streamed = await stream({ fault: { kind: 'http', status: 529, retryAfterSeconds: 3, message: 'Overloaded' } })
    expect([streamed.status, streamed.headers.get('retry-after')]).toEqual([529, '3'])
    expect(JSON.parse(streamed.text)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    })
  })

  it('http: the page of somebody in between', async () => {
    const streamed = await stream({ fault: { kind: 'http', status: 502, rawBody: '<html>bad gateway</html>' } })
    expect([streamed.status, streamed.text, streamed.headers.get('content-type')]).toEqual([
      502,
      '<html>bad gateway</html>',
      'text/html',
    ])
  })

  it('reset: nothing at all', async () => {
    await expect(stream({ fault: { kind: 'reset' } })).rejects.toThrow('fetch failed')
  })

  it('cut: so many pieces, and the connection is gone', async () => {
    const streamed = await stream({ emit, stream: chunked, fault: { kind: 'cut', after: 2 } })
    expect([joined(streamed, 'text'), streamed.isBroken]).toEqual(['one two ', true])
  })

  it('cleanEnd: so many pieces, and an end like any other', async () => {
    const streamed = await stream({ emit, stream: chunked, fault: { kind: 'cleanEnd', after: 1 } })
    expect([joined(streamed, 'text'), streamed.isBroken, types(streamed).includes('message_stop')]).toEqual([
      'one ',
      false,
      false,
    ])
  })

  it('midError: the provider says so in the stream', async () => {
    const streamed = await stream({ emit, fault: { kind: 'midError', status: 529, message: 'Overloaded' } })
    expect(streamed.events.at(-1)).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: null,
    })
    expect(types(streamed)).not.toContain('message_delta')
  })

  it('garbage: something that is no event', async () => {
    const streamed = await stream({ emit, fault: { kind: 'garbage' } })
    expect(streamed.text).toMatch(/<html>this is no event\n\n$/)
  })

  it('stall: nothing more comes until the client leaves, which is taken down', async () => {
    const server = await modelServer({ script: [{ emit, fault: { kind: 'stall' } }] })
    open.push(server)
    const leave = new AbortController()
    const response = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: ADAPTIVE, max_tokens: 100, stream: true, messages: [user('go')] }),
      signal: leave.signal,
    })
    const reader = response.body!.getReader()
    await reader.read()
    leave.abort()
    await expect(reader.read()).rejects.toThrow('aborted')
    await expect.poll(() => server.requests.map(({ status, hungUp }) => [status, hungUp])).toEqual([[200, true]])
  })
})
