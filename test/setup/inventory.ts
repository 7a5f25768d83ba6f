/** What keeps this thread busy, counted by kind: the measure by which a test file has left something behind. */

/** Kinds that a test must close, as Node names them. Sockets and files are left out: they close a little later by themselves. */
const WATCHED = ['Timeout', 'Immediate', 'ProcessWrap', 'TCPServerWrap', 'PipeServerWrap', 'FSEventWrap', 'StatWatcher']

export type Inventory = ReadonlyMap<string, number>

/** Counts what is open now. An `unref` timer is invisible, since it keeps nothing alive. */
export function takeInventory(): Inventory {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    if (WATCHED.includes(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  for (const name of process.eventNames()) counts.set(`listener of ${String(name)}`, process.listenerCount(name))
  return counts
}

/** The kinds of which there is more than before. */
export function leftBehind(before: Inventory, now: Inventory): string[] {
  return [...now].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
}
