/** Why a text was not found: what the file has instead. For a model that remembers a file not quite rightly. */
import { wellFormed } from '../../util/wellformed.ts'

const LINES_MAX = 20_000
const LINE_CHARS_MAX = 400
const SHOWN_LINES_MAX = 12
/** Below this two lines have little to do with each other. */
const LIKENESS_MIN = 0.5

/** The lines of `text` that are most like `wanted`, with their numbers and how they differ. */
export function nearest(text: string, wanted: string): string {
  const lines = text.split('\n', LINES_MAX)
  const want = wanted
    .split('\n')
    .filter((line, index, all) => line.trim() !== '' || (index > 0 && index < all.length - 1))
  const spaced = want.length > 0 ? indexOfLoose(lines, want) : -1
  if (spaced !== -1)
    return `Only white space differs. Lines ${spaced + 1} to ${spaced + want.length} are:\n${show(lines, spaced, want.length)}`
  const { index, likeness } = mostAlike(lines, want[0] ?? '')
  if (likeness < LIKENESS_MIN) return `Nothing in its ${lines.length} lines is like it. Read the file first.`
  return `The nearest is at line ${index + 1}:\n${show(lines, index, Math.max(want.length, 3))}`
}

/** Where the wanted lines stand, white space aside. */
function indexOfLoose(lines: readonly string[], want: readonly string[]): number {
  const loose = (line: string): string => line.replace(/\s+/g, '')
  const wanted = want.map(loose)
  const have = lines.map((line) => loose(line.slice(0, LINE_CHARS_MAX * 10)))
  const last = have.length - wanted.length
  for (let at = 0; at <= last; at++) {
    if (wanted.every((line, offset) => line === have[at + offset])) return at
  }
  return -1
}

function mostAlike(lines: readonly string[], wanted: string): { readonly index: number; readonly likeness: number } {
  let best = { index: 0, likeness: 0 }
  const want = pairsOf(wanted)
  for (let index = 0; index < lines.length; index++) {
    const likeness = likenessOf(want, pairsOf(lines[index]!))
    if (likeness > best.likeness) best = { index, likeness }
  }
  return best
}

/** The pairs of neighbouring characters, with how often each occurs. */
function pairsOf(line: string): ReadonlyMap<string, number> {
  const text = line.trim().slice(0, LINE_CHARS_MAX)
  const pairs = new Map<string, number>()
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  return pairs
}

/** Sørensen and Dice: twice what is shared, by the sum of both; 0 to 1. */
function likenessOf(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let shared = 0
  for (const [pair, times] of one) shared += Math.min(times, other.get(pair) ?? 0)
  const all = sum(one) + sum(other)
  return all === 0 ? 0 : (2 * shared) / all
}

function sum(pairs: ReadonlyMap<string, number>): number {
  let total = 0
  for (const times of pairs.values()) total += times
  return total
}

function show(lines: readonly string[], from: number, count: number): string {
  const shown = lines.slice(from, from + Math.min(count, SHOWN_LINES_MAX))
  return wellFormed(shown.map((line) => line.slice(0, LINE_CHARS_MAX)).join('\n'))
}
