/**
 * Which of a session's news belong to one turn. Owns what is kept back until its input has entered; reads receipts, follows nothing itself.
 * Invariants: nothing of another turn gets through, nothing after the turn's end; nobody waits for an input that never enters.
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { Maybe } from '../../util/maybe.ts'
import type { Store } from '../ports.ts'
import type { Live } from '../session.ts'
import type { FollowOptions, News } from './follow.ts'

export interface TurnOptions extends FollowOptions {
  readonly store: Store
  readonly input: InputId
}

/** Keeps what belongs to the turn that one input entered. Until the input enters, the turn that may become it is kept back. */
export class TurnFilter {
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
  return isWhole && live.every((one) => isOf(one, turn)) ? news : picked(news, turn)
}

function isOf(live: Live, turn: number): boolean {
  return 'turn' in live && live.turn === turn
}

function picked(news: News, turn: number): News {
  const end = news.events.findIndex((event) => event.type === 'turn.ended' && event.turn === turn)
  const events = end < 0 ? news.events : news.events.slice(0, end + 1)
  return {
    live: news.live.filter((live) => isOf(live, turn)),
    events: events.every((event) => event.turn === turn) ? events : events.filter((event) => event.turn === turn),
  }
}

export function throwIfStopped(live: Live): void {
  if (live.type === 'stopped' && live.error !== undefined) throw live.error
}

export function notEntered(input: InputId, why: string): TurnstepError {
  return new TurnstepError('input-not-entered', `input "${input}" never entered a turn: it was ${why}`, {
    data: { input, why },
  })
}

export function closed(session: SessionId): TurnstepError {
  return new TurnstepError(
    'session-closed',
    `session "${session}" was closed here before this ended; open it again to go on`,
  )
}
