/** How ids and values become SQL text that every driver gives back unchanged, and how lanes become bits. */
import type { Lane } from '../../kernel/input.ts'

/**
 * Ids and names as they are stored: escaped as inside a JSON string, so that a NUL, at which libsql ends a text, and a lone
 * surrogate, which UTF-8 cannot carry, stay what they are. An ordinary id is stored as it is (case 100).
 */
export const toSql = (id: string): string => JSON.stringify(id).slice(1, -1)

/** The id again; of a damaged one what is there. */
export function fromSql(stored: string): string {
  return parseOr(`"${stored}"`, stored)
}

/** JSON as it was stored, or `otherwise` where the file was damaged. */
export function parseOr<T>(stored: string, otherwise: T): T {
  try {
    return JSON.parse(stored) as T
  } catch {
    // Swallows the position of the damage: whoever asks knows which record it is.
    return otherwise
  }
}

/** Selects text columns as bytes (see driver.ts). */
export const text = (...columns: readonly string[]): string =>
  columns.map((column) => `cast(${column} as blob) as ${column}`).join(', ')

const LANES: readonly Lane[] = ['control', 'steer', 'note', 'followup']

export const laneBit = (lane: Lane): number => 1 << LANES.indexOf(lane)

export const laneBits = (lanes: readonly Lane[]): number => lanes.reduce((bits, lane) => bits | laneBit(lane), 0)

/** Lanes for the four places of `lane in (?, ?, ?, ?)`; a place that is not needed matches nothing. */
export const fourLanes = (lanes: readonly Lane[]): number[] =>
  LANES.map((lane) => (lanes.includes(lane) ? laneBit(lane) : 0))

/** A row for each lane. */
export const LANE_ROWS = LANES.map((lane) => `select ${laneBit(lane)} as lane`).join(' union all ')

export const lanesOf = (bits: number): Lane[] => LANES.filter((lane) => (bits & laneBit(lane)) !== 0)
