/** The receipt of one input, and the turn that it entered: what `send` and `steer` give back. Built on following the log; drives nothing. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { ReceiptState } from '../../kernel/input.ts'
import { textOf } from '../../kernel/message.ts'
import { after, type Maybe } from '../../util/maybe.ts'
import type { Goal, TurnOutcome } from '../../kernel/outcome.ts'
import { Follower, type FollowOptions, type News } from './follow.ts'
import type { Live, Receipt, Turn } from '../session.ts'

export interface TurnOptions extends FollowOptions {
  readonly input: InputId
}

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
    return this.#text()
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
    for await (const { events } of newsOf(this.options)) yield* events
  }

  async *#text(): AsyncGenerator<string> {
    let streamed = ''
    for await (const news of newsOf(this.options)) {
      for (const piece of piecesOf(news)) {
        // Driven elsewhere, or before we looked: the deltas passed us by, the log has it all.
        const isKnown = piece.isWhole && streamed === attemptOf(piece)
        if (!piece.isWhole) streamed = attemptOf(piece)
        if (!isKnown && piece.text !== '') yield piece.text
      }
    }
  }
}

async function* newsOf(options: TurnOptions): AsyncGenerator<News> {
  const follower = new Follower(options)
  const filter = new TurnFilter(options)
  try {
    for (let news = await follower.next(); news !== null; news = await follower.next()) {
      yield await filter.accept(news)
      if (filter.isOver) return
    }
  } finally {
    follower.close()
  }
  throw closed(options.session)
}

/** Keeps what belongs to the turn that one input entered. Until the input enters, the turn that may become it is kept back. */
class TurnFilter {
  readonly #options: TurnOptions
  #early: News = { live: [], events: [] }
  #turn: number | null = null
  #over = false

  constructor(options: TurnOptions) {
    this.#options = options
  }

  /** The turn has ended: nothing comes any more. */
  get isOver(): boolean {
    return this.#over
  }

  /** Throws if the input never enters a turn, or if nobody drives its session here any more. */
  accept(news: News): Maybe<News> {
    const own = this.#turn === null ? this.#await(news) : ofTurn(news, this.#turn)
    if (own.events.at(-1)?.type === 'turn.ended') {
      this.#over = true
      return own
    }
    for (const live of news.live) throwIfStopped(live)
    return this.#turn === null ? this.#throwIfNeverEnters().then(() => own) : own
  }

  #await(news: News): News {
    const { live, events } = this.#early
    const early: News = { live: [...live, ...news.live], events: [...events, ...news.events] }
    this.#turn = this.#turnEntered(news.events)
    if (this.#turn !== null) return ofTurn(early, this.#turn)
    const started = early.events.findLast((event) => event.type === 'turn.started')
    this.#early = started === undefined ? early : ofTurn(early, started.turn)
    return { live: [], events: [] }
  }

  #turnEntered(events: readonly Event[]): number | null {
    const { input } = this.#options
    for (const event of events) {
      if (event.type !== 'input.entered' && event.type !== 'input.rejected') continue
      if (event.input !== input) continue
      if (event.turn === 0) throw notEntered(input, event.type === 'input.rejected' ? event.reason : 'rejected')
      return event.turn
    }
    return null
  }

  async #throwIfNeverEnters(): Promise<void> {
    const { store, session, input } = this.#options
    const state = (await store.receipt(session, input)) ?? { kind: 'withdrawn' }
    if (state.kind === 'withdrawn' || state.kind === 'expired') throw notEntered(input, state.kind)
    // It entered once before, in a log that came from elsewhere: no event tells of the second time.
    if (state.kind === 'rejected' && state.reason === 'duplicate') throw notEntered(input, 'there already')
  }
}

/** What of it belongs to a turn, up to the turn's end. */
function ofTurn(news: News, turn: number): News {
  const { live, events } = news
  // Turns do not overlap: what begins and ends with one is of it altogether.
  const isWhole = events.length === 0 || (events[0]!.turn === turn && events.at(-1)!.turn === turn)
  return isWhole && live.length === 0 ? news : picked(news, turn)
}

function picked(news: News, turn: number): News {
  const end = news.events.findIndex((event) => event.type === 'turn.ended' && event.turn === turn)
  const events = end < 0 ? news.events : news.events.slice(0, end + 1)
  return {
    live: news.live.filter((live) => 'turn' in live && live.turn === turn),
    events: events.every((event) => event.turn === turn) ? events : events.filter((event) => event.turn === turn),
  }
}

/** Text that was told: as it streamed, or the whole of a reply. */
interface Piece {
  readonly step: number
  readonly attempt: number
  readonly text: string
  readonly isWhole: boolean
}

/** News bring what is streaming before what the log had already: whoever reads text sorts it by attempt. */
function piecesOf({ live, events }: News): Piece[] {
  const pieces: Piece[] = []
  for (const delta of live) {
    if (delta.type !== 'text') continue
    const { step, attempt, text } = delta
    pieces.push({ step, attempt, text, isWhole: false })
  }
  for (const event of events) {
    if (event.type !== 'reply.completed') continue
    pieces.push({ step: event.step, attempt: event.attempt, text: textOf(event.parts), isWhole: true })
  }
  return pieces.sort((one, other) => one.step - other.step || one.attempt - other.attempt)
}

function attemptOf(at: { readonly step: number; readonly attempt: number }): string {
  return `${at.step}/${at.attempt}`
}

function throwIfStopped(live: Live): void {
  if (live.type === 'stopped' && live.error !== undefined) throw live.error
}

function notEntered(input: InputId, why: string): TurnstepError {
  return new TurnstepError('input-not-entered', `input "${input}" never entered a turn: it was ${why}`, {
    data: { input, why },
  })
}

function closed(session: SessionId): TurnstepError {
  return new TurnstepError(
    'session-closed',
    `session "${session}" was closed here before this ended; open it again to go on`,
  )
}
