import type { Clock } from './ports.ts'

/** Resolves once `ms` have passed on the clock. Nothing ends it earlier: whoever must hear an abort meanwhile arms a timer of its own. */
export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
