/**
 * `session import`: an exported log into a session of its own. Everything is checked before anything is written, and what is written
 * is written whole or not at all: the events of one lease are one commit, and a failure removes the session again.
 *
 * Every event carries the fence of the lease under which it was written (L4), and the leases of another store mean nothing here. So
 * events are stamped anew with the fence of the importing lease. Where a rule needs two leases to be told apart (a read that was started
 * again after a crash, C4), one more lease is taken; most logs need but one.
 */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TurnstepError } from '../../kernel/errors.ts'
import { FORMAT, type Event } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import { sessionId, type SessionId } from '../../kernel/ids.ts'
import type { State } from '../../kernel/state.ts'
import { ownerName } from '../../host/paths.ts'
import type { LogHeader } from '../../protocol/jsonl.ts'
import type { Store } from '../../runtime/ports.ts'
import { isPlainObject } from '../../util/json.ts'
import { usage, type Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness } from '../open.ts'
import type { SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { readStdin } from '../stdin.ts'

export async function importSession(
  cli: Cli,
  file: string,
  flags: PlaceFlags & Pick<SessionFlags, 'session'>,
): Promise<number> {
  const { header, leases, events } = readLog(cli, await textOf(cli, file))
  return withHarness(cli, flags, { mustExist: false }, async ({ store, harness }) => {
    const name = flags.session ?? header.session
    cli.out.line({ type: 'session', session: name })
    // Also refuses a name that is none.
    if (await exists(() => harness.attach(name)))
      throw new TurnstepError('import-invalid', cli.texts.importing.exists(name))
    await writeAll(cli, store, sessionId(name), leases)
    cli.out.result(cli.texts.sessions.imported(name, events))
    return EXIT.ok
  })
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

// ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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

interface ReadLog {
  readonly header: LogHeader
  readonly events: number
  /** The events by the lease that will write them, in order. */
  readonly leases: readonly (readonly Event[])[]
}

/** Reads and judges every line. Throws `import-invalid` with the number of the line, and `format-newer`. */
function readLog(cli: Cli, text: string): ReadLog {
  const { importing: say } = cli.texts
  const lines = text.split('\n')
  while (lines.at(-1)?.trim() === '') lines.pop()
  const [first, ...rest] = lines
  if (first === undefined) throw bad(say.empty)
  const header = headerOf(cli, first)
  const state = emptyState()
  const leases: Event[][] = [[]]
  for (const [index, line] of rest.entries()) {
    const event = eventOf(cli, line, index + 2)
    const stamped = takeIn(cli, { state, fence: leases.length, line: index + 2 }, event)
    if (stamped.fence > leases.length) leases.push([])
    leases.at(-1)!.push(stamped)
  }
  if (rest.length !== header.events) throw bad(say.count(header.events, rest.length))
  return { header, events: rest.length, leases }
}

function headerOf({ texts }: Cli, line: string): LogHeader {
  const value = parsed(line)
  const isHeader =
    isPlainObject(value) &&
    value['type'] === 'turnstep.log' &&
    Number.isInteger(value['format']) &&
    Number.isInteger(value['events']) &&
    typeof value['session'] === 'string'
  if (!isHeader) throw bad(texts.importing.header(line.length > 100 ? `${line.slice(0, 100)}…` : line))
  const header = value as unknown as LogHeader
  if (header.format > FORMAT) throw new TurnstepError('format-newer', texts.importing.newer(header.format, FORMAT))
  return header
}

function eventOf({ texts }: Cli, line: string, n: number): Event {
  const value = parsed(line)
  if (value instanceof Error) throw bad(texts.importing.json(n, value.message))
  const isEvent =
    isPlainObject(value) &&
    typeof value['type'] === 'string' &&
    ['seq', 'at', 'fence', 'turn', 'step'].every((field) => Number.isFinite(value[field]))
  if (!isEvent) throw bad(texts.importing.event(n))
  return value as unknown as Event
}

/** The value, or why there is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch (error) {
    return error
  }
}

interface Standing {
  readonly state: State
  readonly fence: number
  readonly line: number
}

/** The event with the fence under which it is legal here: this lease's, or else the next one's. */
function takeIn({ texts }: Cli, { state, fence, line }: Standing, event: Event): Event {
  const here: Event = { ...event, fence }
  const broken = foldSafely(state, here)
  if (broken === null) return here
  if (event.type === 'call.started' && broken.rule === 'C4') {
    const next: Event = { ...event, fence: fence + 1 }
    if (foldSafely(state, next) === null) return next
  }
  throw bad(texts.importing.rule(line, event.type, broken.rule, broken.problem))
}

/** The kernel trusts the shape of events; a file need not have it. */
function foldSafely(state: State, event: Event): ReturnType<typeof fold> {
  try {
    return fold(state, event)
  } catch (error) {
    return { rule: 'L6', problem: `its fields are not those of ${event.type} (${String(error)})` }
  }
}

// ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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

function bad(message: string): TurnstepError {
  return new TurnstepError('import-invalid', message)
}
