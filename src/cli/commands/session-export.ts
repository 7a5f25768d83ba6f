/** `session export`: a log as JSON lines, a header first. Reads only; what cannot be read any more is said. */
import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { FORMAT } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { LogHeader } from '../../protocol/jsonl.ts'
import type { Damage, Store } from '../../runtime/ports.ts'
import { usage, type Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness } from '../open.ts'
import { namedSession, type SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'

export interface ExportFlags extends PlaceFlags, SessionFlags {
  readonly out?: string
}

/** Exit 1 if the log is damaged: what stands before that is written. */
export function exportSession(cli: Cli, flags: ExportFlags): Promise<number> {
  return withHarness(cli, flags, { mustExist: true }, async ({ store, harness }) => {
    const { out, texts } = cli
    const { id, queue } = await harness.attach(await namedSession(cli, store, flags))
    const { tail, damage } = await readableTail(store, id)
    const sink = sinkOf(cli, flags.out)
    try {
      await writeLog(cli, { store, session: id, tail }, sink)
    } finally {
      sink.close()
    }
    if (damage !== null) out.complain(texts.sessions.exportDamaged(damage.from, damage.reason))
    if (flags.out !== undefined) out.progress(texts.sessions.exported(tail, flags.out), 'plain')
    const pending = (await queue.list()).length
    if (pending > 0) out.notice('pending-left-out', texts.sessions.pendingNotExported(pending))
    return damage === null ? EXIT.ok : EXIT.failed
  })
}

/** How far the log can be read: only a reading of everything tells. */
async function readableTail(
  store: Store,
  session: SessionId,
): Promise<{ readonly tail: number; readonly damage: Damage | null }> {
  const damage = await store.verify(session)
  if (damage !== null) return { tail: damage.from - 1, damage }
  return { tail: (await store.read(session, { limit: 0 })).tail, damage }
}

interface Log {
  readonly store: Store
  readonly session: SessionId
  readonly tail: number
}

/** Events read at once. */
const CHUNK = 1_000

async function writeLog({ io }: Cli, { store, session, tail }: Log, sink: Sink): Promise<void> {
  const header: LogHeader = { type: 'turnstep.log', format: FORMAT, session, events: tail, exportedAt: io.clock.now() }
  await sink.write(`${JSON.stringify(header)}\n`)
  for (let seq = 0; seq < tail;) {
    const { events } = await store.read(session, { after: seq, limit: Math.min(CHUNK, tail - seq) })
    const last = events.at(-1)
    if (last === undefined) return
    await sink.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    seq = last.seq
  }
}

interface Sink {
  write(text: string): Promise<void>
  close(): void
}

function sinkOf({ io, texts }: Cli, out: string | undefined): Sink {
  if (out === undefined) {
    return {
      async write(text) {
        if (!io.stdout.write(text)) await once(io.stdout, 'drain')
      },
      close() {},
    }
  }
  const path = resolve(io.cwd, out)
  const guard = <T>(run: () => T): T => {
    try {
      return run()
    } catch (error) {
      throw usage(texts.importing.unwritable(path, (error as Error).message))
    }
  }
  const file = guard(() => openSync(path, 'w'))
  return {
    async write(text) {
      guard(() => writeFileSync(file, text))
    },
    close() {
      guard(() => fsyncSync(file))
      closeSync(file)
    },
  }
}
