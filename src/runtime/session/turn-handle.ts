/**
 * The receipt of one input, and the turn that it entered: what `send` and `steer` give back. Built on following the log; drives nothing.
 * Owns no state of the turn. Invariants: outcome and receipt are the log's and the store's, whichever process drove the turn; whoever
 * stops reading leaves no listener behind.
 */
import type { Event } from '../../kernel/events.ts'
import type { InputId } from '../../kernel/ids.ts'
import type { ReceiptState } from '../../kernel/input.ts'
import type { Goal, TurnOutcome } from '../../kernel/outcome.ts'
import { after } from '../../util/maybe.ts'
import type { Receipt, Turn } from '../session.ts'
import { Follower } from './follow.ts'
import { closed, notEntered, throwIfStopped, TurnFilter, type TurnOptions } from './turn-filter.ts'
import { TextReader } from './turn-text.ts'

type Settled = Exclude<ReceiptState, { kind: 'queued' }>
type Ended = TurnOutcome & { readonly goal: Goal }

export class ReceiptHandle implements Receipt {
  readonly id: InputId
  protected readonly options: TurnOptions
  #settled: Promise<Settled> | null = null

  constructor(options: TurnOptions) {
    this.id = options.input
    this.options = options
  }

  async state(): Promise<ReceiptState> {
    const { store, session } = this.options
    return (await store.receipt(session, this.id)) ?? { kind: 'withdrawn' }
  }

  get settled(): Promise<Settled> {
    this.#settled ??= this.#waitSettled()
    return this.#settled
  }

  async #waitSettled(): Promise<Settled> {
    const follower = new Follower(this.options)
    let settled = null as Settled | null
    try {
      await follower.each(async (news) => {
        // What is in the log is true, whatever became of its runner.
        const state = await this.state()
        if (state.kind !== 'queued') settled = state
        else news.live.forEach(throwIfStopped)
        return settled !== null
      })
    } finally {
      follower.close()
    }
    if (settled === null) throw closed(this.options.session)
    return settled
  }
}

export class TurnHandle extends ReceiptHandle implements Turn {
  #outcome: Promise<Ended> | null = null

  get outcome(): Promise<Ended> {
    this.#outcome ??= this.#waitOutcome()
    return this.#outcome
  }

  get events(): AsyncIterable<Event> {
    return this.#events()
  }

  get text(): AsyncIterable<string> {
    const { options } = this
    return { [Symbol.asyncIterator]: () => new TextReader(options) }
  }

  async #waitOutcome(): Promise<Ended> {
    const filter = new TurnFilter(this.options)
    const follower = new Follower(this.options)
    let rejected: string | null = null
    let ended = null as Ended | null
    try {
      await follower.each((news) =>
        after(filter.accept(news), ({ events }) => {
          for (const event of events) {
            if (event.type === 'input.rejected' && event.input === this.id) rejected = event.reason
            if (event.type === 'turn.ended') ended = { ...event.outcome, goal: event.goal }
          }
          return ended !== null
        }),
      )
    } finally {
      follower.close()
    }
    if (ended === null) throw closed(this.options.session)
    return this.#notRejected(ended, rejected)
  }

  /** A turn that was blocked for its inputs is their turn; any other never saw one that was rejected. */
  #notRejected(ended: Ended, rejected: string | null): Ended {
    if (rejected !== null && ended.kind !== 'blocked') throw notEntered(this.id, `rejected: ${rejected}`)
    return ended
  }

  async *#events(): AsyncGenerator<Event> {
    const follower = new Follower(this.options)
    const filter = new TurnFilter(this.options)
    try {
      while (!filter.isOver) {
        const news = await follower.next()
        if (news === null) throw closed(this.options.session)
        yield* (await filter.accept(news)).events
      }
    } finally {
      follower.close()
    }
  }
}
