/** `session rm`: deletes a session for good, after a yes. */
import { createInterface } from 'node:readline/promises'
import type { Cli } from '../cli.ts'
import { usage } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness } from '../open.ts'
import type { PlaceFlags } from '../settings.ts'
import { missingSession } from '../../runtime/session/session-handle.ts'

export interface RemoveFlags extends PlaceFlags {
  readonly yes?: boolean
}

export function remove(cli: Cli, name: string, flags: RemoveFlags): Promise<number> {
  return withHarness(cli, flags, { mustExist: true }, async ({ harness }) => {
    const { out, texts, io } = cli
    out.line({ type: 'session', session: name })
    const row = (await harness.list()).find(({ session }) => session === name)
    if (row === undefined) throw missingSession(name)
    if (flags.yes !== true) {
      if (io.stdin.isTTY !== true || out.json) throw usage(texts.sessions.needsYes(name))
      if (!(await confirmed(cli, texts.sessions.askRemove(name, row.tail)))) {
        out.result(texts.sessions.kept)
        return EXIT.ok
      }
    }
    await harness.remove(name)
    out.result(texts.sessions.removed(name))
    return EXIT.ok
  })
}

async function confirmed({ io }: Cli, question: string): Promise<boolean> {
  const asking = createInterface({ input: io.stdin, output: io.stderr })
  try {
    return /^\s*(y|yes|是)\s*$/i.test(await asking.question(question))
  } finally {
    asking.close()
  }
}
