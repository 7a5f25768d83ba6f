/** What a run left: its journal, its log as another process reads it, its inbox, its lease, its files. Reads only. */
import { nodeClock, nodeIds } from '../../host/node.ts'
import type { Event } from '../../kernel/events.ts'
import { inputId, sessionId } from '../../kernel/ids.ts'
import type { ReceiptState } from '../../kernel/input.ts'
import type { TortureCall } from '../../protocol/torture.ts'
import type { Damage, SessionRow, Store } from '../../runtime/ports.ts'
import type { FoundProcess } from '../../runtime/processes.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { filesIn } from './files.ts'
import { SESSION, type RunPaths } from './job.ts'
import { entriesOf, readJournal, type Entry } from './journal.ts'
import type { ProcessEnd, RunEnd } from './run.ts'

export interface Evidence {
  readonly moment: string | null
  readonly entries: readonly Entry[]
  readonly ends: readonly ProcessEnd[]
  readonly survivors: readonly FoundProcess[]
  readonly events: readonly Event[]
  readonly damage: Damage | null
  /** Of the inputs that were accepted. */
  readonly receipts: ReadonlyMap<string, ReceiptState | null>
  readonly pending: readonly { readonly id: string; readonly lane: string }[]
  readonly lease: SessionRow['lease']
  readonly calls: readonly TortureCall[]
  readonly files: Files
  /** A check was asked, by the process after the last one in `ends`. */
  readonly isChecked: boolean
}

/** Paths below the folder named, sorted. */
export interface Files {
  readonly store: readonly string[]
  readonly work: readonly string[]
  readonly temp: readonly string[]
}

export async function gather(moment: string | null, { paths, ends, survivors }: RunEnd): Promise<Evidence> {
  const entries = readJournal(paths.journal)
  // Before the store is opened, which makes files of its own.
  const files = { store: filesIn(paths.store), work: filesIn(paths.work), temp: filesIn(paths.temp) }
  return { moment, entries, ends, survivors, files, isChecked: false, ...(await readStore(paths, entries)) }
}

type FromStore = Pick<Evidence, 'events' | 'damage' | 'receipts' | 'pending' | 'lease' | 'calls'>

async function readStore(paths: RunPaths, entries: readonly Entry[]): Promise<FromStore> {
  const store = await sqliteStore({ path: paths.database, clock: nodeClock, ids: nodeIds })
  try {
    const id = sessionId(SESSION)
    const { events } = await store.read(id)
    const rows = await store.list()
    return {
      events,
      damage: await store.verify(id),
      receipts: await readReceipts(store, entries),
      pending: (await store.pending(id, { all: true })).map(({ id: input, lane }) => ({ id: input, lane })),
      lease: rows.find(({ session }) => session === id)?.lease ?? null,
      calls: callsOf(events, entries),
    }
  } finally {
    await store.close()
  }
}

async function readReceipts(store: Store, entries: readonly Entry[]): Promise<Evidence['receipts']> {
  const receipts = new Map<string, ReceiptState | null>()
  for (const { input, lane } of entriesOf(entries, 'posted'))
    if (lane !== 'control') receipts.set(input, await store.receipt(sessionId(SESSION), inputId(input)))
  return receipts
}

/** The calls that are in the log, in the order in which they were asked for, and those of which there is only a body. */
function callsOf(events: readonly Event[], entries: readonly Entry[]): TortureCall[] {
  const begun = entriesOf(entries, 'begun')
  const ended = entriesOf(entries, 'ended')
  const asked = events.flatMap((event) =>
    event.type === 'reply.completed' ? event.calls : event.type === 'call.requested' ? [event.call] : [],
  )
  const known = new Set<string>(asked.map(({ id }) => id))
  const unknown = new Map(begun.filter(({ call }) => !known.has(call)).map((body) => [body.call, body]))
  const all = [
    ...asked.map(({ id, name, effect, args }) => ({ id: id as string, tool: name, effect, args: args ?? null })),
    ...[...unknown.values()].map(({ call, tool, effect, args }) => ({ id: call, tool, effect, args })),
  ]
  return all.map((call) => {
    const bodies = begun.filter((body) => body.call === call.id)
    const end = events.find((event) => event.type === 'call.ended' && event.call === call.id)
    return {
      ...call,
      args: bodies.at(-1)?.args ?? call.args,
      key: bodies.at(-1)?.key ?? null,
      begun: bodies.length,
      ended: ended.filter((body) => body.call === call.id).length,
      outcome: end?.type === 'call.ended' ? end.outcome.kind : null,
    }
  })
}
