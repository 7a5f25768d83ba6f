/**
 * `session import`: an exported log into a session of its own. Everything is checked before anything is written, and what is written
 * is written whole or not at all: the events of one lease are one commit, and a failure removes the session again.
 *
 * What was decided elsewhere does not count here unless the user says that the log is to be trusted: a grant is refused, and a turn
 * that is open is ended, so that nothing runs because a file says that somebody allowed it.
 */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import { inputId, sessionId, type SessionId } from '../../kernel/ids.ts'
import { ownerName } from '../../host/paths.ts'
import type { Store } from '../../runtime/ports.ts'
import { usage, type Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { closeTurn } from '../import/close-turn.ts'
import { readLog, type ReadLog } from '../import/read-log.ts'
import { withHarness } from '../open.ts'
import type { SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { readStdin } from '../stdin.ts'

export interface ImportFlags extends PlaceFlags, Pick<SessionFlags, 'session'> {
  /** Take it as it is: with its grants, its approvals and its open turn. */
  readonly trust?: boolean
}

export async function importSession(cli: Cli, file: string, flags: ImportFlags): Promise<number> {
  const trust = flags.trust === true
  const log = readLog(cli, await textOf(cli, file), { trust })
  const read = log.state.seq
  const closed = trust ? [] : close(cli, log)
  return withHarness(cli, flags, { mustExist: false }, async ({ store, harness }) => {
    const name = flags.session ?? log.header.session
    cli.out.line({ type: 'session', session: name })
    // Also refuses a name that is none.
    if (await exists(() => harness.attach(name)))
      throw new TurnstepError('import-invalid', cli.texts.importing.exists(name))
    await writeAll(cli, store, sessionId(name), log.leases)
    cli.out.result(cli.texts.sessions.imported(name, read))
    if (closed.length > 0) cli.out.notice('turn-closed', cli.texts.importing.closed(closed.length))
    return EXIT.ok
  })
}

/** Ends what is open in the log, under its last lease; answers the events that took. */
function close({ io, texts }: Cli, { state, leases }: ReadLog): readonly Event[] {
  const events = closeTurn(state, {
    at: Math.max(io.clock.now(), state.at),
    fence: leases.length,
    input: inputId(io.ids.next()),
    reason: texts.importing.closedReason,
  })
  leases.at(-1)!.push(...events)
  return events
}

async function exists(attach: () => Promise<unknown>): Promise<boolean> {
  try {
    await attach()
    return true
  } catch (error) {
    if (error instanceof TurnstepError && error.code === 'session-missing') return false
    throw error
  }
}

const BYTES_MAX = 256 * 1024 * 1024

async function textOf(cli: Cli, file: string): Promise<string> {
  const { io, texts } = cli
  if (file === '-') return readStdin(io)
  const path = resolve(io.cwd, file)
  let text: string
  try {
    const { size } = statSync(path)
    if (size > BYTES_MAX) throw new TurnstepError('import-invalid', texts.importing.large(size))
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof TurnstepError) throw error
    throw usage(texts.importing.unreadable(path, (error as Error).message))
  }
  return text
}

async function writeAll(
  cli: Cli,
  store: Store,
  session: SessionId,
  leases: readonly (readonly Event[])[],
): Promise<void> {
  if ((await store.create(session)) === 'exists')
    throw new TurnstepError('import-invalid', cli.texts.importing.exists(session))
  let isWhole = false
  try {
    let tail = 0
    for (const events of leases) tail = await writeLease(store, session, { events, tail })
    isWhole = true
  } finally {
    if (!isWhole) await store.remove(session)
  }
}

/** Writes one lease's events as one commit, and lets go: an imported session starts nothing by itself. Answers the new tail. */
async function writeLease(
  store: Store,
  session: SessionId,
  { events, tail }: { readonly events: readonly Event[]; readonly tail: number },
): Promise<number> {
  const lease = await store.acquire(session, { owner: ownerName(), ttlMs: 60_000 })
  if (lease.kind !== 'acquired') throw lostSession(session, lease.kind)
  try {
    const stamped = events.map((event) => ({ ...event, fence: lease.fence }))
    const answer = await store.append({ session, fence: lease.fence, tail, events: stamped, consume: [] })
    if (answer.kind !== 'appended') throw lostSession(session, answer.kind)
    return answer.tail
  } finally {
    await store.release(session, lease.fence, { wake: [] })
  }
}

function lostSession(session: SessionId, why: string): TurnstepError {
  return new TurnstepError(
    'log-conflict',
    `session "${session}" was used by somebody else while it was imported (${why}); nothing was kept, try again`,
  )
}
