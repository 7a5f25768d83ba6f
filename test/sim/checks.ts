/** What a simulation watches while it runs: facts about instants, which no log shows afterwards. */
import type { Event } from '../../src/kernel/events.ts'
import type { BodyRun } from '../kit/tools.ts'

export class Watchman {
  readonly faults: string[] = []
  #fence = 0
  readonly #starts = new Set<string>()
  readonly #arrivals = new Map<string, number>()
  #hold: number | null = null
  #steerMayStart = false

  /** A lease was taken. */
  acquired(fence: number): void {
    if (fence <= this.#fence) this.faults.push(`W1: fence ${fence} after ${this.#fence}`)
    this.#fence = fence
  }

  /** An input was posted, at a tail of the log. */
  posted(id: string, tail: number): void {
    this.#arrivals.set(id, tail)
  }

  durable(events: readonly Event[]): void {
    for (const event of events) {
      if (event.fence !== this.#fence)
        this.faults.push(`W1: event ${event.seq} under fence ${event.fence}, the lease has ${this.#fence}`)
      if (event.type === 'call.started') this.#starts.add(`${event.call} ${event.fence}`)
      this.#watchHold(event)
    }
  }

  /** A body begins, now. */
  began(run: BodyRun, effect: string): void {
    if (effect === 'read') return
    if (!this.#starts.has(`${run.call} ${run.fence}`))
      this.faults.push(`C3: ${run.tool} ${run.call} begins before its start is durable`)
    if (run.fence !== this.#fence)
      this.faults.push(`W1: ${run.tool} ${run.call} begins under fence ${run.fence}, the lease has ${this.#fence}`)
  }

  /** I9, I11: after an end that is not good nothing starts without a new input. */
  #watchHold(event: Event): void {
    if (event.type === 'turn.ended') {
      this.#hold = event.outcome.kind === 'completed' ? null : event.seq
      this.#steerMayStart = event.outcome.kind === 'step-limit'
    }
    if (event.type === 'session.resumed') this.#hold = null
    if (event.type !== 'turn.started') return
    const isNew = [...this.#arrivals.values()].some((tail) => this.#hold !== null && tail >= this.#hold)
    if (this.#hold !== null && event.trigger === 'input' && !isNew && !this.#steerMayStart)
      this.faults.push(`I9: turn ${event.turn} started by itself`)
  }
}
