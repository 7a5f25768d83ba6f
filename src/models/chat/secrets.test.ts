import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTurnstepError } from '../../kernel/errors.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { ask, collect } from '../contract.case.ts'
import { type ChatOptions, chatModel } from './index.ts'

const KEY = 'sk-SECRETSECRETSECRETSECRET'
/** All pieces of the key that are long enough to be one. */
const PIECES = Array.from({ length: KEY.length - 7 }, (_, at) => KEY.slice(at, at + 8))

type Echo = (authorization: string, request: IncomingMessage, response: ServerResponse) => string

const page =
  (status: number, type: string, echo: Echo): Echo =>
  (authorization, request, response) => {
    response.writeHead(status, { 'content-type': type })
    return echo(authorization, request, response)
  }

/** Endpoints, mostly meant for debugging, that show what they were sent. */
const ECHOES: Readonly<Record<string, Echo>> = {
  'all headers as JSON under 200': page(200, 'application/json', (_key, { headers, url }) =>
    JSON.stringify({ headers, url }),
  ),
  'a page under 200': page(200, 'text/html', (key) => `<pre>authorization: ${key}</pre>`),
  'a line that is no event': page(200, 'text/event-stream', (key) => `DEBUG authorization: ${key}\n\n`),
  'a line that is nothing but the header': page(200, 'text/event-stream', (key) => `${key}\n\n`),
  'an event that is no JSON': page(200, 'text/event-stream', (key) => `data: authorization: ${key}\n\n`),
  'an event that is no object': page(200, 'text/event-stream', (key) => `data: ${JSON.stringify(key)}\n\n`),
  'an error event': page(200, 'text/event-stream', (key) => `event: error\ndata: {"error":"bad ${key}"}\n\n`),
  'an error in the stream': page(
    200,
    'text/event-stream',
    (key) => `data: {"error":{"message":"${key}","code":"${key}"}}\n\n`,
  ),
  'content that is no text': page(
    200,
    'text/event-stream',
    (key) => `data: {"choices":[{"delta":{"content":{"a":"${key}"}}}]}\n\n`,
  ),
  'a finish reason': page(
    200,
    'text/event-stream',
    (key) => `data: {"choices":[{"delta":{},"finish_reason":"${key}"}]}\n\n`,
  ),
  'message and code of a refusal': page(401, 'application/json', (key) =>
    JSON.stringify({ error: { message: `bad key ${key}`, code: key } }),
  ),
  'the type of a refusal': page(400, 'application/json', (key) =>
    JSON.stringify({ error: { message: 'no', type: key } }),
  ),
  'a refusal in plain text': page(403, 'text/plain', (key) => `forbidden: ${key}`),
  'a request id': (key, _request, response) => {
    response.writeHead(401, { 'x-request-id': key })
    return 'no'
  },
  'a content type': (key, _request, response) => {
    response.writeHead(200, { 'content-type': `text/html; key="${key}"` })
    return 'no'
  },
}

let server: Server
let base: string
/** Everything the server says before the key, to move it over the cut. */
let lead = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    const name = decodeURIComponent(request.url!.split('/')[1]!)
    const sent = [request.headers.authorization, request.headers['x-api-key']].find((value) => value !== undefined)
    if (name === 'cut') response.writeHead(401).end(`${lead}${String(sent)} is wrong`)
    else if (name === 'cut-200')
      response.writeHead(200, { 'content-type': 'text/html' }).end(`${lead}${String(sent)} is wrong`)
    else response.end(ECHOES[name]!(String(sent), request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const plain = { provider: 'p', model: 'm', apiKey: KEY }

/** All chunks of one call, as they would be logged. */
async function logged(path: string, change: Partial<ChatOptions> = {}): Promise<string> {
  const options = { ...plain, baseUrl: `${base}/${encodeURIComponent(path)}`, clock: new FakeClock(), ...change }
  const { chunks, end } = await collect(chatModel(options), ask('go'))
  return JSON.stringify([chunks, end])
}

function expectHidden(text: string): void {
  for (const piece of PIECES) expect(text).not.toContain(piece)
}

describe('a key is in no chunk', () => {
  it.each(Object.keys(ECHOES))('when the endpoint echoes it as %s', async (echo) => {
    const text = await logged(echo)
    expectHidden(text)
    expect(text).toContain('***')
  })

  it.each(Object.keys(ECHOES))('when it is in a header, and the endpoint echoes that as %s', async (echo) => {
    expectHidden(await logged(echo, { apiKey: null, headers: { authorization: `Basic ${KEY}` } }))
    expectHidden(await logged(echo, { apiKey: null, headers: { 'X-Api-Key': KEY } }))
  })

  it('wherever the cut of what was said falls', async () => {
    for (let length = 255; length <= 305; length++) {
      lead = `${'x'.repeat(length)} `
      expectHidden(await logged('cut'))
      expectHidden(await logged('cut-200'))
    }
  })

  it('when the transport quotes it', async () => {
    const quoting: typeof fetch = (url, init) =>
      Promise.reject(
        new TypeError('fetch failed', { cause: new Error(`${JSON.stringify(url)} ${JSON.stringify(init)}`) }),
      )
    expectHidden(await logged('x', { fetch: quoting }))
  })

  it('when it is in a URL that the transport quotes', async () => {
    expectHidden(await logged('x', { apiKey: null, baseUrl: base.replace('//', `//ann:${KEY}@`) }))
    expectHidden(
      await logged('all headers as JSON under 200', {
        apiKey: null,
        baseUrl: `${base}/all%20headers%20as%20JSON%20under%20200/v1?key=${KEY}`,
      }),
    )
    expectHidden(await logged('x', { proxy: { httpProxy: `http://ann:${KEY}@[bad` } }))
  })

  it.each([`${KEY}\nsecond-line`, `${KEY}\0`, `${KEY} `])('nor in the error where it cannot be sent: %j', (apiKey) => {
    const make = () => chatModel({ ...plain, apiKey, baseUrl: base, clock: new FakeClock() })
    expectHidden(messageThrown(make))
    expect(make).toThrow(/position 28 and cannot be sent/)
  })

  it('nor in the error of a base URL that is none', () => {
    const make = () => chatModel({ ...plain, baseUrl: `https//ann:${KEY}@a.example`, clock: new FakeClock() })
    expectHidden(messageThrown(make))
  })

  it('when it comes as the arguments of a call without a name: the failure hides what the model was free to say', async () => {
    const call = { index: 0, id: 'a', function: { arguments: KEY } }
    const body = `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [call] }, finish_reason: 'stop' }] })}\n\n`
    const options = {
      ...plain,
      baseUrl: base,
      clock: new FakeClock(),
      fetch: () => Promise.resolve(new Response(body)),
    }
    expectHidden(JSON.stringify((await collect(chatModel(options), ask('go'))).end))
  })

  it('and what the model itself says is not touched', async () => {
    const body = `data: {"choices":[{"delta":{"content":"the key is ${KEY}"},"finish_reason":"stop"}]}\n\n`
    const said: typeof fetch = () => Promise.resolve(new Response(body))
    expect(await logged('x', { fetch: said })).toContain(KEY)
  })
})

/** All that an error shows, its causes too. */
function messageThrown(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (isTurnstepError(error)) return JSON.stringify([error.message, error.data, error.cause ?? null])
  }
  throw new Error('it threw nothing of ours')
}
