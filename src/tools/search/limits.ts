/** The bounds of a search. */

/** What one search may take. */
export const TIMEOUT_MS = 60_000
/** Matches that are shown if the model asks for no other number, and at most. */
export const MATCHES_DEFAULT = 100
export const MATCHES_MAX = 500
