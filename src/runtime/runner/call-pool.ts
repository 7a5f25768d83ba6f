/**
 * Bodies at work (C6, C7, C10, C13, T7). Owns each body from its start to its end, also when nobody waits for it any more.
 * Invariants: a non-read starts only after its `call.started` is durable and while the lease has time left (C3, W1); each start has
 * at most one landing; a timeout is enforced whether the body listens or not; a body that outlives its call is a straggler: its real
 * end goes to the inbox (C5); no listener survives a body, no timer the pool.
 */
import type { CallId } from '../../kernel/ids.ts'
import { inputId } from '../../kernel/ids.ts'
import type { CallRecord } from '../../kernel/events.ts'
import type { Call } from '../../kernel/state.ts'
import { AbortScope } from '../../util/signal.ts'
import { messageOf } from '../../util/text.ts'
import { asMs, asText } from '../borders.ts'
import type { Judge, Prepared } from './judge.ts'
import type { Run } from './run.ts'
import { idempotencyKey, outcomeContent } from './call-facts.ts'
import { Deadlines } from './deadlines.ts'
import type { Stragglers } from './stragglers.ts'
import { finishResult, thrownEnd } from './tool-result.ts'
import { isDeferred, type CallEnd, type Deferred, type ToolContext } from '../define/tool.ts'

interface Body {
  readonly call: Call
  readonly scope: AbortScope
  /** Set once its call was closed by a timeout or a settlement: the real end is late news. Gives its resources back. */
  straggling: (() => void) | null
  /** Who told it to stop, if that was not its turn. */
  told: 'timeout' | 'runner' | null
  cancelDeadline: () => void
}

/** The end of a body that came back in time, until it is durable. */
interface Landed {
  readonly body: Body
  readonly end: CallEnd | Deferred
  /** Of the event that records it, once there is one. */
  seq: number | null
}

export class CallPool {
  readonly #run: Run
  readonly #judge: Judge
  readonly #live = new Map<CallId, Body>()
  readonly #landed = new Set<Landed>()
  readonly #stragglers: Stragglers
  readonly #deadlines: Deadlines

  constructor(run: Run, judge: Judge, stragglers: Stragglers) {
    this.#run = run
    this.#judge = judge
    this.#stragglers = stragglers
    this.#deadlines = new Deadlines(run.clock)
  }

  /** Calls whose end this runner waits for. */
  get live(): ReadonlyMap<CallId, unknown> {
    return this.#live
  }

  get held(): readonly CallRecord['resources'][] {
    return this.#stragglers.held
  }

  /** Starts these calls: their starts in one commit, then the bodies. */
  async start(ids: readonly CallId[]): Promise<void> {
    const starting: { readonly call: Call; readonly prepared: Prepared }[] = []
    for (const id of ids) {
      const call = this.#run.state.step!.byId.get(id)!
      const preparing = this.#judge.prepare(call)
      const prepared = preparing instanceof Promise ? await preparing : preparing
      if (prepared === null) continue
      const args = prepared.rewritten === null ? {} : { args: prepared.rewritten }
      this.#run.journal.record({ type: 'call.started', call: id, attempt: call.attempt + 1, ...args })
      this.#judge.forget(id)
      starting.push({ call, prepared })
    }
    await this.#run.journal.flush()
    const reached = this.#run.sync.reach('before-body')
    if (reached !== undefined) await reached
    for (const { call, prepared } of starting) if (this.#mayBegin()) this.#begin(call, prepared)
  }

  /** Looked at right before each body: the lease may have run out, or the runner been told to stop, on the way from the commit (W1). */
  #mayBegin(): boolean {
    return !this.#run.stopScope.aborted && this.#run.holdsLease()
  }

  #begin(call: Call, prepared: Prepared): void {
    const { timeoutMs } = prepared.tool
    const scope = new AbortScope(this.#run.turnScope)
    const body: Body = { call, scope, straggling: null, told: null, cancelDeadline: () => {} }
    body.cancelDeadline = this.#deadlines.add(timeoutMs, () => this.#timeOut(body, timeoutMs))
    this.#live.set(call.record.id, body)
    void this.#carry(body, prepared)
  }

  async #carry(body: Body, prepared: Prepared): Promise<void> {
    const { call } = body
    let end: (CallEnd & { readonly progress?: string }) | Deferred | null
    try {
      const result = await prepared.tool.run(prepared.args, contextOf(this.#run, body))
      // It came back in time, however long those take who look at its result.
      body.cancelDeadline()
      const finishing = isDeferred(result) ? result : finishResult(this.#run, call, result)
      end = finishing instanceof Promise ? await finishing : finishing
    } catch (error) {
      end = this.#thrown(body, error)
    }
    body.cancelDeadline()
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

  #land(body: Body, end: (CallEnd & { readonly progress?: string }) | Deferred): void {
    const { id } = body.call.record
    const landed: Landed = { body, end, seq: null }
    for (const earlier of this.#landed) if (this.#isDurable(earlier)) this.#landed.delete(earlier)
    this.#landed.add(landed)
    this.#run.land(() => {
      const { journal, store } = this.#run
      if (this.#live.get(id) !== body) return void this.#landed.delete(landed)
      this.#live.delete(id)
      const expiry =
        isDeferred(end) && asMs(end.expiresInMs) !== undefined
          ? { expiresAt: store.now() + asMs(end.expiresInMs)! }
          : {}
      const event = isDeferred(end)
        ? journal.record({ type: 'call.deferred', call: id, what: asText(end.what), ...expiry })
        : journal.record({ type: 'call.ended', call: id, ...end })
      landed.seq = event.seq
    })
  }

  #isDurable({ seq }: Landed): boolean {
    return seq !== null && seq <= this.#run.journal.tail
  }

  /** The call is answered now; the body is told to stop, and may still come back late (C13). */
  #timeOut(body: Body, afterMs: number): void {
    const outcome = { kind: 'timeout', afterMs } as const
    const content = outcomeContent(this.#run, body.call, outcome)
    body.told = 'timeout'
    this.#hold(body)
    this.#run.land(() => {
      if (this.#live.get(body.call.record.id) !== body) return
      this.#live.delete(body.call.record.id)
      this.#run.journal.record({ type: 'call.ended', call: body.call.record.id, outcome, content })
    })
    body.scope.abort(new Error(`the tool's ${afterMs} ms are over`))
  }

  /** The call is closed by somebody else: its turn has waited long enough. */
  letGo(id: CallId): void {
    const body = this.#live.get(id)
    if (body !== undefined) this.#becomeStraggler(body)
  }

  /** Lets those go whose outcome came from outside while they ran. */
  letEndedGo(): void {
    for (const [id, body] of this.#live)
      if (this.#run.state.step?.byId.get(id)?.status !== 'started') this.#becomeStraggler(body)
  }

  /**
   * Lets everything go: this runner stops. Bodies are told to end; what they still report, and what they reported and is not
   * durable, goes to the inbox.
   */
  letAllGo(): void {
    for (const landed of this.#landed) {
      if (this.#isDurable(landed)) continue
      this.#live.delete(landed.body.call.record.id)
      this.#arriveLate(landed.body, landed.end)
    }
    this.#landed.clear()
    for (const body of this.#live.values()) {
      body.told ??= 'runner'
      this.#becomeStraggler(body)
      body.scope.abort(new Error('the runner stops'))
    }
    this.#deadlines.clear()
  }

  #becomeStraggler(body: Body): void {
    this.#live.delete(body.call.record.id)
    body.cancelDeadline()
    this.#hold(body)
  }

  /** From here on its end is late, whenever it comes: it keeps its resources until then, and gives them back even if it ends at once. */
  #hold(body: Body): void {
    body.straggling ??= this.#stragglers.add(body.call.record.resources)
  }

  /** By the inbox, never by the journal: this runner may have lost its lease long ago (C5). */
  #arriveLate(body: Body, end: CallEnd | Deferred | null): void {
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

/** What a body gets beside its arguments. What most bodies never look at is made when it is asked for. */
function contextOf(run: Run, body: Body): ToolContext {
  const call = body.call.record.id
  return {
    get signal() {
      return body.scope.signal
    },
    session: run.session,
    call,
    get idempotencyKey() {
      return idempotencyKey(run, call)
    },
    fence: run.fence,
    clock: run.clock,
    progress: (text) => {
      if (body.straggling === null) run.publish({ type: 'progress', call, text })
    },
  }
}
