/** A server that stays up while its sessions wait for a person: messages and decisions come over HTTP, at any time. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHarness, isTurnstepError, type AgentSpec } from 'turnstep'
import { Desk, type Decision } from './desk.ts'

export interface Service {
  readonly port: number
  close(): Promise<void>
}

export async function serve(agent: AgentSpec, store: string, port = 0): Promise<Service> {
  const harness = await createHarness({ store })
  const desk = new Desk(harness, agent)
  await desk.takeUp()

  const server = createServer((request, response) => {
    answer(desk, request).then(
      ({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(statusOf(error)).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      await closed(server) // first: nothing new comes in
      await harness.close() // then: a running turn is parked where it stands, a question stays asked
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

/** `GET /sessions/ID`, `POST /sessions/ID/messages`, `POST /sessions/ID/calls/CALL`. Who may do which is yours to check. */
async function answer(desk: Desk, request: IncomingMessage): Promise<Answer> {
  const [, sessions, id = '', part, call = ''] = new URL(request.url ?? '', 'http://localhost').pathname.split('/')
  if (sessions !== 'sessions') return { status: 404, body: null }
  if (request.method === 'GET') return { status: 200, body: await desk.status(id) }
  if (part === 'messages') {
    const { text, key } = (await bodyOf(request)) as { readonly text: string; readonly key: string }
    await desk.send(id, text, key)
    return { status: 202, body: { key } }
  }
  const state = await desk.decide(id, call, (await bodyOf(request)) as Decision)
  return { status: state === 'entered' ? 200 : 409, body: { state } }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return JSON.parse(text) as unknown
}

function statusOf(error: unknown): number {
  if (isTurnstepError(error, 'session-missing')) return 404
  return error instanceof SyntaxError ? 400 : 500
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
