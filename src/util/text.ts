/** How values that were seen stand in messages for people. */
import { borderAt, wellFormed } from './wellformed.ts'

/** What a thrown value says: the message of an error, else the value as text. Never throws, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    const message: unknown = error instanceof Error ? error.message : error
    return typeof message === 'string' ? message : String(message)
  } catch {
    // Something without a string form, or with a getter that throws.
    return 'an error that cannot be read'
  }
}

/** A value as evidence in a message: on one line, a text in quotes, at most about `charsMax` long, well-formed (X8). Never throws. */
export function quoted(value: unknown, charsMax = 200): string {
  if (typeof value === 'string') return wellFormed(JSON.stringify(shortened(value, charsMax)))
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch {
    // A cycle or a bigint has no JSON: its type says enough.
  }
  return wellFormed(shortened(json ?? typeof value, charsMax))
}

function shortened(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, borderAt(text, charsMax))}…` : text
}
