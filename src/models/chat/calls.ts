/**
 * Puts calls together from deltas (case 074). Servers leave out the index, repeat it, or give a wrong one; they repeat names and ids.
 * 1. Text is added to a call only where nothing speaks against it; what could be two calls is never merged into one.
 * 2. What cannot be told apart is a problem of the whole reply, not a guess.
 */
import type { Json } from '../../util/json.ts'
import { isPlainObject } from '../../util/json.ts'

/** A call in the making. */
export interface Draft {
  readonly index: number
  id: string
  name: string
  args: string
  /** Keys of the provider that have to go back, such as a signature. */
  readonly extra: Record<string, Json>
  /** Indices under which the server sends this call. */
  readonly places: Set<number>
  /** Where it stood among several entries of one delta. */
  readonly position: number | null
}

/** What one entry of a delta did. `started`: it is the first of its call. */
type Placed =
  | { readonly kind: 'placed'; readonly draft: Draft; readonly started: boolean; readonly args: string }
  | { readonly kind: 'ambiguous'; readonly problem: string }

interface Entry {
  /** The index that the server gave. */
  readonly place: number | null
  /** Where it stands in its delta; null: alone, which says nothing. */
  readonly position: number | null
  readonly id: string
  readonly name: string
  readonly args: string
  readonly extra: Record<string, Json>
}

export class CallAssembly {
  readonly drafts: Draft[] = []

  /** Takes one entry of `tool_calls`. `alone`: it is the only one in its delta, so that its position says nothing. */
  add(raw: unknown, position: number, alone: boolean): Placed {
    if (!isPlainObject(raw)) return { kind: 'ambiguous', problem: 'a tool call that is no object' }
    const entry = readEntry(raw, alone ? null : position)
    const target = this.#find(entry)
    if (typeof target === 'string') return { kind: 'ambiguous', problem: target }
    return target === null ? this.#start(entry) : this.#extend(target, entry)
  }

  #start(entry: Entry): Placed {
    const { id, name, args, extra, position } = entry
    const places = new Set(entry.place === null ? [] : [entry.place])
    const draft: Draft = { index: this.drafts.length, id, name, args, extra, places, position }
    this.drafts.push(draft)
    return { kind: 'placed', draft, started: true, args }
  }

  #extend(draft: Draft, entry: Entry): Placed {
    if (draft.id === '') draft.id = entry.id
    if (draft.name === '') draft.name = entry.name
    draft.args += entry.args
    Object.assign(draft.extra, entry.extra)
    if (entry.place !== null) draft.places.add(entry.place)
    return { kind: 'placed', draft, started: false, args: entry.args }
  }

  /** The call that the entry goes on with, null for a new one, or why that cannot be told. */
  #find(entry: Entry): Draft | null | string {
    const last = this.drafts.at(-1)
    if (last === undefined) return entry.id === '' && entry.name === '' ? 'arguments of a call that never began' : null
    const here = this.#at(entry)
    const named = entry.id === '' ? undefined : this.drafts.findLast((draft) => draft.id === entry.id)
    if (here !== undefined) return this.#atKnownPlace(here, named, entry)
    if (named !== undefined) return goesOnById(named, entry)
    const bare = entry.place === null && entry.position === null
    if (entry.id !== '') return bare && lacksId(last, entry) ? last : null
    if (entry.name !== '') return bare ? goesOnByName(last, entry) : null
    return isWhole(last.args) || (entry.place === null && !bare)
      ? 'arguments that could belong to more than one call'
      : last
  }

  /** The newest call at the entry's index; without index and id, at its position. */
  #at({ place, position, id }: Entry): Draft | undefined {
    if (place !== null) return this.drafts.findLast((draft) => draft.places.has(place))
    if (id !== '' || position === null) return undefined
    return this.drafts.findLast((draft) => draft.places.size === 0 && draft.position === position)
  }

  #atKnownPlace(here: Draft, named: Draft | undefined, entry: Entry): Draft | null | string {
    if (entry.id !== '' && here.id !== '' && entry.id !== here.id)
      return named === undefined ? null : goesOnById(named, entry)
    if (entry.name !== '' && here.name !== '' && entry.name !== here.name) {
      return isWhole(here.args) ? null : `a call that is "${here.name}" first and then "${entry.name}"`
    }
    if (!startsOver(here, entry)) return here
    return entry.name === '' ? 'arguments that start anew without a name' : null
  }
}

/** An id that came before: more of that call, unless it is a second call under a repeated id (case 102). */
function goesOnById(named: Draft, entry: Entry): Draft | null | string {
  const moved = entry.place !== null && named.places.size > 0 && !named.places.has(entry.place)
  if (entry.name !== '' && (moved || entry.name !== named.name)) return null
  if (!startsOver(named, entry)) return named
  return entry.name === '' ? 'arguments that start anew under one id' : null
}

/** No id and no index, but a name: more of the last call if the name is repeated and there is more to come. */
function goesOnByName(last: Draft, entry: Entry): Draft | null | string {
  if (entry.name !== last.name || isWhole(last.args)) return null
  return last.args.trim() === '' && entry.args.trim() === ''
    ? `"${entry.name}" twice without id, index and arguments`
    : last
}

/** The id of a call may come after its name. */
function lacksId(last: Draft, entry: Entry): boolean {
  return (
    last.id === '' && last.places.size === 0 && (entry.name === '' || entry.name === last.name) && !isWhole(last.args)
  )
}

/** More text behind a whole object can only be another object. */
function startsOver(draft: Draft, entry: Entry): boolean {
  return entry.args.trimStart().startsWith('{') && isWhole(draft.args)
}

function isWhole(args: string): boolean {
  const text = args.trim()
  if (!text.startsWith('{') || !text.endsWith('}')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function readEntry(raw: Record<string, unknown>, position: number | null): Entry {
  const named = isPlainObject(raw['function']) ? raw['function'] : {}
  const place = typeof raw['index'] === 'number' ? raw['index'] : null
  const extra: Record<string, Json> = {}
  for (const key of KEPT) if (raw[key] !== undefined && raw[key] !== null) extra[key] = raw[key] as Json
  return { place, position, id: text(raw['id']), name: text(named['name']), args: argsText(named['arguments']), extra }
}

/** Opaque keys of a call: Gemini behind a chat endpoint keeps its signatures here. */
const KEPT = ['extra_content']

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Ollama-likes send the arguments as an object. */
function argsText(value: unknown): string {
  return isPlainObject(value) ? JSON.stringify(value) : text(value)
}
