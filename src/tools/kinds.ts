/** What a file is, by its first bytes. */

const SIGNATURES: readonly (readonly [mediaType: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '89504e470d0a1a0a'],
  ['image/jpeg', 0, 'ffd8ff'],
  ['image/gif', 0, '474946383761'],
  ['image/gif', 0, '474946383961'],
  ['image/webp', 8, '57454250'],
]

/** The media type of an image that models can look at, or null. */
export function imageType(start: Uint8Array): string | null {
  for (const [mediaType, offset, hex] of SIGNATURES) {
    const bytes = Buffer.from(hex, 'hex')
    if (Buffer.from(start.subarray(offset, offset + bytes.length)).equals(bytes)) return mediaType
  }
  return null
}

/** Looked at for a NUL, which text does not have. */
const LOOK_BYTES = 8192

export function isBinary(start: Uint8Array): boolean {
  return start.subarray(0, LOOK_BYTES).includes(0)
}
