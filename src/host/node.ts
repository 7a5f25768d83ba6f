/** Node's clock, ids, randomness and environment: the only reader of these. Everything else gets them through ports. */
import { hash, randomBytes } from 'node:crypto'
import type { Clock, Ids, Random } from '../runtime/ports.ts'

/** A timer longer than this fires at once in Node; longer waits are made of several. */
const TIMER_MAX_MS = 2 ** 31 - 1

export const nodeClock: Clock = {
  now: () => Date.now(),
  after(ms, run, options = {}) {
    const due = Date.now() + ms
    let timer: NodeJS.Timeout
    const arm = (): void => {
      const left = Math.max(0, due - Date.now())
      timer = setTimeout(left > TIMER_MAX_MS ? arm : run, Math.min(left, TIMER_MAX_MS))
      if (options.unref === true) timer.unref()
    }
    arm()
    return () => clearTimeout(timer)
  },
}

export const nodeIds: Ids = {
  next: uuidv7,
  sha256: (text) => hash('sha256', text, 'hex'),
}

export const nodeRandom: Random = { next: Math.random }

/** RFC 9562 version 7: 48 bits of milliseconds, then random bits. */
function uuidv7(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Environment variables, read when asked. */
export function env(name: string): string | undefined {
  const value = process.env[name]
  return value === undefined || value === '' ? undefined : value
}
