/**
 * The moments at which a run can be hit, by name: a sync point or a put of the store and its count (`after-append/3`), or a place in a
 * body, its tool and its count (`inside/refund/1`). Two joined by `+` hit two processes of one run, one after the other.
 */
import { SYNC_POINTS, type SyncPoint } from '../../runtime/sync-points.ts'
import { quickHash } from '../../util/hash.ts'

/** Points that are passed by whoever drives; every other kind of moment is in a body. */
export type Point = SyncPoint | 'before-put' | 'after-put'

/**
 * Places in a body: it has begun and done nothing · it is half-way, by the time that it took undisturbed · it has come back and nobody
 * recorded it. `abort` and `stop` do not kill: they abort the turn, or tell the process to park, while the body is at work.
 */
export type BodyPlace = 'begun' | 'inside' | 'ended' | 'abort' | 'stop'

const POINTS: ReadonlySet<string> = new Set<Point>([...SYNC_POINTS, 'before-put', 'after-put'])
const PLACES: { readonly [Name in BodyPlace]: true } = {
  begun: true,
  inside: true,
  ended: true,
  abort: true,
  stop: true,
}

/** Whether a text names moments that could be. */
export function isMoment(text: string): boolean {
  const parts = text.split('+')
  return parts.length <= 2 && parts.every((part) => isSingle(part))
}

function isSingle(text: string): boolean {
  const [name = '', ...rest] = text.split('/')
  const count = rest.at(-1) ?? ''
  if (!/^[1-9]\d*$/.test(count)) return false
  return rest.length === 1 ? POINTS.has(name) : rest.length === 2 && Object.hasOwn(PLACES, name)
}

/** A moment without its count: what moments are sampled and counted by. */
export function kindOf(moment: string): string {
  return moment.slice(0, moment.lastIndexOf('/'))
}

/** The moments of one process each. */
export function hitsOf(moment: string): readonly string[] {
  return moment.split('+')
}

/** The place, if the moment is in a body. */
export function placeOf(moment: string): BodyPlace | null {
  const [name = ''] = moment.split('/')
  return Object.hasOwn(PLACES, name) ? (name as BodyPlace) : null
}

/** Whether what happens there kills the process. */
export function isKill(moment: string): boolean {
  const place = placeOf(moment)
  return place !== 'abort' && place !== 'stop'
}

/**
 * At most `count` of the moments, in their order: every kind has one before any has two. Which one of a kind is by the seed, so the same
 * seed takes the same.
 */
export function sample(moments: readonly string[], count: number, seed: number): readonly string[] {
  if (moments.length <= count) return moments
  const kinds = new Map<string, string[]>()
  for (const moment of shuffled(moments, seed)) {
    const kind = kinds.get(kindOf(moment)) ?? []
    kinds.set(kindOf(moment), [...kind, moment])
  }
  const taken = new Set<string>()
  for (let nth = 0; taken.size < count; nth++) {
    for (const kind of kinds.values()) if (nth < kind.length && taken.size < count) taken.add(kind[nth]!)
  }
  return moments.filter((moment) => taken.has(moment))
}

/** One of them, by the seed; null: there is none. */
export function pick(moments: readonly string[], seed: number): string | null {
  return shuffled(moments, seed)[0] ?? null
}

function shuffled(moments: readonly string[], seed: number): readonly string[] {
  const keyed = moments.map((moment) => ({ moment, key: quickHash(`${seed} ${moment}`) }))
  return keyed.toSorted((one, other) => (one.key < other.key ? -1 : 1)).map(({ moment }) => moment)
}
