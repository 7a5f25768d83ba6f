/** What keeps a process alive, counted by Node's own names. */
import { pause } from '../../runtime/pause.ts'
import type { Clock } from '../../runtime/ports.ts'

/** Sockets and files are left out: they close a little later by themselves. */
const WATCHED: ReadonlySet<string> = new Set([
  'Timeout',
  'Immediate',
  'ProcessWrap',
  'TCPServerWrap',
  'PipeServerWrap',
  'UDPWrap',
  'FSEventWrap',
  'StatWatcher',
])

export type Handles = ReadonlyMap<string, number>

/** Counts them. A timer that is `unref` is invisible, since it keeps nothing alive. Waits a millisecond, so that its own timer counts alike each time. */
export async function countHandles(clock: Clock): Promise<Handles> {
  await pause(clock, 1)
  const counts = new Map<string, number>()
  for (const name of process.getActiveResourcesInfo())
    if (WATCHED.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Of which kinds there are more than before, and how many more. */
export function moreThan(
  before: Handles,
  now: Handles,
): readonly { readonly handle: string; readonly count: number }[] {
  return [...now].flatMap(([handle, count]) => {
    const more = count - (before.get(handle) ?? 0)
    return more > 0 ? [{ handle, count: more }] : []
  })
}
