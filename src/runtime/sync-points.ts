/** Named instants of a run at which a test, or the demo, can stop it or kill it. Nobody else arms one. */
export const SYNC_POINTS = [
  'before-append',
  'after-append',
  'before-model',
  'model-output',
  'before-body',
  'after-body',
  'before-hook',
  'after-claim',
  'before-release',
  'after-release',
] as const

/** One of them. */
export type SyncPoint = (typeof SYNC_POINTS)[number]

/**
 * Where a test may stop a runner, or let it die. Contract: `reach` is awaited at each point, and the runner goes on when it
 * resolves.
 */
export interface SyncPoints {
  /** Contract: nothing happens unless a test armed it. */
  reach(point: SyncPoint): void | Promise<void>
}

/** Sync points at which nothing happens. */
export const noSyncPoints: SyncPoints = { reach() {} }
