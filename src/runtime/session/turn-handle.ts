/** The receipt of one input, and the turn that it entered: what `send` and `steer` give back. Built on following the log; drives nothing. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { InputId, SessionId } from '../../kernel/ids.ts'
import type { ReceiptState } from '../../kernel/input.ts'
import { textOf } from '../../kernel/message.ts'
import type { Goal, TurnOutcome } from '../../kernel/outcome.ts'
import { Follower, type FollowOptions } from './follow.ts'
import type { Receipt, Turn, Watched } from '../session.ts'

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
    try {
      for (let batch = await follower.next(); batch !== null; batch = await follower.next()) {
        // What is in the log is true, whatever became of its runner.
        const state = await this.state()
        if (state.kind !== 'queued') return state
        batch.forEach(throwIfStopped)
      }
    } finally {
      follower.close()
    }
    throw closed(this.options.session)
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
    let rejected: string | null = null
    for await (const batch of this.#batches()) {
      for (const seen of batch) {
        if (seen.kind !== 'event') continue
        const { event } = seen
        if (event.type === 'input.rejected' && event.input === this.id) rejected = event.reason
        if (event.type !== 'turn.ended') continue
        // A turn that was blocked for its inputs is their turn; any other never saw one that was rejected.
        if (rejected !== null && event.outcome.kind !== 'blocked') throw notEntered(this.id, `rejected: ${rejected}`)
        return { ...event.outcome, goal: event.goal }
      }
    }
    throw closed(this.options.session)
  }

  async *#events(): AsyncGenerator<Event> {
    for await (const batch of this.#batches()) for (const seen of batch) if (seen.kind === 'event') yield seen.event
  }

  async *#text(): AsyncGenerator<string> {
    let streamed = ''
    for await (const batch of this.#batches()) {
      for (const piece of batch
        .flatMap(pieceOf)
        .toSorted((one, other) => one.step - other.step || one.attempt - other.attempt)) {
        // Driven elsewhere, or before we looked: the deltas passed us by, the log has it all.
        const isKnown = piece.isWhole && streamed === attemptOf(piece)
        if (!piece.isWhole) streamed = attemptOf(piece)
        if (!isKnown && piece.text !== '') yield piece.text
      }
    }
  }

  /** What belongs to the turn that this input entered, up to the turn's end. */
  async *#batches(): AsyncGenerator<readonly Watched[]> {
    const follower = new Follower(this.options)
    const filter = new TurnFilter(this.id)
    try {
      for (let batch = await follower.next(); batch !== null; batch = await follower.next()) {
        yield filter.accept(batch)
        if (filter.isOver) return
        if (!filter.hasEntered) await this.#throwIfNeverEnters()
      }
    } finally {
      follower.close()
    }
    throw closed(this.options.session)
  }

  async #throwIfNeverEnters(): Promise<void> {
    const state = await this.state()
    if (state.kind === 'withdrawn' || state.kind === 'expired') throw notEntered(this.id, state.kind)
    // It entered once before, in a log that came from elsewhere: no event tells of the second time.
    if (state.kind === 'rejected' && state.reason === 'duplicate') throw notEntered(this.id, 'there already')
  }
}

/** Keeps what belongs to one input's turn. Until the input enters, the turn that may become it is kept back. */
class TurnFilter {
  readonly #input: InputId
  #early: Watched[] = []
  #turn: number | null = null
  #over = false

  constructor(input: InputId) {
    this.#input = input
  }

  get hasEntered(): boolean {
    return this.#turn !== null
  }

  get isOver(): boolean {
    return this.#over
  }

  accept(batch: readonly Watched[]): readonly Watched[] {
    const out: Watched[] = []
    for (const seen of batch) {
      if (this.#turn === null) this.#await(seen, out)
      else if (turnOf(seen) === this.#turn) out.push(seen)
      if (seen.kind === 'event' && seen.event.type === 'turn.ended' && seen.event.turn === this.#turn) {
        this.#over = true
        return out
      }
    }
    batch.forEach(throwIfStopped)
    return out
  }

  #await(seen: Watched, out: Watched[]): void {
    if (seen.kind === 'event' && seen.event.type === 'turn.started')
      this.#early = this.#early.filter((early) => turnOf(early) === turnOf(seen))
    this.#early.push(seen)
    this.#turn = this.#turnEntered(seen)
    if (this.#turn === null) return
    for (const early of this.#early.splice(0)) if (turnOf(early) === this.#turn) out.push(early)
  }

  #turnEntered(seen: Watched): number | null {
    if (seen.kind !== 'event') return null
    const { event } = seen
    if (event.type !== 'input.entered' && event.type !== 'input.rejected') return null
    if (event.input !== this.#input) return null
    if (event.turn === 0) throw notEntered(this.#input, event.type === 'input.rejected' ? event.reason : 'rejected')
    return event.turn
  }
}

function turnOf(seen: Watched): number | null {
  if (seen.kind === 'event') return seen.event.turn
  return 'turn' in seen.live ? seen.live.turn : null
}

/** Text that was told: as it streamed, or the whole of a reply. */
interface Piece {
  readonly step: number
  readonly attempt: number
  readonly text: string
  readonly isWhole: boolean
}

/** A batch brings what is streaming before what the log had already: whoever reads text sorts it by attempt. */
function pieceOf(seen: Watched): Piece[] {
  if (seen.kind === 'live') return seen.live.type === 'text' ? [{ ...seen.live, isWhole: false }] : []
  const { event } = seen
  return event.type === 'reply.completed'
    ? [{ step: event.step, attempt: event.attempt, text: textOf(event.parts), isWhole: true }]
    : []
}

function attemptOf(at: { readonly step: number; readonly attempt: number }): string {
  return `${at.step}/${at.attempt}`
}

function throwIfStopped(seen: Watched): void {
  if (seen.kind === 'live' && seen.live.type === 'stopped' && seen.live.error !== undefined) throw seen.live.error
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
