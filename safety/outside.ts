/** The ledger as a run uses it: started once, asked for its books, told to hold a payment. */
import { join } from 'node:path'
import { Talker } from './process.ts'
import type { LedgerLine, LedgerMoment, Refund } from './talk.ts'

/** The ledger's process. */
export class Ledger {
  readonly url: string
  readonly #process: Talker<LedgerLine>

  private constructor(url: string, process: Talker<LedgerLine>) {
    this.url = url
    this.#process = process
  }

  static async start(): Promise<Ledger> {
    const process = new Talker<LedgerLine>(join(import.meta.dirname, 'ledger.js'))
    const { port } = await process.says('listening')
    return new Ledger(`http://127.0.0.1:${port}`, process)
  }

  /** What was paid for an order, oldest first. */
  async refunds(order: string): Promise<readonly Refund[]> {
    const response = await fetch(`${this.url}/refunds?order=${order}`)
    return (await response.json()) as Refund[]
  }

  /** The next payment of the order stands still at that moment, until `go`. */
  async hold(order: string, at: 'arrived' | 'recorded'): Promise<void> {
    await fetch(`${this.url}/hold?order=${order}&at=${at}`, { method: 'POST' })
  }

  /** What was held goes on; resolves when it stands in the books. */
  async go(order: string): Promise<void> {
    await fetch(`${this.url}/go?order=${order}`, { method: 'POST' })
    await this.reached(order, 'recorded')
  }

  /** Resolves when a payment of the order has come so far. */
  reached(order: string, moment: LedgerMoment): Promise<void> {
    return this.#process.until(
      () => this.#process.said(moment).some((line) => line.order === order),
      `has the payment of ${order} ${moment}`,
    )
  }

  async stop(): Promise<void> {
    await this.#process.kill()
  }
}
