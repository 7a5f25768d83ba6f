/** Values that are nearly right: one place of a value, chosen by chance, is left out, doubled, or made another kind of thing. */

const OTHERS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  2 ** 53,
  9e15,
  1e300,
  '',
  'x',
  'ok',
  'x.p.q',
  'a.b',
  'constructor',
  [],
  [null],
  {},
  { kind: 'ok' },
  { type: 'text', text: '' },
]

/** `choices`: numbers that say where and how. The value itself is left alone. */
export function mutated(value: unknown, choices: Iterator<number>): unknown {
  const choose = (below: number): number => (choices.next().value as number) % below
  const copy = structuredClone(value)
  const places = placesIn(copy)
  const place = places[choose(places.length)]
  if (place === undefined) return copy
  const { holder, key } = place
  const how = choose(4)
  if (how === 0 && !Array.isArray(holder)) delete holder[key]
  else if (how === 1 && !Array.isArray(holder)) holder[`${key}_`] = OTHERS[choose(OTHERS.length)]
  else if (how === 2 && Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]))
  else (holder as Record<string, unknown>)[key] = structuredClone(OTHERS[choose(OTHERS.length)])
  return copy
}

interface Place {
  readonly holder: Record<string, unknown> | unknown[]
  readonly key: string
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])])
}
