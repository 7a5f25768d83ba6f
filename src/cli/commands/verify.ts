/** `verify`: the stored bytes of every commit, and every rule of the contract that a log can break. Reads only. */
import type { SessionId } from '../../kernel/ids.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import { missingSession } from '../../runtime/session/session-handle.ts'
import type { Store } from '../../runtime/ports.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness } from '../open.ts'
import { newestFirst } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'

/** All sessions, or the named one. Exit 1 if anything is wrong. */
export function verify(cli: Cli, name: string | undefined, flags: PlaceFlags): Promise<number> {
  return withHarness(cli, flags, { mustExist: true }, async ({ store }) => {
    const all = newestFirst(await store.list())
    const rows = name === undefined ? all : all.filter(({ session }) => session === name)
    if (name !== undefined && rows.length === 0) throw missingSession(name)
    if (rows.length === 0) cli.out.progress(cli.texts.verify.none, 'plain')
    let exit: number = EXIT.ok
    for (const { session } of rows) {
      const found = await examine(store, session)
      report(cli, session, found)
      if (found.kind !== 'ok') exit = EXIT.failed
    }
    return exit
  })
}

type Found =
  | { readonly kind: 'ok'; readonly events: number }
  | { readonly kind: 'damaged'; readonly events: number; readonly seq: number; readonly problem: string }
  | {
      readonly kind: 'broken'
      readonly events: number
      readonly seq: number
      readonly rule: string
      readonly problem: string
    }

const CHUNK = 1_000

async function examine(store: Store, session: SessionId): Promise<Found> {
  const damage = await store.verify(session)
  const end = damage === null ? Infinity : damage.from - 1
  const state = emptyState()
  while (state.seq < end) {
    const { events } = await store.read(session, { after: state.seq, limit: Math.min(CHUNK, end - state.seq) })
    if (events.length === 0) break
    for (const event of events) {
      const broken = fold(state, event)
      if (broken !== null) return { kind: 'broken', events: state.seq, seq: event.seq, ...broken }
    }
  }
  if (damage === null) return { kind: 'ok', events: state.seq }
  return { kind: 'damaged', events: state.seq, seq: damage.from, problem: damage.reason }
}

function report({ out, texts: { verify: say } }: Cli, session: string, found: Found): void {
  const { kind, events, ...details } = found
  out.line({ type: 'verified', session, ok: kind === 'ok', events, ...details })
  switch (found.kind) {
    case 'ok':
      return out.result(say.ok(session, events))
    case 'damaged':
      return out.result(say.damaged(session, found.seq, found.problem))
    case 'broken':
      return out.result(say.broken(session, found.seq, found.rule, found.problem))
  }
}
