/** A chat endpoint on 127.0.0.1 that plays a script, refuses what strict ones refuse, and breaks when the script says so. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Emit, EmitCall, Expectation, ScriptStep } from '../scripted/index.ts'
import { refusalOf, type StrictRules, type Wire } from './strict.case.ts'

/** A step, and how this wire dresses it. */
export interface WireStep extends ScriptStep {
  /** Where reasoning stands. Default `reasoning_content`. */
  readonly reasoning?: 'reasoning_content' | 'reasoning' | 'details' | 'inline'
  /** Instead of the stream: this body, with this type. */
  readonly raw?: {
    readonly body: string
    readonly type?: string
    readonly status?: number
    readonly headers?: Record<string, string>
  }
  /** One JSON answer, although a stream was asked for. */
  readonly whole?: boolean
  /** No end mark, or the connection stays open behind it. */
  readonly tail?: 'no-done' | 'open'
  /** Bytes per write. */
  readonly splitBytes?: number
  readonly rawUsage?: Wire
}

export interface Seen {
  readonly raw: string
  readonly body: Wire
  readonly headers: IncomingMessage['headers']
}

export interface ChatServer {
  readonly url: string
  readonly seen: readonly Seen[]
  /** Requests that it refused, expectations that did not hold. */
  readonly complaints: string[]
  /** Resolves when a client has hung up. */
  readonly hungUp: () => number
  readonly connections: () => number
  close(): Promise<void>
}

export async function chatServer(script: readonly WireStep[], rules: StrictRules = {}): Promise<ChatServer> {
  const play = new Play(script, rules)
  const server = createServer((request, response) => void play.answer(request, response))
  let connections = 0
  server.on('connection', () => void connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen: play.seen,
    complaints: play.complaints,
    hungUp: () => play.hungUp,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class Play {
  readonly seen: Seen[] = []
  readonly complaints: string[] = []
  hungUp = 0
  readonly #script: readonly WireStep[]
  readonly #rules: StrictRules
  readonly #said: Wire[] = []
  readonly #played = new Set<number>()

  constructor(script: readonly WireStep[], rules: StrictRules) {
    this.#script = script
    this.#rules = rules
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await bodyOf(request)
    response.on('close', () => {
      if (!response.writableFinished) this.hungUp++
    })
    const body = JSON.parse(raw) as Wire
    const previous = this.seen.at(-1)
    this.seen.push({ raw, body, headers: request.headers })
    const refusal = refusalOf(body, this.#rules)
    if (refusal !== null) {
      this.complaints.push(refusal.message)
      return json(response, refusal.status, {
        error: { message: refusal.message, type: 'invalid_request_error', param: null, code: refusal.code },
      })
    }
    const wanted = (one: WireStep): boolean => lastUser(body).includes(String(one.when?.lastUser ?? ''))
    const at = this.#script.findIndex((one, index) => !this.#played.has(index) && wanted(one))
    const step = this.#script[at]
    if (step === undefined) {
      this.complaints.push('no step expects this call')
      return json(response, 400, { error: { message: 'no step expects this call' } })
    }
    this.#judge(step.expect ?? {}, { raw, body, previous })
    await this.#play(step, response, () => void this.#played.add(at))
  }

  #judge(expect: Expectation, { raw, body, previous }: { raw: string; body: Wire; previous: Seen | undefined }): void {
    const complain = (holds: boolean, what: string): void => void (holds || this.complaints.push(what))
    const messages = body['messages'] as Wire[]
    const assistants = messages.filter((message) => message['role'] === 'assistant')
    for (const text of expect.contains ?? [])
      complain(raw.includes(JSON.stringify(text).slice(1, -1)), `the request lacks ${String(text)}`)
    for (const text of expect.absent ?? [])
      complain(!raw.includes(JSON.stringify(text).slice(1, -1)), `the request has ${String(text)}`)
    if (expect.messages !== undefined) complain(messages.length === expect.messages + 1, `${messages.length} messages`)
    if (expect.toolChoice === 'none') complain(body['tool_choice'] === 'none', 'tool_choice is not none')
    if (expect.replayCount !== undefined)
      complain(assistants.length === expect.replayCount, `${assistants.length} replies`)
    if (expect.replayExact === true) {
      const said = this.#said.slice(0, assistants.length)
      complain(
        JSON.stringify(assistants) === JSON.stringify(said),
        `replies came back as ${JSON.stringify(assistants)}, not as ${JSON.stringify(said)}`,
      )
    }
    if (expect.prefixSame === true && previous !== undefined) {
      const start = previous.raw.slice(0, previous.raw.lastIndexOf('],"stream"'))
      complain(raw.startsWith(start), 'the request does not start with the one before it')
    }
  }

  async #play(step: WireStep, response: ServerResponse, consume: () => void): Promise<void> {
    const { fault, raw } = step
    if (raw !== undefined) {
      consume()
      response.writeHead(raw.status ?? 200, { 'content-type': raw.type ?? 'text/event-stream', ...raw.headers })
      return void response.end(raw.body)
    }
    if (fault?.kind === 'http') {
      consume()
      if (fault.retryAfterSeconds !== undefined) response.setHeader('retry-after', String(fault.retryAfterSeconds))
      return json(response, fault.status ?? 500, {
        error: { message: fault.message ?? 'refused', type: 'x', code: fault.code ?? null },
      })
    }
    if (step.whole === true) {
      consume()
      return json(response, 200, {
        choices: [{ index: 0, message: messageOf(step, this.#rules), finish_reason: finishOf(step) }],
        usage: usageOf(step),
      })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_1' })
    response.flushHeaders()
    const wrote = await this.#stream(step, response, consume)
    if (wrote) this.#said.push(messageOf(step, this.#rules))
  }

  /** Whether the reply was delivered whole. */
  async #stream(step: WireStep, response: ServerResponse, consume: () => void): Promise<boolean> {
    const { fault } = step
    const write = (text: string): Promise<void> => writeSplit(response, text, step.splitBytes)
    const deltas = deltasOf(step)
    for (const delta of deltas.slice(0, fault?.after)) {
      await write(
        event({
          id: 'c1',
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta, finish_reason: null }],
          usage: null,
        }),
      )
    }
    consume()
    if (fault !== undefined) {
      if (fault.kind === 'stall') return false
      if (fault.kind === 'garbage') await write('<html>this is no event\n\n')
      if (fault.kind === 'midError') {
        await write(
          event({
            error: {
              message: fault.message ?? 'broke down',
              type: 'server_error',
              code: fault.code ?? fault.status ?? null,
            },
          }),
        )
      }
      if (fault.kind === 'cut') response.socket?.destroy()
      else response.end()
      return false
    }
    await write(event({ choices: [{ index: 0, delta: {}, finish_reason: finishOf(step) }] }))
    const usage = usageOf(step)
    if (usage !== null) await write(event({ choices: [], usage }))
    if (step.tail !== 'no-done') await write('data: [DONE]\n\n')
    if (step.tail !== 'open') response.end()
    return true
  }
}

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`

function deltasOf(step: WireStep): Wire[] {
  const deltas: Wire[] = []
  const pieces = (text: string, size = Infinity): string[] => {
    const all = Array.from(text)
    if (all.length <= size) return text === '' ? [] : [text]
    return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size).join(''))
  }
  let calls = 0
  for (const part of step.emit ?? []) {
    if ('call' in part) {
      const index = calls++
      const head = { index, id: part.call.id ?? `call_${index}_${part.call.name}`, type: 'function' }
      const [first = '', ...rest] = pieces(argsOf(part.call), step.stream?.argChunk)
      deltas.push({ tool_calls: [{ ...head, function: { name: part.call.name, arguments: first } }] })
      for (const args of rest) deltas.push({ tool_calls: [{ index, function: { arguments: args } }] })
    } else if ('text' in part) for (const text of pieces(part.text, step.stream?.chunk)) deltas.push({ content: text })
    else if ('reasoning' in part)
      deltas.push(...reasoningDeltas(part.reasoning, step, (text) => pieces(text, step.stream?.chunk)))
  }
  return deltas
}

function reasoningDeltas(
  text: string,
  { reasoning = 'reasoning_content' }: WireStep,
  cut: (text: string) => string[],
): Wire[] {
  if (reasoning === 'inline') return cut(`<think>${text}</think>\n\n`).map((content) => ({ content }))
  if (reasoning !== 'details') return cut(text).map((piece) => ({ [reasoning]: piece }))
  const head = { type: 'reasoning.text', index: 0 }
  const details: Wire[] = [...cut(text).map((piece) => ({ ...head, text: piece })), { ...head, signature: SIGNATURE }]
  return details.map((detail) => ({ reasoning_details: [detail] }))
}

/** Opaque, and full of characters that a careless copy spoils. */
const SIGNATURE = 'sig+/=\\u2028 "签名"'

/** What a client has to send back for this step. */
function messageOf(step: WireStep, rules: StrictRules): Wire {
  const { reasoning = 'reasoning_content', emit = [] } = step
  const all = (pick: (part: Emit) => string | undefined): string => emit.map((part) => pick(part) ?? '').join('')
  const thought = all((part) => ('reasoning' in part ? part.reasoning : undefined))
  const inline = reasoning === 'inline' && thought !== '' ? `<think>${thought}</think>\n\n` : ''
  const content = inline + all((part) => ('text' in part ? part.text : undefined))
  const calls = emit.flatMap((part) => ('call' in part ? [part.call] : []))
  const message: Wire = { role: 'assistant', content: content === '' ? null : content }
  if (reasoning === 'details' && thought !== '') {
    message['reasoning_details'] = [{ type: 'reasoning.text', index: 0, text: thought, signature: SIGNATURE }]
  } else if (reasoning !== 'inline' && thought !== '') message[reasoning] = thought
  if (rules.reasoning === 'spans') message['reasoning_content'] ??= ''
  if (calls.length > 0) {
    message['tool_calls'] = calls.map((call, index) => ({
      id: call.id ?? `call_${index}_${call.name}`,
      type: 'function',
      function: { name: call.name, arguments: argsOf(call) },
    }))
  }
  return message
}

function argsOf(call: EmitCall): string {
  const whole = call.raw ?? JSON.stringify(call.args ?? {})
  return call.cut === true ? whole.slice(0, Math.ceil(whole.length / 2)) : whole
}

function finishOf(step: WireStep): string {
  const calls = (step.emit ?? []).flatMap((part) => ('call' in part ? [part.call] : []))
  const stop = step.stop ?? (calls.some((call) => call.cut === true) ? 'length' : calls.length > 0 ? 'tool' : 'end')
  const words: Record<string, string> = { end: 'stop', tool: 'tool_calls', filter: 'content_filter', sequence: 'stop' }
  return words[stop] ?? stop.replace(/^raw:/, '')
}

function usageOf({ usage, rawUsage }: WireStep): Wire | null {
  if (rawUsage !== undefined) return rawUsage
  if (usage === undefined) return null
  return {
    prompt_tokens: usage.input ?? 0,
    completion_tokens: usage.output ?? 0,
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  }
}

function lastUser(body: Wire): string {
  const message = (body['messages'] as Wire[]).findLast((one) => one['role'] === 'user')
  return JSON.stringify(message?.['content'] ?? '')
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function writeSplit(response: ServerResponse, text: string, size = Infinity): Promise<void> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) {
    if (response.destroyed) return
    const piece = bytes.subarray(from, from + size)
    await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  }
}
