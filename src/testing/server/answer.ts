/** Writing one answer: frames one after the other, cut as the script says, broken where its fault says. */
import type { ServerResponse } from 'node:http'
import type { Fault, ScriptStep } from '../../models/scripted/index.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { Frame, Wire, WireRequest } from './wire.ts'

export interface Answering {
  readonly wire: Wire
  readonly step: ScriptStep
  readonly request: WireRequest
  readonly response: ServerResponse
  readonly clock: Clock
}

/** How it went. */
export interface Answered {
  readonly status: number
  readonly frames: number
  /** The client left before the end, or before the fault had its effect. */
  readonly hungUp: boolean
}

type OnPlayed = (answered: Answered | null) => void

/**
 * Resolves when the answer is written, its fault is over, or the client has left. `onPlayed`: all of it has been written, or the fault is
 * about to fire; it is called before the client can know, with null while it is open how it goes on.
 */
export async function answer(answering: Answering, onPlayed: OnPlayed): Promise<Answered> {
  const { wire, step, request, response } = answering
  const { fault } = step
  if (fault?.kind === 'reset' || fault?.kind === 'http') return refuse(answering, fault, onPlayed)
  const type = request.body['stream'] === true ? 'text/event-stream; charset=utf-8' : 'application/json'
  response.writeHead(200, { ...wire.headersOf(request), 'content-type': type })
  response.flushHeaders()
  const all = wire.framesOf(step, request)
  const last = fault === undefined ? all.length : faultAt(all, fault.after ?? Infinity)
  for (const [at, frame] of all.slice(0, last).entries()) {
    await delay(answering, frame)
    if (response.destroyed) return { status: 200, frames: at, hungUp: true }
    // The end of the answer goes with its last frame: whoever has read it all finds it taken down.
    if (fault === undefined && at === last - 1) onPlayed({ status: 200, frames: last, hungUp: false })
    await write(response, frame.text, step.stream?.splitBytes)
  }
  if (fault === undefined) response.end()
  else {
    // How long a stall lasts is for the client to say.
    onPlayed(fault.kind === 'stall' ? null : { status: 200, frames: last, hungUp: false })
    await breakDown(answering, fault.kind)
  }
  return { status: 200, frames: last, hungUp: fault?.kind === 'stall' }
}

function refuse({ wire, step, request, response }: Answering, fault: Fault, onPlayed: OnPlayed): Answered {
  if (fault.kind === 'reset') {
    const answered = { status: 0, frames: 0, hungUp: false }
    onPlayed(answered)
    response.socket?.destroy()
    return answered
  }
  const { status, body, headers } = wire.errorAnswer(step)
  const retry = fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) }
  const answered = { status, frames: 0, hungUp: false }
  onPlayed(answered)
  sendJson(response, {
    status,
    body: fault.rawBody ?? body,
    headers: { ...wire.headersOf(request), ...headers, ...retry },
  })
  return answered
}

/** The frame before which it breaks: so many pieces have come, and the end has not. */
function faultAt(frames: readonly Frame[], after: number): number {
  const pieces = frames.flatMap(({ isPiece }, at) => (isPiece ? [at] : []))
  return pieces[after] ?? (pieces.at(-1) ?? 0) + 1
}

async function breakDown({ wire, step, response }: Answering, kind: string): Promise<void> {
  if (kind === 'stall') return new Promise((resolve) => response.on('close', resolve))
  if (kind === 'cut') return void response.socket?.destroy()
  if (kind === 'garbage') await write(response, '<html>this is no event\n\n')
  if (kind === 'midError') await write(response, wire.errorFrame(step))
  response.end()
}

function delay({ step, clock, response }: Answering, { isPiece }: Frame): Promise<void> | undefined {
  const ms = step.stream?.delayMs ?? 0
  if (!isPiece || ms === 0) return
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    response.once('close', () => (cancel(), resolve()))
  })
}

async function write(response: ServerResponse, text: string, size = Infinity): Promise<void> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    const piece = bytes.subarray(from, from + size)
    await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  }
}

/** One whole answer; a text is sent as it is. */
export function sendJson(
  response: ServerResponse,
  {
    status,
    body,
    headers = {},
  }: { readonly status: number; readonly body: unknown; readonly headers?: { readonly [name: string]: string } },
): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
  response.end(isText ? body : JSON.stringify(body))
}
