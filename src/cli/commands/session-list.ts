/** `session ls`: which sessions there are, and which of them wait for somebody. */
import { countAsks } from '../asks.ts'
import { contentLine } from '../describe.ts'
import { usage, type Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness } from '../open.ts'
import { newestFirst } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import type { SessionRow, Store } from '../../runtime/ports.ts'

export interface ListFlags extends PlaceFlags {
  readonly limit?: string
}

export function listSessions(cli: Cli, flags: ListFlags): Promise<number> {
  const limit = limitOf(cli, flags.limit) ?? Infinity
  return withHarness(cli, flags, { mustExist: true }, async ({ store }) => {
    const { out, texts } = cli
    const rows = newestFirst(await store.list()).slice(0, limit)
    if (rows.length === 0) out.progress(texts.sessions.none, 'plain')
    for (const row of rows) {
      const { session, createdAt, updatedAt, tail, pending, lease: driver, resting } = row
      const asks = await countAsks(store, session, tail)
      out.line({ type: 'row', session, createdAt, updatedAt, tail, pending, asks, driver, resting })
      if (!out.json) out.result(await rowLine(cli, store, { ...row, asks: asks ?? 0 }))
    }
    return EXIT.ok
  })
}

interface Row extends SessionRow {
  readonly asks: number
}

async function rowLine({ texts: { sessions: say } }: Cli, store: Store, row: Row): Promise<string> {
  const driver = row.lease !== null ? say.running(row.lease.owner) : row.resting ? '' : say.left
  const waits = row.asks > 0 ? say.waits(row.asks) : ''
  const state = [driver, waits].filter((part) => part !== '').join(', ') || say.resting
  const at = new Date(row.updatedAt).toISOString().slice(0, 16).replace('T', ' ')
  const first = await openingLine(store, row)
  return [row.session, at, state, say.counts(row.tail, row.pending), first].filter((part) => part !== '').join('  ')
}

/** What the session was first asked; empty if that is not among its first events. */
async function openingLine(store: Store, { session }: SessionRow): Promise<string> {
  const { events } = await store.read(session, { limit: 5 })
  for (const event of events) if (event.type === 'input.entered') return contentLine(event.content, 50)
  return ''
}

/** Null: not given. Throws `usage-invalid`. */
export function limitOf({ texts }: Cli, text: string | undefined): number | null {
  if (text === undefined) return null
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1) throw usage(texts.limit(text))
  return limit
}
