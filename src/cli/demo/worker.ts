/**
 * The process that drives the session of the demo: `worker <folder> <locale> [hold]`. It is the library and nothing else: it opens the
 * session, goes on with whatever is owed, and ends when nothing is left to do. With `hold` it stops once, between the end of the
 * first `read_file` and its record in the log, until a line comes in; that is where the narrator steers. It dies with its parent.
 */
import { fileURLToPath } from 'node:url'
import { createHarness } from '../../presets/harness.ts'
import type { SyncPoints } from '../../runtime/sync-points.ts'
import { bookkeeper } from './bookkeeper.ts'
import { deskAt, SESSION } from './desk.ts'

/** The file to run, built or not. */
export const WORKER = fileURLToPath(import.meta.url)

/** What came before it: `list_files`, then the first `read_file`. */
const HELD_BODY = 2

if (process.argv[1] === WORKER) await work(process.argv.slice(2)).catch(complain)

async function work([root = '', locale, hold]: readonly string[]): Promise<void> {
  const desk = deskAt(root, locale === 'zh' ? 'zh' : 'en')
  // The pipe from the parent ends with it, however it ends.
  process.stdin.on('end', () => process.exit(1)).resume()
  const harness = await createHarness({
    store: desk.store,
    locale: desk.locale,
    ...(hold === 'hold' ? { sync: holdOnce() } : {}),
  })
  const session = await harness.open(bookkeeper(desk), { session: SESSION })
  const status = await session.settled()
  await harness.close()
  process.exitCode = status.kind === 'idle' ? 0 : 1
  process.stdin.destroy()
}

/** For the narrator, who reads this pipe. */
function complain(error: Error): void {
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(1)
}

function holdOnce(): SyncPoints {
  let bodies = 0
  // Heard from the start: whoever steers may be done before the body is, and a line that nobody listens for is lost.
  const told = new Promise<void>((resolve) => process.stdin.once('data', () => resolve()))
  return {
    async reach(point) {
      if (point === 'after-body' && ++bodies === HELD_BODY) await told
    },
  }
}
