/**
 * What the inbox must hold, told from what was done to it. Owns the order of arrival and what was settled; a store that keeps another
 * order, or settles something twice, is caught by it.
 */
import type { NewInput } from '../../kernel/input.ts'
import type { Append } from '../../runtime/ports.ts'
import type { SimInput } from './sim.ts'

interface Shadow extends SimInput {
  lane: SimInput['lane']
  /** Its place, or its lane, was changed while it waited: who was at a gate then may not have seen it. */
  isMoved: boolean
  /** When it came. */
  readonly at: number
}

export class InboxShadow {
  readonly pending: Shadow[] = []
  /** Every id that was ever posted. */
  readonly known = new Set<string>()
  /** When the newest message came, as a tail of the log. */
  newestTail = -1

  posted({ id, lane }: NewInput, at: number, tail: number): void {
    this.known.add(id)
    this.pending.push({ id, lane, at, tail, isMoved: false })
    if (lane !== 'control') this.newestTail = tail
  }

  edited(id: string, lane: SimInput['lane'] | undefined): void {
    const input = this.pending.find((one) => one.id === id)
    if (input === undefined || lane === undefined) return
    input.lane = lane
    input.isMoved = true
  }

  moved(id: string, before: string | null): void {
    const from = this.pending.findIndex((one) => one.id === id)
    if (from < 0 || id === before) return
    const [input] = this.pending.splice(from, 1)
    input!.isMoved = true
    const goal = this.pending.findIndex((one) => one.id === before)
    this.pending.splice(goal < 0 ? this.pending.length : goal, 0, input!)
  }

  /** True: it was there. */
  gone(id: string): boolean {
    const at = this.pending.findIndex((one) => one.id === id)
    if (at >= 0) this.pending.splice(at, 1)
    return at >= 0
  }

  /** Takes out what an append settles; answers with what was not there to be settled. */
  consumed({ consume }: Append): string[] {
    return consume.filter(({ id }) => !this.gone(id)).map(({ id }) => id)
  }
}
