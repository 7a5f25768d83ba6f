/**
 * The verbs of a session. Each posts, reads or waits; driving is the driver's, of this process or another.
 * Owns the check of what callers give and the making of inputs, not what becomes of them. Invariants: a verb that posts resolves once its
 * input is durable (I1); what is given back follows the log from before that, so it misses nothing; reading writes nothing (L4).
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { Usage } from '../../kernel/failure.ts'
import { callId, inputId, type InputId, type SessionId } from '../../kernel/ids.ts'
import type { Control, MessageLane, NewInput, PendingInput, ReceiptState } from '../../kernel/input.ts'
import { withoutBlanks, type Part } from '../../kernel/message.ts'
import { AbortScope } from '../../util/signal.ts'
import { areParts, asMs } from '../borders.ts'
import { follow } from './follow.ts'
import type { LiveBus } from './live.ts'
import { damagedLog, loadWhole } from '../runner/load.ts'
import type { Changed, Clock, Ids, Store } from '../ports.ts'
import { requestContext } from './request-context.ts'
import type {
  AbortOptions,
  AnswerOptions,
  ApproveOptions,
  Content,
  DenyOptions,
  PostOptions,
  Queue,
  Receipt,
  RequestContext,
  SessionHandle,
  SessionStatus,
  SteerOptions,
  Turn,
  Watched,
} from '../session.ts'
import { statusOf } from '../runner/status.ts'
import type { TurnOptions } from './turn-filter.ts'
import { checkOptions } from './verb-options.ts'
import { ReceiptHandle, TurnHandle } from './turn-handle.ts'

export interface HandleOptions {
  readonly session: SessionId
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly bus: LiveBus
  /** Nothing may be posted or changed. */
  readonly readonly?: boolean
  /** Told when it is closed: nobody need remember it any more. */
  readonly onClose: (handle: StoredSession) => void | Promise<void>
}

export class StoredSession implements SessionHandle {
  readonly id: SessionId
  protected readonly options: HandleOptions
  readonly #closing = new AbortScope()

  constructor(options: HandleOptions) {
    this.id = options.session
    this.options = options
  }

  get queue(): Queue {
    return queueOf(this.options)
  }

  async send(content: Content, options: PostOptions = {}): Promise<Turn> {
    checkOptions('send', options)
    return this.#postMessage('followup', content, options)
  }

  async steer(content: Content, options: SteerOptions = {}): Promise<Turn> {
    checkOptions('steer', options)
    return this.#postMessage('steer', content, options, options.promptness)
  }

  async note(content: Content, options: PostOptions = {}): Promise<Receipt> {
    checkOptions('note', options)
    return this.#postMessage('note', content, options)
  }

  async abort(options: AbortOptions = {}): Promise<Receipt> {
    checkOptions('abort', options)
    const { reason = 'the user asked for it', pending = 'keep', graceMs } = options
    if (!['keep', 'return', 'drop'].includes(pending))
      throw new TurnstepError(
        'config-invalid',
        `abort has no policy "${pending}" for what is pending; known: keep, return, drop`,
      )
    checkMs('graceMs', graceMs)
    return this.#postControl({ kind: 'abort', reason, pending, ...(graceMs === undefined ? {} : { graceMs }) }, options)
  }

  async approve(call: string, options: ApproveOptions = {}): Promise<Receipt> {
    checkOptions('approve', options)
    const { always = false, argsHash } = options
    const bound = argsHash === undefined ? {} : { argsHash }
    return this.#postControl(
      { kind: 'decide', call: callId(call), decision: 'allow', grant: always ? 'session' : 'once', ...bound },
      options,
    )
  }

  async deny(call: string, options: DenyOptions = {}): Promise<Receipt> {
    checkOptions('deny', options)
    const { reason, argsHash } = options
    const more = { ...(argsHash === undefined ? {} : { argsHash }), ...(reason === undefined ? {} : { reason }) }
    return this.#postControl({ kind: 'decide', call: callId(call), decision: 'deny', grant: 'once', ...more }, options)
  }

  async answer(call: string, content: Content, options: AnswerOptions = {}): Promise<Receipt> {
    checkOptions('answer', options)
    const parts = partsOf(content)
    const message = typeof content === 'string' ? content : 'failed'
    const outcome =
      options.error === true ? ({ kind: 'error', code: 'answered', message } as const) : ({ kind: 'ok' } as const)
    return this.#postControl({ kind: 'answer', call: callId(call), outcome, content: parts }, options)
  }

  async resume(options: PostOptions = {}): Promise<Receipt> {
    checkOptions('resume', options)
    return this.#postControl({ kind: 'resume' }, options)
  }

  async status(): Promise<SessionStatus> {
    return statusOf(await loadWhole(this.options.store, this.id))
  }

  async *watch(options: { readonly after?: number; readonly signal?: AbortSignal } = {}): AsyncGenerator<Watched> {
    checkOptions('watch', options)
    const { store, bus, session } = this.options
    const after = options.after ?? (await store.read(session, { limit: 0 })).tail
    const scope = new AbortScope(this.#closing)
    const end = (): void => scope.abort()
    options.signal?.addEventListener('abort', end, { once: true })
    if (options.signal?.aborted === true) end()
    try {
      yield* follow({ store, bus, session, after, scope })
    } finally {
      scope.leave()
      options.signal?.removeEventListener('abort', end)
    }
  }

  async history(options: { readonly after?: number; readonly limit?: number } = {}): Promise<readonly Event[]> {
    checkOptions('history', options)
    const { events, damage } = await this.options.store.read(this.id, options)
    if (damage !== null) throw damagedLog(this.id, damage)
    return events
  }

  context(at?: { readonly turn: number; readonly step: number }): Promise<RequestContext> {
    return requestContext(this.options.store, this.id, at)
  }

  async usage(): Promise<Usage> {
    return (await loadWhole(this.options.store, this.id)).usage
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.options.onClose(this)
  }

  async #postMessage(
    lane: MessageLane,
    content: Content,
    options: PostOptions,
    promptness?: 'gate' | 'now',
  ): Promise<Turn> {
    const parts = partsOf(content)
    const { expiresInMs, from } = options
    checkMs('expiresInMs', expiresInMs)
    const origin = {
      kind: lane === 'steer' ? ('steer' as const) : ('user' as const),
      ...(from === undefined ? {} : { name: from }),
    }
    const input: NewInput = {
      id: this.#inputId(options),
      lane,
      origin,
      content: parts,
      ...(promptness === undefined ? {} : { promptness }),
      ...(expiresInMs === undefined ? {} : { expiresAt: this.options.store.now() + expiresInMs }),
    }
    return new TurnHandle(await this.#post(input))
  }

  async #postControl(control: Control, options: PostOptions): Promise<Receipt> {
    const origin = { kind: 'user' as const, ...(options.from === undefined ? {} : { name: options.from }) }
    return new ReceiptHandle(await this.#post({ id: this.#inputId(options), lane: 'control', origin, control }))
  }

  #inputId(options: PostOptions): InputId {
    return inputId(options.id ?? this.options.ids.next())
  }

  /** Durable when it resolves (I1). What is given back follows the log from before the input was posted. */
  async #post(input: NewInput): Promise<TurnOptions> {
    if (this.#closing.aborted)
      throw new TurnstepError('session-closed', `session "${this.id}" is closed here; open it again`)
    throwIfReadonly(this.options)
    const { store, bus, session } = this.options
    const { tail } = await store.read(session, { limit: 0 })
    const stopsSeen = bus.stops(session)
    const posted = await store.put(session, input)
    if (posted.kind === 'missing') throw missingSession(session)
    const after = posted.kind === 'duplicate' && posted.state.kind !== 'queued' ? 0 : tail
    return {
      store,
      bus,
      session,
      after,
      input: input.id,
      scope: this.#closing,
      stopsSeen: posted.kind === 'duplicate' ? 0 : stopsSeen,
    }
  }
}

export function missingSession(session: string): TurnstepError {
  return new TurnstepError(
    'session-missing',
    `there is no session "${session}"; \`turnstep session ls\` lists those there are`,
    { data: { session } },
  )
}

/** Text or parts as parts. Throws `content-invalid` for what no model could be sent. */
function partsOf(content: Content): readonly Part[] {
  const given: unknown = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!areParts(given)) {
    throw new TurnstepError(
      'content-invalid',
      'the message is neither text nor a list of text and image parts; an image has `mediaType` and base64 `data` of up to 8 MB',
    )
  }
  const parts = withoutBlanks(given)
  const hasSomething = parts.some((part) => part.type !== 'text' || part.text.trim() !== '')
  if (!hasSomething)
    throw new TurnstepError(
      'content-invalid',
      'the message is empty; say something, or use `resume` to let a held queue go on',
    )
  return parts
}

function throwIfReadonly({ session, readonly }: HandleOptions): void {
  if (readonly === true)
    throw new TurnstepError(
      'session-readonly',
      `session "${session}" is open for reading only; open it without \`readonly\` to work with it`,
    )
}

function checkMs(name: string, value: number | undefined): void {
  if (value === undefined || asMs(value) !== undefined) return
  throw new TurnstepError('config-invalid', `${name} is ${String(value)}; give milliseconds from 0 up`)
}

function queueOf(options: HandleOptions): Queue {
  const { store, session } = options
  const change = async (id: string, run: () => Promise<Changed>): Promise<void> => {
    throwIfReadonly(options)
    const changed = await run()
    if (changed.kind === 'missing') throw missingInput(session, id)
    if (changed.kind === 'settled') throw settledInput(id, changed.state)
  }
  return {
    list: (): Promise<readonly PendingInput[]> => store.pending(session, { all: true }),
    edit: (id, content) => change(id, () => store.edit(session, inputId(id), { content: partsOf(content) })),
    convert: (id, lane) => change(id, () => store.edit(session, inputId(id), { lane })),
    withdraw: (id) => change(id, () => store.withdraw(session, inputId(id))),
    move: (id, where = {}) =>
      change(id, async () => {
        checkOptions('queue.move', where)
        const { before } = where
        const moved = await store.move(session, inputId(id), before === undefined ? null : inputId(before))
        // The store says only that one of the two is not there.
        if (moved.kind === 'missing' && before !== undefined && (await store.receipt(session, inputId(id))) !== null)
          throw missingInput(session, before)
        return moved
      }),
  }
}

function missingInput(session: SessionId, id: string): TurnstepError {
  return new TurnstepError(
    'input-missing',
    `session "${session}" has no pending input "${id}"; \`queue\` lists what is pending`,
    { data: { session, input: id } },
  )
}

function settledInput(id: string, state: ReceiptState): TurnstepError {
  return new TurnstepError('input-settled', `input "${id}" is ${state.kind} already and cannot be changed`, {
    data: { input: id, state: state.kind },
  })
}
