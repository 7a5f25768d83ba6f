/**
 * The call plan (C6): which calls may start now. Calls that conflict keep model order, all others overlap.
 * Owns the order; not the running, which is the call pool's.
 */
import type { CallRecord, EffectClass, ResourceUse } from './events.ts'
import type { Call } from './state.ts'

/** The resources of a tool that declares none: reads share, anything else is alone. */
export function undeclaredResources(effect: EffectClass): readonly ResourceUse[] {
  return effect === 'read' ? SHARED : EXCLUSIVE
}

const SHARED: readonly ResourceUse[] = [{ name: '*', mode: 'read' }]
const EXCLUSIVE: readonly ResourceUse[] = [{ name: '*', mode: 'write' }]

/** Two sets of resources conflict if one writes what the other touches; `*` touches everything. */
export function conflict(one: CallRecord['resources'], other: CallRecord['resources']): boolean {
  for (const a of one) {
    for (const b of other) {
      if (a.mode === 'read' && b.mode === 'read') continue
      if (a.name === b.name || a.name === '*' || b.name === '*') return true
    }
  }
  return false
}

/** The first call before `call` in model order that is still open and in its way; undefined if it may start. */
export function barrier(calls: readonly Call[], call: Call): Call | undefined {
  for (const earlier of calls) {
    if (earlier === call) return undefined
    if (
      earlier.status !== 'ended' &&
      earlier.record.id !== call.parent &&
      conflict(earlier.record.resources, call.record.resources)
    )
      return earlier
  }
  return undefined
}

/** The startable ones among `candidates`, at most `free`; nothing starts beside a straggler that holds what it needs. */
export function startable(
  calls: readonly Call[],
  candidates: readonly Call[],
  held: readonly CallRecord['resources'][],
  free: number,
): Call[] {
  const start: Call[] = []
  for (const call of candidates) {
    if (start.length >= free) break
    if (barrier(calls, call) !== undefined) continue
    if (held.some((resources) => conflict(resources, call.record.resources))) continue
    start.push(call)
  }
  return start
}
