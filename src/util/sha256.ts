/**
 * SHA-256 as FIPS 180-4 has it. For the few short texts that a program hashes before its first model call: Node's own is quicker for
 * each text, and takes longer to load than all of these texts take here.
 */

/** The hash of the UTF-8 text, lower-case hex. Half of a surrogate pair counts as U+FFFD, as wherever text becomes UTF-8. */
export function plainSha256(text: string): string {
  const words = padded(new TextEncoder().encode(text))
  const hash = Uint32Array.from(START)
  for (let at = 0; at < words.length; at += 16) mix(hash, words.subarray(at, at + 16))
  let hex = ''
  for (const word of hash) hex += word.toString(16).padStart(8, '0')
  return hex
}

/** Section 5.3.3. */
const START = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]

/** Section 4.2.2: what is added, by step. */
const ADDED = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]

/** Section 5.1.1: the bytes, a one bit, zeros up to a whole block, the length in bits. */
function padded(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array((((bytes.length + 8) >> 6) + 1) * 16)
  for (let at = 0; at < bytes.length; at++) words[at >> 2]! |= bytes[at]! << (24 - (at & 3) * 8)
  words[bytes.length >> 2]! |= 0x80 << (24 - (bytes.length & 3) * 8)
  words[words.length - 2] = bytes.length / 2 ** 29
  words[words.length - 1] = bytes.length << 3
  return words
}

const schedule = new Uint32Array(64)

/** Section 6.2.2: takes one block of 16 words into the hash. The letters are the standard's. */
function mix(hash: Uint32Array, block: Uint32Array): void {
  schedule.set(block)
  for (let at = 16; at < 64; at++) {
    const early = schedule[at - 15]!
    const late = schedule[at - 2]!
    const one = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
    const two = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
    schedule[at] = schedule[at - 16]! + one + schedule[at - 7]! + two
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash
  for (let at = 0; at < 64; at++) {
    const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ADDED[at]! + schedule[at]!
    const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  hash.set([
    a + hash[0]!,
    b + hash[1]!,
    c + hash[2]!,
    d + hash[3]!,
    e + hash[4]!,
    f + hash[5]!,
    g + hash[6]!,
    h + hash[7]!,
  ])
}

/** Turned right by so many bits. */
const turned = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))
