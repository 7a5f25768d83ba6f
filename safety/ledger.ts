/**
 * The outside world: a process of its own that records every refund that reaches it, with its key, and never dedupes.
 *
 *     POST /refunds?order=&amount=&key=   records, then answers
 *     GET  /refunds?order=                the books of an order; `key=` narrows it
 *     POST /hold?order=&at=               the next payment of the order stops when it has `arrived`, or is `recorded`
 *     POST /go?order=                     and goes on
 *
 * What it does goes to stdout, line by line, before it does anything else, so that whoever kills the payer knows when.
 */
import { writeSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LedgerLine, Refund } from './talk.ts'

const say = (line: LedgerLine): void => void writeSync(1, `${JSON.stringify(line)}\n`)

const books: Refund[] = []
const holds = new Map<string, { readonly at: string; readonly passed: Promise<void>; readonly pass: () => void }>()

async function pay(refund: Refund, response: ServerResponse): Promise<void> {
  const { order, key } = refund
  response.once('finish', () => say({ what: 'answered', order, key }))
  say({ what: 'arrived', order, key })
  await held(order, 'arrived')
  books.push(refund)
  say({ what: 'recorded', order, key })
  await held(order, 'recorded')
  response.end(JSON.stringify(refund))
}

async function held(order: string, at: string): Promise<void> {
  const hold = holds.get(order)
  if (hold?.at !== at) return
  await hold.passed
  holds.delete(order)
}

function hold(order: string, at: string): void {
  let pass = (): void => {}
  const passed = new Promise<void>((resolve) => (pass = resolve))
  holds.set(order, { at, passed, pass })
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://ledger')
  const { order = '', amount = '0', key, at = '' } = Object.fromEntries(searchParams)
  switch (`${request.method} ${pathname}`) {
    case 'POST /refunds':
      void pay({ order, amount: Number(amount), key: key ?? '' }, response)
      return
    case 'GET /refunds':
      response.end(JSON.stringify(books.filter((one) => one.order === order && (key === undefined || one.key === key))))
      return
    case 'POST /hold':
      hold(order, at)
      break
    case 'POST /go':
      holds.get(order)?.pass()
      break
    default:
      response.statusCode = 404
  }
  response.end()
})
server.listen(0, '127.0.0.1', () => say({ what: 'listening', port: (server.address() as AddressInfo).port }))
