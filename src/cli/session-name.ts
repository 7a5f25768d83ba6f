/** Which session is meant. */
import { TurnstepError } from '../kernel/errors.ts'
import type { Clock, Ids, SessionRow, Store } from '../runtime/ports.ts'
import { usage, type Cli } from './cli.ts'

export interface SessionFlags {
  readonly session?: string
  readonly continue?: boolean
}

/** The session that the flags name; without any, the one worked on last. Throws `session-missing` if there is none. */
export async function namedSession(cli: Cli, store: Store, flags: SessionFlags): Promise<string> {
  throwIfTwo(cli, flags)
  if (flags.session !== undefined) return flags.session
  const latest = newestFirst(await store.list())[0]
  if (latest === undefined) throw new TurnstepError('session-missing', cli.texts.noSessionYet)
  return latest.session
}

/** The session that the flags name; without any, a fresh one. */
export async function namedOrNewSession(cli: Cli, store: Store, flags: SessionFlags): Promise<string> {
  if (flags.session !== undefined || flags.continue === true) return namedSession(cli, store, flags)
  const taken = new Set<string>((await store.list()).map((row) => row.session))
  for (;;) {
    const name = freshName(cli.io)
    if (!taken.has(name)) return name
  }
}

export function newestFirst(rows: readonly SessionRow[]): SessionRow[] {
  return rows.toSorted((one, other) => other.updatedAt - one.updatedAt)
}

function throwIfTwo({ texts }: Cli, flags: SessionFlags): void {
  if (flags.session !== undefined && flags.continue === true) throw usage(texts.twoSessions)
}

/** The day, and six digits by chance: short enough to be typed. */
function freshName({ clock, ids }: { readonly clock: Clock; readonly ids: Ids }): string {
  const day = new Date(clock.now())
  const two = (n: number): string => String(n).padStart(2, '0')
  return `${day.getFullYear()}${two(day.getMonth() + 1)}${two(day.getDate())}-${ids.next().slice(-6)}`
}
