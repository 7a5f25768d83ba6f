/** Puts a layer over a store: every verb that answers passes through one function. */
import type { Store } from '../../runtime/ports.ts'
import type { Maybe } from '../../util/maybe.ts'

const VERBS = [
  'create',
  'append',
  'read',
  'verify',
  'put',
  'pending',
  'pendingSince',
  'receipt',
  'edit',
  'withdraw',
  'move',
  'acquire',
  'renew',
  'release',
  'due',
  'writePartial',
  'readPartial',
  'writeSnapshot',
  'readSnapshot',
  'list',
  'remove',
] as const

/** A verb of the store that answers later. */
export type Verb = (typeof VERBS)[number]

/** A verb of the port that no layer would see does not compile. A layer wants snapshots whatever is below, so that they are tried. */
type Covered =
  Exclude<keyof Store, Verb | 'name' | 'now' | 'wantsSnapshots' | 'watch' | 'close'> extends never ? Verb : never

/** Verbs whose answer may be there at once. */
const AT_ONCE: ReadonlySet<Verb> = new Set<Verb>(['append', 'read'])

/**
 * Contract: `run` does the verb below and may be called once, later, or not at all; what `through` answers is what the caller gets, and
 * what it throws is why the caller's promise rejects.
 */
export type Through = (verb: Verb, args: readonly unknown[], run: () => Maybe<unknown>) => Maybe<unknown>

/** A store like `below`, whose verbs pass through `through`. `now`, `watch` and `close` go down as they are. */
export function layerOver(below: Store, through: Through): Store {
  const layer: { [Key in keyof Store]?: unknown } = {
    name: below.name,
    now: () => below.now(),
    watch: (...args: Parameters<Store['watch']>) => below.watch(...args),
    close: () => below.close(),
  }
  for (const verb of VERBS satisfies readonly Covered[]) {
    const method = (below[verb] as (...args: unknown[]) => Maybe<unknown>).bind(below)
    const mayBeAtOnce = AT_ONCE.has(verb)
    layer[verb] = (...args: unknown[]): Maybe<unknown> => {
      try {
        const answer = through(verb, args, () => method(...args))
        return mayBeAtOnce || answer instanceof Promise ? answer : Promise.resolve(answer)
      } catch (error) {
        return Promise.reject(error)
      }
    }
  }
  return layer as Store
}
