/**
 * A model endpoint on this machine that plays a script over the wires of the providers, and refuses what they refuse. Owns the port and
 * the order of things: read, refuse, pick a step, judge what it demands, answer, take down. What a wire looks like is the wire's
 * (docs/design/model-server.md).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TurnstepError } from '../../kernel/errors.ts'
import { sessionId, type SessionId } from '../../kernel/ids.ts'
import { nodeClock, nodeIds } from '../../host/node.ts'
import { complaints, Cursor, type CursorMode, type PickedStep, type Script } from '../../models/scripted/index.ts'
import type { Clock, ModelRequest } from '../../runtime/ports.ts'
import { isPlainObject } from '../../util/json.ts'
import { messageOf } from '../../util/text.ts'
import { answer, sendJson, type Answered } from './answer.ts'
import { stringOf, type JsonObject } from './json-body.ts'
import { Recorder, type RequestRecord } from './record.ts'
import { anthropic } from './wires/anthropic/index.ts'
import { ENDPOINT_NAMES } from './wires/chat/dialects.ts'
import { chatWire } from './wires/chat/index.ts'
import type { Refusal, View, Wire, WireRequest } from './wire.ts'

/** How a server is made. */
export interface ModelServerOptions {
  readonly script: Script
  /** Default: one that is free. */
  readonly port?: number
  /** A file to which each request is appended as a line of JSON. */
  readonly log?: string
  /** How steps without `when` find their place; `context` needs no memory, and so survives a restart. Default `calls`. */
  readonly cursor?: CursorMode
  /** Whether replies of which the script says no usage tell an estimated one. Default true. */
  readonly estimatesUsage?: boolean
  /** For delays. Default: the machine's. */
  readonly clock?: Clock
}

/** A server that listens. */
export interface ModelServer {
  /** `http://127.0.0.1:PORT`; behind it the path of the wire, such as `/v1/messages`; before that `/s/NAME` for a session of its own. */
  readonly url: string
  /** What was asked, oldest first. */
  readonly requests: readonly RequestRecord[]
  /** Throws `script-failed`: requests that were refused, expectations that did not hold, steps that were never played. */
  verify(): void
  /** Breaks what is open. */
  close(): Promise<void>
}

/** Starts one. Throws what the system says where the port is taken. */
export async function modelServer(options: ModelServerOptions): Promise<ModelServer> {
  const play = new Play(options)
  const server = createServer((request, response) => void play.serve(request, response))
  await listen(server, options.port ?? 0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests: play.recorder.all,
    verify: () => play.verify(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}

/** The wire of a path, such as `/v1/messages` or `/deepseek/v1/chat/completions`; null: there is none. */
function wireAt(path: string): Wire | null {
  if (path.endsWith('/v1/messages')) return anthropic
  const [chat, name] = /^(?:\/s\/[^/]+)?(?:\/([a-z]+))?(?:\/v1)?\/chat\/completions$/.exec(path) ?? []
  return chat !== undefined && (name === undefined || ENDPOINT_NAMES.includes(name)) ? chatWire(name) : null
}

interface Asked {
  readonly n: number
  readonly session: SessionId
  readonly wire: Wire
  readonly path: string
  readonly raw: string
  readonly request: WireRequest
}

class Play {
  readonly recorder: Recorder
  readonly #cursor: Cursor
  readonly #clock: Clock
  readonly #estimatesUsage: boolean

  constructor({ script, log, cursor = 'calls', clock = nodeClock, estimatesUsage = true }: ModelServerOptions) {
    this.recorder = new Recorder(log ?? null)
    this.#cursor = new Cursor(script, cursor)
    this.#clock = clock
    this.#estimatesUsage = estimatesUsage
  }

  async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(incoming.url ?? '/', 'http://localhost')
    if (pathname === '/__log') return sendJson(response, { status: 200, body: this.recorder.all })
    const wire = wireAt(pathname)
    if (wire === null || incoming.method !== 'POST')
      return sendJson(response, {
        status: 404,
        body: { error: { message: `no wire at ${incoming.method} ${pathname}` } },
      })
    const raw = await textOf(incoming)
    const [, name = 'default'] = /^\/s\/([^/]+)\//.exec(pathname) ?? []
    const session = sessionId(name)
    const body = objectIn(raw)
    const id = wire.responsePrefix + nodeIds.next().replaceAll('-', '')
    const request: WireRequest = {
      headers: incoming.headers as WireRequest['headers'],
      body,
      response: id,
      estimatesUsage: this.#estimatesUsage,
    }
    await this.#answer({ n: this.recorder.begin(), session, wire, path: pathname, raw, request }, response)
  }

  async #answer(asked: Asked, response: ServerResponse): Promise<void> {
    const { wire, request } = asked
    const refusal = wire.refusalOf(request)
    if (refusal !== null) return this.#refuse(asked, refusal, response)
    const view = wire.viewOf(request)
    const pick = this.#cursor.pick({ ...view.request, session: asked.session, epoch: 0 })
    if (pick === null) return this.#refuse(asked, unexpected(view), response, view)
    const wrong = complaintsOf(pick, view)
    const take = (answered: Answered): void =>
      this.#take(asked, { view, step: pick.label, complaints: wrong, ...answered })
    let isTaken = false
    const answered = await answer({ wire, request, response, step: pick.step, clock: this.#clock }, (played) => {
      pick.consume()
      if (played === null) return
      isTaken = true
      take(played)
    })
    if (!isTaken) take(answered)
  }

  #refuse(asked: Asked, refusal: Refusal, response: ServerResponse, view: View | null = null): void {
    const { rule, status, body, headers } = refusal
    sendJson(response, { status, body, headers: { ...asked.wire.headersOf(asked.request), ...headers } })
    this.#take(asked, { view, refused: rule, complaints: [`${rule}: ${JSON.stringify(body)}`], status })
  }

  #take(asked: Asked, { view, ...rest }: Partial<Omit<RequestRecord, 'view'>> & { readonly view: View | null }): void {
    const { n, session, wire, path, raw, request } = asked
    this.recorder.add({
      n,
      session,
      wire: wire.name,
      path,
      raw,
      model: stringOf(request.body['model']),
      view: view === null ? null : shown(view.request),
      refused: null,
      step: null,
      complaints: [],
      status: 200,
      frames: 0,
      hungUp: false,
      ...rest,
    })
  }

  verify(): void {
    const problems = this.recorder.all.flatMap(({ n, complaints: all }) => all.map((one) => `request ${n}: ${one}`))
    for (const step of this.#cursor.unplayed()) problems.push(`${step} was never played`)
    if (problems.length === 0) return
    throw new TurnstepError('script-failed', `the script and the requests do not agree: ${problems.join('; ')}`, {
      data: problems,
    })
  }
}

function complaintsOf({ step, view, previous }: PickedStep, { replays }: View): readonly string[] {
  if (step.expect === undefined) return []
  try {
    return complaints(step.expect, view, { replays: () => replays, previous })
  } catch (error) {
    return [`the script threw: ${messageOf(error)}`]
  }
}

function unexpected({ request: { messages } }: View): Refusal {
  const message = `no step expects this request of ${messages.length} messages, the last by "${messages.at(-1)?.role ?? 'nobody'}"; add a step, or find out who asks`
  return { rule: 'script', status: 400, body: { error: { type: 'script', message } } }
}

const shown = ({
  system,
  tools,
  messages,
}: Pick<ModelRequest, 'system' | 'tools' | 'messages'>): RequestRecord['view'] => ({
  system,
  tools: tools.map(({ name }) => name),
  messages: messages.toArray(),
})

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** What is no JSON object has no field that a wire could find. */
function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isPlainObject(value) ? value : {}
  } catch {
    return {}
  }
}
