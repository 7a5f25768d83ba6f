/** The line to one endpoint: what `chatModel` loads with its first call. */
import type { Failure } from '../../kernel/failure.ts'
import type { ModelChunk, ModelEnd, ModelRequest } from '../../runtime/ports.ts'
import { messageOf } from '../../util/text.ts'
import { failureOfBreak, failureOfCut, failureOfError, failureOfNetwork, protocolFailure } from '../failures.ts'
import { dispatcherFor, type Dispatcher } from '../proxy.ts'
import { Secrets } from '../secrets.ts'
import { sseReader, type SseItem } from '../sse.ts'
import { openCall, type Answer } from '../transport.ts'
import { Watch, type Cut, type WatchLimits } from '../watch.ts'
import { ReplyDecoder, type ReplyChunk } from './decode.ts'
import { ChatEncoder } from './encode.ts'
import type { LineOptions } from './options.ts'

/** Bytes of a refusal, or of an answer in one piece, that are read. */
const BODY_MAX = 32 * 2 ** 20
const REFUSAL_MAX = 64 * 2 ** 10

/** Speaks with one endpoint. */
export class ChatLine {
  readonly #options: LineOptions
  readonly #limits: WatchLimits
  readonly #encoder: ChatEncoder
  readonly #secrets: Secrets
  #dispatcher: Promise<Dispatcher | undefined> | null = null

  constructor(options: LineOptions) {
    const { firstChunkTimeoutMs = 240_000, idleTimeoutMs = 120_000, totalTimeoutMs = 3_600_000 } = options
    const { route, dialect, maxOutputTokens = null, images = dialect.images } = options
    this.#options = options
    this.#secrets = new Secrets(options)
    this.#limits = { firstChunkTimeoutMs, idleTimeoutMs, totalTimeoutMs }
    this.#encoder = new ChatEncoder({ route, dialect, maxOutputTokens, images })
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk, void, undefined> {
    const watch = new Watch(this.#options.clock, this.#limits, signal)
    const decoder = new ReplyDecoder(this.#options.dialect, (json) => this.#refusal(200, new Headers(), json))
    let shown = false
    try {
      for await (const chunk of this.#chunks(request, watch, decoder)) {
        shown = true
        yield chunk
        if (watch.cut !== null) break
      }
      if (watch.cut === null || decoder.finished) yield* decoder.rest()
    } catch (error) {
      decoder.fail({
        kind: 'unknown',
        message: `the chat adapter failed: ${messageOf(error)}. Please report it.`,
        retry: false,
      })
    } finally {
      watch.close()
    }
    yield this.#secrets.hideIn(lastWord(watch.cut, decoder, shown))
  }

  async *#chunks(
    request: ModelRequest,
    watch: Watch,
    decoder: ReplyDecoder,
  ): AsyncGenerator<ReplyChunk, void, undefined> {
    const opened = await this.#open(request, watch)
    if (opened.kind === 'cut') return
    if (opened.kind === 'failed') return decoder.fail(failureOfNetwork(opened.error, this.#options.url))
    const { answer } = opened
    try {
      if (answer.status < 200 || answer.status > 299) decoder.fail(await this.#refused(answer))
      else if (isWhole(answer)) yield* wholeReply(answer, decoder)
      else yield* streamedReply(answer, watch, decoder)
    } finally {
      answer.close()
    }
  }

  async #open(request: ModelRequest, watch: Watch): Promise<Awaited<ReturnType<typeof openCall>>> {
    if (watch.cut !== null) return { kind: 'cut', cut: watch.cut }
    const { proxy = null, fetch: send = fetch } = this.#options
    this.#dispatcher ??= dispatcherFor(proxy, Math.max(this.#limits.firstChunkTimeoutMs, this.#limits.idleTimeoutMs))
    const dispatcher = await this.#dispatcher
    const body = this.#encoder.encode(request)
    const call = { url: this.#options.url, headers: this.#headers(), body, fetch: send }
    return openCall(dispatcher === undefined ? call : { ...call, dispatcher }, watch)
  }

  #headers(): Record<string, string> {
    const { apiKey, headers } = this.#options
    return {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      ...headers,
    }
  }

  async #refused(answer: Answer): Promise<Failure> {
    const { text } = await answer.text(REFUSAL_MAX)
    return this.#refusal(answer.status, answer.headers, text)
  }

  #refusal(status: number, headers: Headers, body: string): Failure {
    const { provider, clock } = this.#options
    return failureOfError({ provider, status, headers, body, now: clock.now() })
  }
}

/** A cut after a finish reason came costs nothing but the usage; an abort is an abort. */
function lastWord(cut: Cut | null, decoder: ReplyDecoder, shown: boolean): ModelEnd {
  if (cut?.kind === 'aborted') {
    const end = decoder.end(shown)
    const usage = 'reply' in end ? end.reply.usage : end.usage
    return { type: 'end', kind: 'aborted', failure: { ...failureOfCut(cut), partial: shown }, usage }
  }
  if (cut !== null && !decoder.finished && !decoder.done) decoder.fail(failureOfCut(cut))
  return decoder.end(shown)
}

async function* streamedReply(
  answer: Answer,
  watch: Watch,
  decoder: ReplyDecoder,
): AsyncGenerator<ReplyChunk, void, undefined> {
  const reader = await sseReader()
  while (!decoder.failed) {
    const piece = await answer.read()
    if (piece.kind === 'cut') return
    if (piece.kind === 'failed') {
      if (!decoder.finished && !decoder.done) decoder.fail(failureOfBreak(piece.error))
      return
    }
    if (piece.value === null) return yield* lastPieces(reader.end(), decoder)
    for (const item of reader.push(piece.value)) {
      if (item.kind === 'event' && item.event === 'error') decoder.refuse(item.data)
      else if (item.kind === 'event') yield* decoder.accept(item.data)
      else decoder.fail(protocolFailure('the stream holds a line that is no server-sent event', item.line))
    }
    if (decoder.done) watch.hurry(AFTER_DONE_MS)
  }
}

/**
 * How long the end of the body may take once the reply is over. It mostly comes along with the end mark; a body that is read to its
 * end leaves a connection that the next call can use.
 */
const AFTER_DONE_MS = 100

/** An event that the end of the body cut short says nothing; one that only lacks its blank line counts. */
function* lastPieces(items: readonly SseItem[], decoder: ReplyDecoder): Generator<ReplyChunk> {
  for (const item of items) {
    if (item.kind === 'event' && isComplete(item.data)) yield* decoder.accept(item.data)
  }
}

/** A server that does not stream answers in one piece. */
async function* wholeReply(answer: Answer, decoder: ReplyDecoder): AsyncGenerator<ReplyChunk, void, undefined> {
  const { text, cut } = await answer.text(BODY_MAX)
  if (cut !== null) return
  if (isComplete(text)) yield* decoder.accept(text)
  if (decoder.finished) return
  const type = answer.headers.get('content-type') ?? 'untyped'
  decoder.fail(protocolFailure(`the answer is ${type} and holds no finished reply`, text, false))
}

function isWhole(answer: Answer): boolean {
  const type = answer.headers.get('content-type')
  return type !== null && !/event-stream|text\/plain|octet-stream/.test(type)
}

function isComplete(data: string): boolean {
  if (data.trim() === '[DONE]') return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}
