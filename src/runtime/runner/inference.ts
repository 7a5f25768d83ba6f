/**
 * One model call in flight. Owns the stream from `model.requested` to the one event that answers it.
 * Invariants: nothing of a call is recorded after it was abandoned or another was begun (docs/design/kernel.md, trap 3); an
 * abort is answered at once, whether the adapter listens or not (T7, case 019); the iterator is always returned; deltas never wait for a store.
 */
import type { Failure, Usage } from '../../kernel/failure.ts'
import { Messages, textPart } from '../../kernel/message.ts'
import { TranscriptCheck } from '../../kernel/transcript.ts'
import type { Purpose } from '../../kernel/events.ts'
import { AbortScope } from '../../util/signal.ts'
import type { Json } from '../../util/json.ts'
import type { Maybe } from '../../util/maybe.ts'
import { messageOf } from '../../util/text.ts'
import { asLogged, asMs, checkedEnd } from '../borders.ts'
import type { ModelChunk, ModelEnd, ModelRequest } from '../ports.ts'
import { emptyFailure, estimateUsage, replyEvent } from './reply.ts'
import { retryDelay } from './retry.ts'
import type { Committed } from './journal.ts'
import type { Run } from './run.ts'
import { askEach, hasHook } from './run-hooks.ts'
import { neutralise } from '../wording.ts'

/** How often the text so far is kept for the case of a crash. */
const PARTIAL_EVERY_MS = 1_000
const QUOTE_MAX = 400
/** Attempts of one step, whatever a plugin decides. */
const ATTEMPTS_BOUND = 100

const NO_TERMINAL: Failure = {
  kind: 'interrupted',
  message: 'the model adapter ended without a terminal; report it to its author',
  retry: true,
}

/** What a request is made of, beside the context. */
interface Asked {
  readonly attempt: number
  readonly toolChoice: 'auto' | 'none'
  readonly options: Json | null
}

export type Begun = 'begun' | 'again' | 'gone'

interface Flight {
  readonly attempt: number
  readonly scope: AbortScope
  text: string
  shown: boolean
  partialAt: number
  over: boolean
}

export class Inference {
  readonly #run: Run
  readonly #check = new TranscriptCheck()
  #flight: Flight | null = null

  constructor(run: Run) {
    this.#run = run
  }

  get live(): boolean {
    return this.#flight !== null
  }

  /** Output of the call in flight was seen by whoever watches. */
  get shown(): boolean {
    return this.#flight?.shown ?? false
  }

  /** Commits the request, unless input came in first, and begins the call. `again`: look again, `gone`: load again. */
  begin(): Maybe<Begun> {
    if (!hasHook(this.#run, 'transformRequest')) return this.#request(null)
    return this.#askOptions().then((asked) => (asked === 'control' ? 'again' : this.#request(asked.options)))
  }

  #request(options: Json | null): Maybe<Begun> {
    const run = this.#run
    const step = run.state.step!
    const attempt = step.requests + 1
    const purpose: Purpose = step.purpose === 'limit' ? 'limit' : 'step'
    const toolChoice = purpose === 'limit' ? 'none' : 'auto'
    const messages = run.state.context.length + run.state.late.length
    const committing = run.journal.commit(
      { type: 'model.requested', attempt, purpose, messages, toolChoice, ...(options === null ? {} : { options }) },
      purpose === 'limit' ? ['control'] : ['control', 'steer', 'note'],
    )
    const asked = { attempt, toolChoice, options } as const
    return committing instanceof Promise
      ? committing.then((committed) => this.#committed(committed, asked))
      : this.#committed(committing, asked)
  }

  #committed(committed: Committed, asked: Asked): Maybe<Begun> {
    if (committed !== 'done') return committed === 'gone' ? 'gone' : 'again'
    const reached = this.#run.sync.reach('before-model')
    return reached === undefined ? this.#start(asked) : reached.then(() => this.#start(asked))
  }

  async #askOptions(): Promise<{ readonly options: Json | null } | 'control'> {
    let options: Json | null = null
    const asked = await askEach(
      this.#run,
      'transformRequest',
      (hook, context) => hook(options ?? {}, context),
      (value) => void (options = asLogged(value)),
    )
    return asked === 'control' ? 'control' : { options }
  }

  #start({ attempt, toolChoice, options }: Asked): 'begun' {
    const run = this.#run
    const { system, tools } = run.state.epoch!.content
    const messages = new Messages(run.state.context)
    const flight: Flight = {
      attempt,
      scope: new AbortScope(run.turnScope),
      text: '',
      shown: false,
      partialAt: run.store.now(),
      over: false,
    }
    this.#flight = flight
    const fault = this.#check.check(messages, run.state.context)
    if (fault !== null) {
      const message = `the context is not a legal transcript at message ${fault.at}: ${fault.problem}`
      this.#fail(flight, { kind: 'transcript-invalid', message, retry: false })
      return 'begun'
    }
    const request: ModelRequest = {
      session: run.session,
      epoch: run.state.epoch!.n,
      system,
      tools,
      messages,
      toolChoice,
      ...(options === null ? {} : { options }),
    }
    this.#read(flight, request)
    run.agent.prepareTools()
    return 'begun'
  }

  /** Reads the stream to its terminal, or to the abort of the turn, whichever is first. */
  #read(flight: Flight, request: ModelRequest): void {
    const iterator = this.#open(flight, request)
    if (iterator === null) return
    flight.scope.onAbort(() => {
      this.#end(flight, {
        type: 'end',
        kind: 'aborted',
        failure: { kind: 'aborted', message: 'the turn was aborted', retry: false },
        usage: null,
      })
      closeIterator(iterator)
    })
    void this.#pump(flight, iterator)
  }

  #open(flight: Flight, request: ModelRequest): AsyncIterator<ModelChunk> | null {
    try {
      return this.#run.agent.model.stream(request, flight.scope.signal)[Symbol.asyncIterator]()
    } catch (error) {
      this.#fail(flight, adapterThrew(error))
      return null
    }
  }

  async #pump(flight: Flight, iterator: AsyncIterator<ModelChunk>): Promise<void> {
    try {
      while (!flight.over) {
        const next = await iterator.next()
        if (flight.over) break
        if (next.done === true) this.#fail(flight, NO_TERMINAL)
        else if (next.value.type === 'end') this.#end(flight, next.value)
        else {
          this.#show(flight, next.value)
          const reached = this.#run.sync.reach('model-output')
          if (reached !== undefined) await reached
        }
      }
      closeIterator(iterator)
    } catch (error) {
      this.#fail(flight, adapterThrew(error))
    }
  }

  #show(flight: Flight, chunk: Exclude<ModelChunk, ModelEnd>): void {
    const run = this.#run
    flight.shown = true
    if (chunk.type === 'text') flight.text += chunk.text
    run.publish({ ...chunk, turn: run.state.turn!.n, step: run.state.step!.n, attempt: flight.attempt })
    const now = run.store.now()
    if (now - flight.partialAt < PARTIAL_EVERY_MS || flight.text === '') return
    flight.partialAt = now
    const partial = { turn: run.state.turn!.n, step: run.state.step!.n, attempt: flight.attempt, text: flight.text }
    // A partial is a courtesy to whoever resumes: a store that cannot take it will say so at the next commit.
    void run.store.writePartial(run.session, run.fence, partial).catch(() => {})
  }

  #fail(flight: Flight, failure: Failure): void {
    this.#end(flight, { type: 'end', kind: 'error', failure, usage: null })
  }

  #end(flight: Flight, given: ModelEnd): void {
    if (flight.over) return
    flight.over = true
    flight.scope.leave()
    try {
      const settling = this.#settle(flight, checkedEnd(given))
      if (settling !== undefined) settling.catch((error: unknown) => this.#land(flight, () => rethrow(error)))
    } catch (error) {
      this.#land(flight, () => rethrow(error))
    }
  }

  #settle(flight: Flight, end: ModelEnd): Maybe<void> {
    if ('reply' in end) {
      const empty = emptyFailure(end)
      if (empty === null)
        return this.#land(flight, () => this.#run.journal.record(replyEvent(this.#run, end, flight.attempt)))
      return this.#settleFailure(flight, empty, end.reply.usage)
    }
    if (this.#run.turnScope.aborted) return this.#land(flight, () => this.#recordAborted(flight, end.usage))
    return this.#settleFailure(flight, end.kind === 'aborted' ? unasked(end.failure) : end.failure, end.usage)
  }

  async #settleFailure(flight: Flight, failure: Failure, usage: Usage | null): Promise<void> {
    const run = this.#run
    const seen: Failure = flight.text === '' ? failure : { ...failure, partial: true }
    const retryInMs = await this.#decide(seen, (run.state.step?.attempts ?? 0) + 1)
    this.#land(flight, () => {
      run.publish({ type: 'reset', turn: run.state.turn!.n, step: run.state.step!.n, attempt: flight.attempt })
      run.journal.record({
        type: 'model.failed',
        attempt: flight.attempt,
        failure: seen,
        retryAt: retryInMs === null ? null : run.store.now() + retryInMs,
        text: flight.text,
        usage: usage ?? estimateUsage(run.state, flight.text),
      })
    })
  }

  async #decide(failure: Failure, attempt: number): Promise<number | null> {
    const run = this.#run
    if (run.state.step?.purpose === 'limit' || attempt >= ATTEMPTS_BOUND) return null
    let decided: number | null | undefined
    await askEach(
      run,
      'decideModelError',
      (hook, context) => hook({ failure, attempt }, context),
      (answer) => {
        decided = answer.retryInMs === null ? null : asMs(answer.retryInMs)
        if (decided === undefined)
          throw new TypeError(`its retryInMs is ${String(answer.retryInMs)}; give null or milliseconds`)
        return 'stop'
      },
      undefined,
      'turn',
    )
    return decided === undefined
      ? retryDelay(failure, attempt, run.agent.settings.attemptsMax, run.random.next())
      : decided
  }

  /** Records the end between two effects, if this is still the call in flight. */
  #land(flight: Flight, record: () => void): void {
    this.#run.land(() => {
      if (this.#flight !== flight) return
      this.#flight = null
      record()
    })
  }

  /** Gives the call up: a steer takes its place, or its turn ends. What it still says is nobody's. */
  abandon(reason: 'aborted' | 'superseded'): void {
    const flight = this.#flight
    if (flight === null) return
    this.#flight = null
    flight.over = true
    flight.scope.abort()
    flight.scope.leave()
    if (reason === 'aborted') return this.#recordAborted(flight, null)
    const { journal, state, store } = this.#run
    const failure: Failure = {
      kind: 'superseded',
      message: 'given up for a steer before it had said anything',
      retry: true,
    }
    journal.record({
      type: 'model.failed',
      attempt: flight.attempt,
      failure,
      retryAt: store.now(),
      text: '',
      usage: estimateUsage(state, ''),
    })
  }

  #recordAborted(flight: Flight, usage: Usage | null): void {
    const { state, journal, wording } = this.#run
    journal.record({
      type: 'reply.interrupted',
      attempt: flight.attempt,
      reason: 'aborted',
      text: flight.text,
      usage: usage ?? estimateUsage(state, flight.text),
      retryAt: null,
      ...(flight.text === '' ? {} : { note: [textPart(wording.interrupted(clip(neutralise(flight.text))))] }),
    })
  }

  /** Closes the request of a runner that is gone: its text so far is kept, and unless the turn is aborted the step may try again (T8, T10). */
  async closeOrphan(reason: 'crashed' | 'aborted'): Promise<void> {
    const { state, store, session, journal, agent } = this.#run
    const { request, attempts } = state.step!
    const partial = await store.readPartial(session)
    const matches =
      partial !== null &&
      partial.turn === state.turn!.n &&
      partial.step === state.step!.n &&
      partial.attempt === request!.attempt
    const text = matches ? partial.text : ''
    const again = reason === 'crashed' && state.step!.purpose !== 'limit' && attempts + 1 < agent.settings.attemptsMax
    journal.record({
      type: 'reply.interrupted',
      attempt: request!.attempt,
      reason,
      text,
      usage: estimateUsage(state, text),
      retryAt: again ? store.now() : null,
    })
  }

  /** Drops what is in flight without a word: this runner is no longer the writer. */
  drop(): void {
    const flight = this.#flight
    this.#flight = null
    if (flight === null) return
    flight.over = true
    flight.scope.abort()
    flight.scope.leave()
  }
}

/** An adapter that says `aborted` without having been told to was cut off by something else. */
function unasked(failure: Failure): Failure {
  return {
    ...failure,
    kind: 'interrupted',
    message: `the model call ended as aborted without being aborted: ${failure.message}`,
    retry: true,
  }
}

function adapterThrew(error: unknown): Failure {
  const why = messageOf(error)
  return { kind: 'protocol', message: `the model adapter threw, which it must not: ${why}`, retry: true }
}

function rethrow(error: unknown): never {
  throw error
}

function clip(text: string): string {
  if (text.length <= QUOTE_MAX) return text
  const cut = text.slice(0, QUOTE_MAX)
  // Not through a surrogate pair (X8).
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** The call is over for us: what an adapter throws while it is closed changes nothing. */
function closeIterator(iterator: AsyncIterator<unknown>): void {
  try {
    iterator.return?.()?.then(undefined, () => {})
  } catch {
    // As above.
  }
}
