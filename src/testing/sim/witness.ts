/**
 * Sees all that happens to one session, and misses nothing: it lies directly on the store, hears every commit in the order of the
 * commits, and folds the log once more on its own. Owns what is seen; what is wrong with it is said by the checks.
 * Invariants: an append is seen before its writer hears of it; each event is given to every check once, after it was folded; after an
 * event that the fold refused nothing more is folded, since all that follows would be refused too.
 */
import type { Event } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { MessageLane, NewInput } from '../../kernel/input.ts'
import type { StateView } from '../../kernel/state.ts'
import type { Acquired, Append, Appended, Changed, Clock, ModelRequest, Posted, Store } from '../../runtime/ports.ts'
import { after } from '../../util/maybe.ts'
import { messageOf } from '../../util/text.ts'
import type { Check, Held, Seen } from './check.ts'
import { InboxShadow } from './inbox-shadow.ts'
import type { SimBody, SimFault, SimInput } from './sim.ts'
import { layerOver, type Verb } from './store-layer.ts'
import { LEASE_MS } from './world.ts'

/** Whose body it is changes while it runs. */
export type Body = SimBody & { ended: boolean }

export interface WitnessOptions {
  readonly session: SessionId
  readonly clock: Clock
  /** Whether the owner of a lease lives and reaches a store that does as it is told. */
  readonly isWell: (owner: string) => boolean
  /** Each thing as it happens, for a story. */
  readonly tell?: ((kind: 'events' | 'body' | 'lease' | 'fault', what: unknown) => void) | undefined
}

export class Witness implements Seen {
  readonly log: Event[] = []
  readonly bodies: Body[] = []
  readonly faults: SimFault[] = []
  readonly shadow = new InboxShadow()
  readonly checks: Check[] = []
  held: Held | null = null
  isSeeding = false
  disturbedAt = 0
  readonly #options: WitnessOptions
  readonly #state = emptyState()
  #fence = 0
  #writesSince: number | null = null
  #unsureUntil = 0
  #isBroken = false

  constructor(options: WitnessOptions) {
    this.#options = options
  }

  get state(): StateView {
    return this.#state
  }

  get inbox(): readonly SimInput[] {
    return this.shadow.pending
  }

  get fence(): number {
    return this.#fence
  }

  get now(): number {
    return this.#options.clock.now()
  }

  get steadySince(): number | null {
    if (this.held === null || this.now >= this.held.expiresAt || this.#writesSince === null) return null
    const since = Math.max(this.#writesSince, this.#unsureUntil)
    return since <= this.now && this.#options.isWell(this.held.owner) ? since : null
  }

  /** Something is not as it should be. A lease that lives on behind its end was renewed since: who holds it is still at work. */
  disturb(): void {
    this.disturbedAt = this.now
    this.#unsureUntil = this.now + LEASE_MS
  }

  fail(rule: string, message: string): void {
    this.faults.push({ rule, message })
    this.#options.tell?.('fault', { rule, message })
  }

  /** The store, watched. */
  over(store: Store): Store {
    return layerOver(store, (verb, args, run) =>
      after(run(), (answer) => {
        const session = verb === 'append' ? (args[0] as Append).session : args[0]
        if (session === this.#options.session) this.#heard(verb, args, answer)
        return answer
      }),
    )
  }

  /** A body begins, now. */
  began(body: Body): void {
    this.bodies.push(body)
    this.#options.tell?.('body', body)
    this.#ask((check) => check.body?.(body, this))
  }

  /** The model is asked, now. */
  asked(request: ModelRequest, owner: string): void {
    this.#ask((check) => check.request?.(request, this))
    this.#ask((check) => check.asked?.(request, owner, this))
  }

  async moment(): Promise<void> {
    for (const check of this.checks) await this.#later(check, () => check.moment?.(this))
  }

  async end(): Promise<void> {
    for (const check of this.checks) await this.#later(check, () => check.end?.(this))
  }

  /** A check that throws has found something, and must not be taken for the store. */
  #ask(hear: (check: Check) => void): void {
    for (const check of this.checks) {
      try {
        hear(check)
      } catch (error) {
        this.fail(check.name, messageOf(error))
      }
    }
  }

  async #later(check: Check, hear: () => void | Promise<void>): Promise<void> {
    try {
      await hear()
    } catch (error) {
      this.fail(check.name, messageOf(error))
    }
  }

  #heard(verb: Verb, args: readonly unknown[], answer: unknown): void {
    switch (verb) {
      case 'append':
        if ((answer as Appended).kind === 'appended') this.#appended(args[0] as Append)
        return
      case 'put':
        if ((answer as Posted).kind === 'queued') this.shadow.posted(args[1] as NewInput, this.now, this.log.length)
        return
      case 'edit':
        if ((answer as Changed).kind === 'changed')
          this.shadow.edited(args[1] as string, (args[2] as { readonly lane?: MessageLane }).lane)
        return
      case 'move':
        if ((answer as Changed).kind === 'changed') this.shadow.moved(args[1] as string, args[2] as string | null)
        return
      case 'withdraw':
        if ((answer as Changed).kind === 'changed') this.shadow.gone(args[1] as string)
        return
      case 'acquire':
        return this.#acquired(answer as Acquired, (args[1] as { readonly owner: string }).owner)
      case 'renew':
        return this.#renewed(args[1] as number, answer as { readonly kind: string; readonly expiresAt?: number | null })
      case 'release':
        if ((answer as { readonly kind: string }).kind === 'released') this.held = null
        return
      default:
    }
  }

  #acquired(answer: Acquired, owner: string): void {
    if (answer.kind !== 'acquired') return
    const { fence, expiresAt } = answer
    this.#ask((check) => check.acquired?.(answer, this))
    this.#options.tell?.('lease', { owner, fence })
    this.#fence = fence
    this.held = { owner, fence, expiresAt: expiresAt ?? Infinity }
    // Whether the answer came to anybody shows when it writes.
    this.#writesSince = null
    this.#unsureUntil = 0
  }

  #renewed(fence: number, { kind, expiresAt }: { readonly kind: string; readonly expiresAt?: number | null }): void {
    if (kind === 'renewed' && this.held?.fence === fence) this.held.expiresAt = expiresAt ?? Infinity
  }

  #appended(append: Append): void {
    this.#ask((check) => check.append?.(append, this))
    for (const id of this.shadow.consumed(append)) this.fail('I2', `input ${id} is settled, and was not pending`)
    this.#options.tell?.('events', append.events)
    this.#writesSince ??= this.now
    for (const event of append.events) this.#event(event)
  }

  #event(event: Event): void {
    this.log.push(event)
    if (this.#isBroken) return
    const refused = fold(this.#state, event)
    if (refused !== null) {
      this.#isBroken = true
      return this.fail(refused.rule, `event ${event.seq} (${event.type}) is illegal: ${refused.problem}`)
    }
    this.#ask((check) => check.event?.(event, this))
  }
}
