/**
 * Turns what a chat endpoint says, piece by piece, into chunks and one reply.
 * Owns: the reply in the making. Not: the connection, the timers, the abort.
 * 1. Nothing counts as an end but a finish reason: a stream that stops without one was interrupted (T3).
 * 2. After a problem nothing is accepted; the problem is the outcome.
 * 3. What could be read in two ways is a problem, not a guess (case 074).
 */
import type { Failure } from '../../kernel/failure.ts'
import type { ModelChunk, ModelEnd, ModelReply } from '../../runtime/ports.ts'
import type { Json } from '../../util/json.ts'
import { isPlainObject } from '../../util/json.ts'
import { noFinish, protocolFailure } from '../failures.ts'
import { CallAssembly } from './calls.ts'
import { REASONING_KEYS, type Dialect } from './dialects.ts'
import { readFinish } from './finish.ts'
import { ReplyRecord } from './reply-message.ts'
import { ThinkSplitter, type Span } from './think.ts'
import { UsageReader } from './usage.ts'

export type ReplyChunk = Exclude<ModelChunk, ModelEnd>

/** Units of text and arguments that one reply may have: a server that never stops must not fill the memory. */
const REPLY_MAX = 32 * 2 ** 20

export class ReplyDecoder {
  readonly #dialect: Dialect
  /** Reads an error that came instead of a piece of the reply. */
  readonly #readError: (json: string) => Failure
  readonly #record = new ReplyRecord()
  readonly #calls = new CallAssembly()
  readonly #usage = new UsageReader()
  readonly #think: ThinkSplitter
  readonly #parts: ModelReply['parts'][number][] = []
  #finish: string | null = null
  #problem: Failure | null = null
  #size = 0
  #done = false

  constructor(dialect: Dialect, readError: (json: string) => Failure) {
    this.#dialect = dialect
    this.#readError = readError
    this.#think = new ThinkSplitter(dialect.inlineThinking)
  }

  /** Nothing more is wanted. */
  get failed(): boolean {
    return this.#problem !== null
  }

  /** The end mark has come. */
  get done(): boolean {
    return this.#done
  }

  /** A finish reason has come, so that the reply is complete. */
  get finished(): boolean {
    return this.#finish !== null
  }

  /** Takes the data of one event, or a whole JSON answer. */
  accept(data: string): readonly ReplyChunk[] {
    if (this.#done || this.failed) return []
    const text = data.trim()
    if (text === '[DONE]') {
      this.#done = true
      return []
    }
    let payload: unknown
    try {
      payload = JSON.parse(text)
    } catch {
      return this.#fail(protocolFailure('the stream holds an event that is no JSON', data))
    }
    if (!isPlainObject(payload)) return this.#fail(protocolFailure('the stream holds an event that is no object', data))
    if (isError(payload)) return this.#fail(this.#readError(text))
    return this.#payload(payload, data)
  }

  /** What was held back until more would come. Call it once, after the last piece. */
  rest(): readonly ReplyChunk[] {
    return this.#problem === null ? this.#think.end().map((span) => this.#say(span)) : []
  }

  /** Takes an event that says by its name that it is an error. */
  refuse(data: string): void {
    this.fail(this.#readError(data))
  }

  /** Gives up with this failure, unless there is one already. */
  fail(failure: Failure): void {
    this.#problem ??= failure
  }

  /** The one terminal. Call it once, after the last piece; `shown`: chunks have left. */
  end(shown: boolean): ModelEnd {
    const usage = this.#usage.usage
    const failed = (failure: Failure): ModelEnd => ({
      type: 'end',
      kind: 'error',
      failure: { ...failure, partial: shown },
      usage,
    })
    if (this.#problem !== null) return failed(this.#problem)
    if (this.#finish === null) return failed(noFinish)
    const finish = readFinish(this.#finish, this.#calls.drafts.length > 0)
    if (finish.kind === 'failure') return failed(finish.failure)
    const cut = finish.as === 'max-tokens' || finish.as === 'context-limit'
    const nameless = this.#calls.drafts.find((draft) => draft.name === '')
    if (nameless !== undefined && !cut)
      return failed(protocolFailure('a tool call without a name, with the arguments', nameless.args))
    const refused = finish.as === 'done' && this.#record.refusal !== ''
    return { type: 'end', kind: refused ? 'refused' : finish.as, reply: this.#reply(usage, this.#finish) }
  }

  #reply(usage: ModelReply['usage'], rawFinish: string): ModelReply {
    const { drafts } = this.#calls
    return {
      parts: this.#parts,
      calls: drafts.map(({ id, name, args }) => ({ providerId: id, name, args })),
      replay: this.#record.toJson(drafts, this.#dialect),
      usage,
      rawFinish,
    }
  }

  #payload(payload: Record<string, unknown>, data: string): readonly ReplyChunk[] {
    this.#usage.take(payload['usage'])
    const choices: unknown = payload['choices'] ?? []
    if (!Array.isArray(choices)) return this.#fail(protocolFailure('the stream holds choices that are no list', data))
    const chunks: ReplyChunk[] = []
    for (const choice of choices as unknown[]) {
      if (!isPlainObject(choice) || (choice['index'] ?? 0) !== 0) continue
      this.#usage.take(choice['usage'])
      const delta = choice['delta'] ?? choice['message']
      if (isPlainObject(delta)) this.#delta(delta, chunks)
      const finish = choice['finish_reason']
      if (typeof finish === 'string' && finish !== '') this.#finish = finish
      if (isPlainObject(choice['error'])) this.fail(this.#readError(JSON.stringify({ error: choice['error'] })))
    }
    if (this.#size > REPLY_MAX)
      this.fail(protocolFailure(`a reply of more than ${REPLY_MAX} characters, ending in`, data, false))
    return chunks
  }

  #delta(delta: Record<string, unknown>, out: ReplyChunk[]): void {
    this.#reasoning(delta, out)
    const content = contentText(delta['content'])
    if (content === null)
      this.fail(protocolFailure('content that is neither text nor text parts', JSON.stringify(delta['content'])))
    else if (content !== '') {
      this.#record.content += content
      for (const span of this.#think.push(content)) out.push(this.#say(span))
    }
    const refusal = delta['refusal']
    if (typeof refusal === 'string' && refusal !== '') {
      this.#record.refusal += refusal
      out.push(this.#say({ type: 'text', text: refusal }))
    }
    const entries: unknown = delta['tool_calls']
    if (Array.isArray(entries)) this.#toolCalls(entries as unknown[], out)
  }

  /** Every key is kept to go back; the first that has text is shown. */
  #reasoning(delta: Record<string, unknown>, out: ReplyChunk[]): void {
    let shown = ''
    for (const key of REASONING_KEYS) {
      const text = delta[key]
      if (typeof text !== 'string') continue
      this.#record.addReasoning(key, text)
      if (shown === '') shown = text
    }
    const details: unknown = delta['reasoning_details']
    for (const detail of Array.isArray(details) ? (details as unknown[]) : []) {
      if (!isPlainObject(detail)) continue
      this.#record.addDetail(detail as Record<string, Json>)
      const text = detail['text'] ?? detail['summary']
      if (shown === '' && typeof text === 'string') shown = text
    }
    if (shown !== '') out.push(this.#say({ type: 'reasoning', text: shown }))
  }

  #toolCalls(entries: readonly unknown[], out: ReplyChunk[]): void {
    entries.forEach((entry, position) => {
      const placed = this.#calls.add(entry, position, entries.length === 1)
      if (placed.kind === 'ambiguous') {
        this.fail(protocolFailure(`the stream holds ${placed.problem}`, JSON.stringify(entry)))
        return
      }
      const { draft, started, args } = placed
      this.#size += args.length
      if (started) this.#parts.push({ type: 'call', index: draft.index })
      if (started || args !== '') {
        out.push({
          type: 'call',
          index: draft.index,
          ...(started ? { name: draft.name } : {}),
          ...(args === '' ? {} : { args }),
        })
      }
    })
  }

  /** Adds to the parts and makes the chunk that shows it. */
  #say({ type, text }: Span): ReplyChunk {
    this.#size += text.length
    const last = this.#parts.at(-1)
    if (last?.type === type) this.#parts[this.#parts.length - 1] = { type, text: last.text + text }
    else this.#parts.push({ type, text })
    return { type, text }
  }

  #fail(failure: Failure): readonly ReplyChunk[] {
    this.fail(failure)
    return []
  }
}

/** Errors come in the place of a piece of the reply, in more than one dress. */
function isError(payload: Record<string, unknown>): boolean {
  if (isPlainObject(payload['error']) || typeof payload['error'] === 'string' || payload['object'] === 'error')
    return true
  const base = payload['base_resp']
  if (isPlainObject(base) && typeof base['status_code'] === 'number' && base['status_code'] !== 0) return true
  return payload['choices'] === undefined && typeof payload['message'] === 'string' && payload['code'] !== undefined
}

/** Null: not readable. */
function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (!Array.isArray(content)) return null
  let text = ''
  for (const part of content as unknown[]) {
    if (!isPlainObject(part) || part['type'] !== 'text' || typeof part['text'] !== 'string') return null
    text += part['text']
  }
  return text
}
