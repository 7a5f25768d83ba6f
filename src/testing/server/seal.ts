/**
 * Opaque state that says what became of it. A signature, a redacted block or encrypted content is Base64 of claims and their HMAC, so
 * that a server that keeps nothing, or was started again meanwhile, still knows its own blobs. Owns the format and the verdict; what a
 * wire does about a verdict is the wire's.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJson, isPlainObject } from '../../util/json.ts'

/** What a blob vouches for. */
export interface Claims {
  /** Hash of the readable text that it belongs to; of nothing, where there is none. */
  readonly text: string
  /** Hash of everything that stood before the reply. */
  readonly prefix: string
  readonly model: string
  readonly response: string
  /** Which one of the reply's blobs it is, from 0, and how many there are. */
  readonly index: number
  readonly count: number
}

/** Makes every blob begin with `+/+/`: what a careless decoder or a URL spoils is spoilt at once. */
const MAGIC = Buffer.from([0xfb, 0xff, 0xbf])
const MAC_BYTES = 32
const KEY = 'turnstep strict model server'

/** Base64, padded, with `+`, `/` and `=` in it. */
export function seal(claims: Claims): string {
  const json = JSON.stringify(claims)
  // A last group of one byte is what gives the padding.
  const spaces = (4 - ((Buffer.byteLength(json) + MAC_BYTES) % 3)) % 3
  const text = Buffer.from(json + ' '.repeat(spaces))
  return Buffer.concat([MAGIC, text, macOf(text)]).toString('base64')
}

/** The claims, or null: no blob of this server's, or one that was altered. */
export function unseal(blob: unknown): Claims | null {
  if (typeof blob !== 'string') return null
  const bytes = Buffer.from(blob, 'base64')
  // Node forgives what others do not: only the very text is the blob.
  if (bytes.toString('base64') !== blob || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null
  const text = bytes.subarray(MAGIC.length, -MAC_BYTES)
  const mac = bytes.subarray(-MAC_BYTES)
  if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(text))) return null
  const claims: unknown = JSON.parse(text.toString())
  return isPlainObject(claims) ? (claims as unknown as Claims) : null
}

/** Names a value by its content. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 22)
}

const macOf = (text: Buffer): Buffer => createHmac('sha256', KEY).update(text).digest()
