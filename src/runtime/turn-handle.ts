/** The receipt of one input, and the turn that it entered: what `send` and `steer` give back. Built on following the log; drives nothing. */
import { TurnstepError } from '../kernel/errors.ts'
import type { Event } from '../kernel/events.ts'
import type { InputId, SessionId } from '../kernel/ids.ts'
import type { ReceiptState } from '../kernel/input.ts'
import { textOf } from '../kernel/message.ts'
import type { Goal, TurnOutcome } from '../kernel/outcome.ts'
import { follow, type FollowOptions } from './follow.ts'
import type { Live, Receipt, Turn, Watched } from './session.ts'

export interface TurnOptions extends FollowOptions {
  readonly input: InputId
}

type Settled = Exclude<ReceiptState, { kind: 'queued' }>

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
    let settled: Settled | null = null
    const look = async (): Promise<'stop' | void> => {
      const state = await this.state()
      if (state.kind === 'queued') return
      settled = state
      return 'stop'
    }
    for await (const seen of follow(this.options, look)) throwIfStopped(seen)
    if (settled === null) throw closed(this.options.session)
    return settled
  }
}

export class TurnHandle extends ReceiptHandle implements Turn {
  #outcome: Promise<TurnOutcome & { readonly goal: Goal }> | null = null

  get outcome(): Promise<TurnOutcome & { readonly goal: Goal }> {
    this.#outcome ??= this.#waitOutcome()
    return this.#outcome
  }

  get events(): AsyncIterable<Event> {
    return this.#events()
  }

  get text(): AsyncIterable<string> {
    return this.#text()
  }

  async #waitOutcome(): Promise<TurnOutcome & { readonly goal: Goal }> {
    for await (const event of this.#events()) if (event.type === 'turn.ended') return { ...event.outcome, goal: event.goal } as TurnOutcome & { goal: Goal }
    throw closed(this.options.session)
  }

  async *#events(): AsyncGenerator<Event> {
    for await (const seen of this.#watched()) if (seen.kind === 'event') yield seen.event
  }

  async *#text(): AsyncGenerator<string> {
    let streamed = ''
    for await (const seen of this.#watched()) {
      const key = keyOf(seen)
      if (seen.kind === 'live' && seen.live.type === 'text') {
        streamed = key
        yield seen.live.text
      } else if (seen.kind === 'event' && seen.event.type === 'reply.completed' && streamed !== key) {
        // Driven elsewhere, or before we looked: the deltas passed us by, the log has it all.
        const text = textOf(seen.event.parts as never)
        if (text !== '') yield text
      }
    }
  }

  /** What belongs to the turn that this input entered, from that entry to the turn's end. */
  async *#watched(): AsyncGenerator<Watched> {
    let turn: number | null = null
    const early: Watched[] = []
    const stillAwaited = async (): Promise<'stop' | void> => {
      if (turn === null && !early.some((seen) => seen.kind === 'event')) await this.#throwIfNeverEnters()
    }
    for await (const seen of follow(this.options, stillAwaited)) {
      throwIfStopped(seen)
      if (turn === null) {
        // A new turn begins: what came before it belongs to others.
        if (seen.kind === 'event' && seen.event.type === 'turn.started') early.splice(0)
        early.push(seen)
        turn = this.#turnEntered(seen)
        if (turn === null) continue
        for (const before of early.splice(0)) if (turnOf(before) === turn) yield before
      } else if (turnOf(seen) === turn) yield seen
      if (seen.kind === 'event' && seen.event.type === 'turn.ended' && seen.event.turn === turn) return
    }
    if (!this.options.signal.aborted) return
    throw closed(this.options.session)
  }

  #turnEntered(seen: Watched): number | null {
    if (seen.kind !== 'event') return null
    const { event } = seen
    if (event.type !== 'input.entered' && event.type !== 'input.rejected') return null
    if (event.input !== this.id) return null
    if (event.turn === 0) throw notEntered(this.id, event.type === 'input.rejected' ? event.reason : 'rejected')
    return event.turn
  }

  async #throwIfNeverEnters(): Promise<void> {
    const state = await this.state()
    if (state.kind === 'withdrawn' || state.kind === 'expired') throw notEntered(this.id, state.kind)
  }
}

function turnOf(seen: Watched): number | null {
  if (seen.kind === 'event') return seen.event.turn
  return 'turn' in seen.live ? seen.live.turn : null
}

function keyOf(seen: Watched): string {
  const at: { readonly step?: number; readonly attempt?: number } = seen.kind === 'event' ? (seen.event as Event & { attempt?: number }) : (seen.live as Live & { step?: number; attempt?: number })
  return `${at.step}/${at.attempt}`
}

function throwIfStopped(seen: Watched): void {
  if (seen.kind === 'live' && seen.live.type === 'stopped' && seen.live.error !== undefined) throw seen.live.error
}

function notEntered(input: InputId, why: string): TurnstepError {
  return new TurnstepError('input-not-entered', `input "${input}" never entered a turn: it was ${why}`, { data: { input, why } })
}

function closed(session: SessionId): TurnstepError {
  return new TurnstepError('session-closed', `session "${session}" was closed here before this ended; open it again to go on`)
}
