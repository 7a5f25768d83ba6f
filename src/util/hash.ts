/**
 * A 53-bit content hash of a string (cyrb53 by bryc, public domain), as 14 hex digits.
 * For telling repeated content apart inside one turn (T6), where a pure function is needed and nobody attacks;
 * whatever must resist an attacker is hashed with SHA-256 by the host.
 */
export function quickHash(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  // 53 bits: 21 of the one half, all of the other. By table: a number as hex text costs more than the rest of a short hash.
  return (
    HEX[(low >>> 16) & 31]! +
    HEX[(low >>> 8) & 255]! +
    HEX[low & 255]! +
    HEX[high >>> 24]! +
    HEX[(high >>> 16) & 255]! +
    HEX[(high >>> 8) & 255]! +
    HEX[high & 255]!
  )
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
