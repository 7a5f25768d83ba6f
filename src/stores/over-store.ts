import type { Store } from '../runtime/ports.ts'

/** The same store, but for the verbs that are given: what is not goes down as it is. */
export function overStore(store: Store, over: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, key) {
      const own: unknown = over[key as keyof Store] ?? target[key as keyof Store]
      // A store may keep its fields private: its verbs know it by themselves alone.
      return typeof own === 'function' ? (own.bind(target) as unknown) : own
    },
  })
}
