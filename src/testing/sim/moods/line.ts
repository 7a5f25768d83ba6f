/** What befalls a process on its way: its verbs to the store, and the instants of its runner that have a name. */
import type { SyncPoint } from '../../../runtime/sync-points.ts'
import type { Json } from '../../../util/json.ts'
import type { Chance } from '../chance.ts'
import type { Fate } from '../fate.ts'
import type { Verb } from '../store-layer.ts'
import type { Trouble } from '../troubled-store.ts'

/** What befalls a verb. `mayDie`: the caller is a process that may be killed. */
export function troubleOf(
  fate: Fate,
  who: string,
  verb: Verb,
  { rate, mayDie }: { readonly rate: number; readonly mayDie: boolean },
): Trouble {
  return fate.decide<Json>(`store ${who} ${verb}`, null, (chance) => {
    if (chance.is(0.5)) return null
    if (!chance.is(0.02 * rate)) return [chance.below(4), chance.below(4)]
    return drawTrouble(chance, verb, mayDie) as Json
  }) as Trouble
}

function drawTrouble(chance: Chance, verb: Verb, mayDie: boolean): Trouble {
  const slow = (): Trouble => [chance.below(3_000), chance.below(3_000)]
  const kinds: (readonly [number, () => Trouble])[] = [
    [5, slow],
    [2, () => 'unreachable'],
    [2, () => 'lost-answer'],
  ]
  if (verb === 'append') kinds.push([2, () => 'conflict'], [2, () => 'fenced'])
  if (verb === 'renew') kinds.push([4, () => 'lease-lost'])
  if (mayDie) kinds.push([2, () => 'dies-before'], [2, () => 'dies-after'])
  if (mayDie && verb === 'append') kinds.push([2, () => 'torn'])
  return chance.weighted(kinds)()
}

/** What befalls a runner at a sync point: it dies, or stands still, alone or with its whole machine, for so long. */
export type PointMood = null | 'dies' | readonly ['slow' | 'freezes', number]

export function pointMoodOf(fate: Fate, who: string, point: SyncPoint, rate: number): PointMood {
  return fate.decide<Json>(`sync ${who} ${point}`, null, (chance) => {
    if (!chance.is(0.008 * rate)) return null
    return chance.weighted<() => Json>([
      [3, () => 'dies'],
      [3, () => ['slow', chance.below(2_000)]],
      [2, () => ['freezes', 1_000 + chance.below(30_000)]],
    ])()
  }) as PointMood
}
