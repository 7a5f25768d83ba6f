import { nodeClock } from '../../src/host/node.ts'
import { pause } from '../../src/runtime/pause.ts'

export interface EventuallyOptions {
  /** Default 15 s. */
  readonly limitMs?: number
  /** Named if it does not come. */
  readonly what?: string
}

/** Waits in real time, in a bounded poll, for what other processes, files and servers do. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  { limitMs = 15_000, what = 'what was waited for' }: EventuallyOptions = {},
): Promise<void> {
  const until = nodeClock.now() + limitMs
  while (!(await holds())) {
    if (nodeClock.now() > until) throw new Error(`${what} did not come within ${limitMs} ms`)
    await pause(nodeClock, 10)
  }
}
