/**
 * Bodies at work (C6, C7, C10, C13, T7). Owns each body from its start to its end, also when nobody waits for it any more.
 * Invariants: a non-read starts only after its `call.started` is durable and while the lease has time left (C3, W1); each start has
 * at most one landing; a timeout is enforced whether the body listens or not; a body that outlives its call is a straggler: its real
 * end goes to the inbox (C5); no timer, no listener survives a body.
 */
import type { CallId } from '../../kernel/ids.ts'
import { inputId } from '../../kernel/ids.ts'
import type { CallRecord, Event } from '../../kernel/events.ts'
import type { Call } from '../../kernel/state.ts'
import { AbortScope } from '../../util/signal.ts'
import type { Maybe } from '../../util/maybe.ts'
import { messageOf } from '../../util/text.ts'
import { asMs, asText } from '../borders.ts'
import type { Judge, Prepared } from './judge.ts'
import type { Run } from './run.ts'
import { contextOf, type Body, type BodyEnd } from './body.ts'
import { outcomeContent } from './call-facts.ts'
import type { Stragglers } from './stragglers.ts'
import { finishResult, thrownEnd } from './tool-result.ts'
import { isDeferred, type CallEnd } from '../define/tool.ts'

interface Starting {
  readonly call: Call
  readonly prepared: Prepared
}

export class CallPool {
  readonly #run: Run
  readonly #judge: Judge
  /** Waited for. A list: there are few at a time, and they come and go with every step. */
  readonly #live: Body[] = []
  /** Came back in time, and their end may not be durable yet. */
  #landed: Body[] = []
  readonly #stragglers: Stragglers

  constructor(run: Run, judge: Judge, stragglers: Stragglers) {
    this.#run = run
    this.#judge = judge
    this.#stragglers = stragglers
  }

  /** Whether this runner waits for the end of any call. */
  get isBusy(): boolean {
    return this.#live.length > 0
  }

  /** Whether this runner waits for the end of this call. */
  isLive(id: CallId): boolean {
    return this.#find(id) !== undefined
  }

  get held(): readonly CallRecord['resources'][] {
    return this.#stragglers.held
  }

  /** Starts these calls: their starts in one commit, then the bodies. */
  start(ids: readonly CallId[]): Maybe<void> {
    const starting = this.#startEach(ids, 0, [])
    return starting instanceof Promise
      ? starting.then((started) => this.#flushAndBegin(started))
      : this.#flushAndBegin(starting)
  }

  #flushAndBegin(starting: readonly Starting[]): Maybe<void> {
    const { journal, sync } = this.#run
    const flushing = journal.flush()
    if (flushing instanceof Promise)
      return flushing.then(() => sync.reach('before-body')).then(() => this.#beginAll(starting))
    const reached = sync.reach('before-body')
    return reached === undefined ? this.#beginAll(starting) : reached.then(() => this.#beginAll(starting))
  }

  #beginAll(starting: readonly Starting[]): void {
    for (const { call, prepared } of starting) if (this.#mayBegin()) this.#begin(call, prepared)
  }

  /** Records the starts, from the call at `from` on: in order, each once it is ready. */
  #startEach(ids: readonly CallId[], from: number, starting: Starting[]): Maybe<readonly Starting[]> {
    for (let at = from; at < ids.length; at++) {
      const call = this.#run.state.step!.byId.get(ids[at]!)!
      const prepared = this.#judge.prepare(call)
      if (prepared instanceof Promise)
        return prepared.then((ready) => {
          this.#recordStart(call, ready, starting)
          return this.#startEach(ids, at + 1, starting)
        })
      this.#recordStart(call, prepared, starting)
    }
    return starting
  }

  #recordStart(call: Call, prepared: Prepared | null, starting: Starting[]): void {
    if (prepared === null) return
    const { id } = call.record
    const args = prepared.rewritten === null ? {} : { args: prepared.rewritten }
    this.#run.journal.record({ type: 'call.started', call: id, attempt: call.attempt + 1, ...args })
    this.#judge.forget(id)
    starting.push({ call, prepared })
  }

  /** Looked at right before each body: the lease may have run out, or the runner been told to stop, on the way from the commit (W1). */
  #mayBegin(): boolean {
    return !this.#run.stopScope.aborted && this.#run.holdsLease()
  }

  #begin(call: Call, prepared: Prepared): void {
    const { timeoutMs } = prepared.tool
    const body: Body = {
      call,
      scope: new AbortScope(this.#run.turnScope),
      timeoutMs,
      cancelTimeout: () => {},
      straggling: null,
      told: null,
      end: null,
      seq: null,
    }
    body.cancelTimeout = this.#run.clock.after(timeoutMs, () => this.#timeOut(body))
    this.#live.push(body)
    void this.#carry(body, prepared)
  }

  async #carry(body: Body, prepared: Prepared): Promise<void> {
    let end: BodyEnd | null
    try {
      const result = await prepared.tool.run(prepared.args, contextOf(this.#run, body))
      // It came back in time, however long those take who look at its result.
      body.cancelTimeout()
      const finishing = isDeferred(result) ? result : finishResult(this.#run, body.call, result)
      end = finishing instanceof Promise ? await finishing : finishing
    } catch (error) {
      end = this.#thrown(body, error)
    }
    body.cancelTimeout()
    body.scope.leave()
    const reached = this.#run.sync.reach('after-body')
    if (reached !== undefined) await reached
    if (body.straggling !== null) this.#arriveLate(body, end)
    else if (end !== null) this.#land(body, end)
  }

  /**
   * A body that threw after its signal fired stopped because of it. Null: it stopped for its runner, which says nothing about the
   * call; whoever comes next decides by what is in the log (C4).
   */
  #thrown({ call, scope, told }: Body, error: unknown): CallEnd | null {
    if (!scope.aborted || told === 'timeout') return thrownEnd(this.#run, call, error)
    if (told === 'runner') return null
    const outcome = { kind: 'error', code: 'aborted', message: 'aborted' } as const
    return { outcome, content: outcomeContent(this.#run, call, outcome) }
  }

  #land(body: Body, end: BodyEnd): void {
    body.end = end
    if (this.#landed.length > 0) this.#landed = this.#landed.filter((landed) => !this.#isDurable(landed))
    this.#landed.push(body)
    this.#run.land(() => {
      if (this.#leave(body)) body.seq = this.#record(body.call.record.id, end).seq
      else this.#landed = this.#landed.filter((landed) => landed !== body)
    })
  }

  #record(call: CallId, end: BodyEnd): Event {
    const { journal, store } = this.#run
    if (!isDeferred(end)) return journal.record({ type: 'call.ended', call, ...end })
    const expiresInMs = asMs(end.expiresInMs)
    const expiry = expiresInMs === undefined ? {} : { expiresAt: store.now() + expiresInMs }
    return journal.record({ type: 'call.deferred', call, what: asText(end.what), ...expiry })
  }

  #isDurable({ seq }: Body): boolean {
    return seq !== null && seq <= this.#run.journal.tail
  }

  #find(id: CallId): Body | undefined {
    for (const body of this.#live) if (body.call.record.id === id) return body
    return undefined
  }

  /** Nobody waits for it any more. False: nobody did. */
  #leave(body: Body): boolean {
    const at = this.#live.indexOf(body)
    if (at >= 0) this.#live.splice(at, 1)
    return at >= 0
  }

  /** The call is answered now; the body is told to stop, and may still come back late (C13). */
  #timeOut(body: Body): void {
    const outcome = { kind: 'timeout', afterMs: body.timeoutMs } as const
    const content = outcomeContent(this.#run, body.call, outcome)
    body.told = 'timeout'
    this.#hold(body)
    this.#run.land(() => {
      if (this.#leave(body))
        this.#run.journal.record({ type: 'call.ended', call: body.call.record.id, outcome, content })
    })
    body.scope.abort(new Error(`the tool's ${body.timeoutMs} ms are over`))
  }

  /** The call is closed by somebody else: its turn has waited long enough. */
  letGo(id: CallId): void {
    const body = this.#find(id)
    if (body !== undefined) this.#becomeStraggler(body)
  }

  /** Lets those go whose outcome came from outside while they ran. */
  letEndedGo(): void {
    const calls = this.#run.state.step?.byId
    for (const body of this.#live.slice())
      if (calls?.get(body.call.record.id)?.status !== 'started') this.#becomeStraggler(body)
  }

  /**
   * Lets everything go: this runner stops. Bodies are told to end; what they still report, and what they reported and is not
   * durable, goes to the inbox.
   */
  letAllGo(): void {
    for (const body of this.#landed) {
      if (this.#isDurable(body)) continue
      this.#leave(body)
      this.#arriveLate(body, body.end)
    }
    this.#landed = []
    for (const body of this.#live.slice()) {
      body.told ??= 'runner'
      this.#becomeStraggler(body)
      body.scope.abort(new Error('the runner stops'))
    }
  }

  #becomeStraggler(body: Body): void {
    this.#leave(body)
    body.cancelTimeout()
    this.#hold(body)
  }

  /** From here on its end is late, whenever it comes: it keeps its resources until then, and gives them back even if it ends at once. */
  #hold(body: Body): void {
    body.straggling ??= this.#stragglers.add(body.call.record.resources)
  }

  /** By the inbox, never by the journal: this runner may have lost its lease long ago (C5). */
  #arriveLate(body: Body, end: BodyEnd | null): void {
    body.straggling?.()
    if (end === null || isDeferred(end)) return
    const { store, session, fence } = this.#run
    const { id } = body.call.record
    const control = { kind: 'late', call: id, outcome: end.outcome, content: end.content } as const
    const posted = store.put(session, {
      id: inputId(`${session}/${id}/late/${fence}`),
      lane: 'control',
      origin: { kind: 'system', name: 'straggler' },
      control,
    })
    posted.catch((error: unknown) =>
      this.#run.report(
        new Error(`the late outcome of ${id} could not be posted: ${messageOf(error)}`, { cause: error }),
      ),
    )
  }
}
