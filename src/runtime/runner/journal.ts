/**
 * The runner's pen. Owns the state, the buffer of events that are folded and not yet durable, and the append.
 * Invariants: what is buffered is legal (folded at once); it is flushed before a side effect or a sleep
 * (docs/design/kernel.md, guarantee 2); events are shown to watchers only after they are durable; a refused append changes nothing
 * here (L1).
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Draft, Event, EventHead } from '../../kernel/events.ts'
import { apply, fold } from '../../kernel/fold.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { Lane, PendingInput, ReceiptState } from '../../kernel/input.ts'
import { refusal, type RuleBreak } from '../../kernel/legality.ts'
import type { State } from '../../kernel/state.ts'
import { isLater, type Maybe } from '../../util/maybe.ts'
import type { Mutable } from '../../util/mutable.ts'
import type { Append, Appended, Consumption, Store } from '../ports.ts'
import { noSyncPoints, type SyncPoints } from '../sync-points.ts'

export interface JournalOptions {
  readonly store: Store
  readonly session: SessionId
  readonly fence: number
  readonly state: State
  readonly sync: SyncPoints
  readonly onDurable: (events: readonly Event[]) => void
}

/** The answer to a conditional commit. `gone`: a claimed input was withdrawn or edited meanwhile; the state must be loaded anew. */
export type Committed = 'done' | 'pending' | 'gone'

/** A claimed input was withdrawn or edited before its claim was durable: nothing is written, and the state must be loaded anew. */
export class InputsGone extends Error {}

const UNCONDITIONALLY: readonly Lane[] = []

export class Journal {
  readonly state: State
  readonly #options: JournalOptions
  #tail: number
  #buffer: Event[] = []
  #consume: Consumption[] = []

  constructor(options: JournalOptions) {
    this.#options = options
    this.state = options.state
    this.#tail = options.state.seq
  }

  /** The log's durable tail. */
  get tail(): number {
    return this.#tail
  }

  /** Something would be lost if the state were loaded anew now. */
  get holdsResults(): boolean {
    return this.#buffer.some(
      (event) => event.type.startsWith('call.') || event.type.startsWith('reply.') || event.type === 'model.failed',
    )
  }

  /** Plugins' facts that were recorded and are not durable. */
  unwrittenFacts(): Draft[] {
    return this.#buffer.filter((event) => event.type.startsWith('x.'))
  }

  get isClean(): boolean {
    return this.#buffer.length === 0
  }

  /** Folds an event now and writes it with the next flush. Throws `rule-broken` if it is illegal: a bug, or a bad loop. */
  record(draft: Draft): Event {
    const event = this.#stamp(draft)
    const broken = fold(this.state, event)
    if (broken !== null) throw ruleBroken(event, broken)
    this.#buffer.push(event)
    return event
  }

  /** Marks an input as settled by the events recorded since the last flush. */
  consume(input: PendingInput, as: ReceiptState): void {
    this.#consume.push({ id: input.id, version: input.version, as })
  }

  /** Makes everything recorded so far durable; at once where there is nothing. Throws `InputsGone` if an input that it settles was changed meanwhile. */
  flush(): Maybe<unknown> {
    if (!this.isClean || this.#consume.length > 0) return this.#append(this.#buffer, UNCONDITIONALLY)
  }

  /** Flushes, with `draft` as the last event, folded only if the store accepts it: nothing pending in the named lanes (I4, I5). */
  commit(draft: Draft, unlessPending: readonly Lane[]): Maybe<Committed> {
    const event = this.#stamp(draft)
    const broken = refusal(this.state, event)
    if (broken !== null) throw ruleBroken(event, broken)
    return this.#append([...this.#buffer, event], unlessPending, event)
  }

  /** `last`: the event of a conditional commit, which comes true only if the store accepts it. */
  #append(events: readonly Event[], unlessPending: readonly Lane[], last?: Event): Maybe<Committed> {
    const { store, session, fence, sync } = this.#options
    const append: Append = { session, fence, tail: this.#tail, events, consume: this.#consume, unlessPending }
    if (sync !== noSyncPoints) return this.#appendInSteps(append, last)
    const answer = store.append(append)
    return isLater(answer) ? this.#appendedLater(append, answer, last) : this.#appended(append, answer, last)
  }

  async #appendedLater(append: Append, answer: Promise<Appended>, last?: Event): Promise<Committed> {
    return this.#appended(append, await answer, last)
  }

  async #appendInSteps(append: Append, last?: Event): Promise<Committed> {
    const { store, sync } = this.#options
    await sync.reach('before-append')
    const answer = await store.append(append)
    await sync.reach('after-append')
    return this.#appended(append, answer, last)
  }

  #appended({ session, tail, events }: Append, answer: Appended, last?: Event): Committed {
    switch (answer.kind) {
      case 'appended':
        this.#tail = answer.tail
        this.#buffer = []
        this.#consume = []
        if (last !== undefined) apply(this.state, last)
        this.#options.onDurable(events)
        return 'done'
      case 'pending':
      case 'gone':
        if (last === undefined) throw new InputsGone()
        return answer.kind
      case 'fenced':
        throw new TurnstepError(
          'lease-lost',
          `session "${session}" was taken over by another runner; this one stops and writes nothing more`,
        )
      case 'conflict':
        throw this.#conflict(`its tail is ${answer.tail}, expected ${tail}`)
    }
  }

  /** Puts the head on the draft itself: drafts are made for this and used once, and a copy per event is what a step can be spared. */
  #stamp(draft: Draft): Event {
    const { state } = this
    const event = draft as Draft & Mutable<EventHead>
    const begins = draft.type === 'turn.started'
    event.seq = state.seq + 1
    event.at = this.#options.store.now()
    event.fence = this.#options.fence
    event.turn = begins ? state.turnN + 1 : (state.turn?.n ?? 0)
    event.step = begins
      ? 0
      : draft.type === 'step.started'
        ? (state.turn?.steps ?? 0) + 1
        : (state.step?.n ?? state.turn?.steps ?? 0)
    return event
  }

  #conflict(why: string): TurnstepError {
    return new TurnstepError(
      'log-conflict',
      `the log of session "${this.#options.session}" changed under its runner: ${why}; open it again`,
    )
  }
}

function ruleBroken(event: Event, broken: RuleBreak): TurnstepError {
  return new TurnstepError('rule-broken', `${event.type} (seq ${event.seq}) breaks ${broken.rule}: ${broken.problem}`, {
    data: { rule: broken.rule, type: event.type, seq: event.seq },
  })
}
