/** Node's clock, ids, randomness and environment: the only reader of these. Everything else gets them through ports. */
import type Crypto from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import type { Clock, Ids, Random } from '../runtime/ports.ts'
import { plainSha256 } from '../util/sha256.ts'

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

export const nodeIds: Ids = { next: uuidv7, sha256 }

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

/** Null until it is worth its loading, which takes a sixth of the time that Node itself takes to start. */
let loaded: typeof Crypto | null = null
const crypto = (): typeof Crypto => (loaded ??= process.getBuiltinModule('node:crypto'))

/** Characters that are hashed here: the instructions and tools of a small agent. */
const PLAIN_CHARS_MAX = 4096
let plainChars = 0

function sha256(text: string): string {
  if (loaded === null && (plainChars += text.length) <= PLAIN_CHARS_MAX) return plainSha256(text)
  return crypto().hash('sha256', text, 'hex')
}

/** Random bits for ids: from the system's own generator, which Node's is seeded with, until Node's is there. */
function randomBytes(count: number): Buffer {
  return (loaded === null && systemRandom(count)) || crypto().randomBytes(count)
}

/** Null where the generator is no file, as on Windows. */
function systemRandom(count: number): Buffer | null {
  const bytes = Buffer.alloc(count)
  try {
    const file = openSync('/dev/urandom', 'r')
    try {
      return readSync(file, bytes) === count ? bytes : null
    } finally {
      closeSync(file)
    }
  } catch {
    // No such file, or it may not be read: Node has its own ways.
    return null
  }
}

/** Environment variables, read when asked. */
export function env(name: string): string | undefined {
  const value = process.env[name]
  return value === undefined || value === '' ? undefined : value
}
