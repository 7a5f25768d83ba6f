/** Routes, compared. */
import type { Route } from '../kernel/message.ts'

/** Whether both reach the same model in the same way: only then does opaque state go back (X7). */
export function sameRoute(one: Route, other: Route): boolean {
  return (
    one === other ||
    (one.model === other.model &&
      one.provider === other.provider &&
      one.adapter === other.adapter &&
      one.wire === other.wire &&
      one.scope === other.scope)
  )
}
