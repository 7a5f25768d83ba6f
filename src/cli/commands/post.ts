/** `send`, `steer`, `note`, `abort`: input to a session, whoever drives it. */
import type { PendingPolicy, ReceiptState } from '../../kernel/input.ts'
import { sessionId } from '../../kernel/ids.ts'
import { loadState } from '../../runtime/runner/load.ts'
import type { Receipt, SessionHandle } from '../../runtime/session.ts'
import { awaitTurn } from '../await-turn.ts'
import { usage, type Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness, type Opened } from '../open.ts'
import { namedSession, type SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { readStdin } from '../stdin.ts'
import { awake } from '../watching.ts'

export interface PostFlags extends PlaceFlags, SessionFlags {
  readonly wait?: boolean
}

export interface SteerFlags extends PostFlags {
  readonly now?: boolean
}

export interface AbortFlags extends PostFlags {
  readonly reason?: string
  readonly pending?: PendingPolicy
}

export async function post(
  cli: Cli,
  lane: 'followup' | 'steer' | 'note',
  text: string,
  flags: SteerFlags,
): Promise<number> {
  const content = await contentOf(cli, text)
  return withSession(cli, flags, async (opened, session) => {
    const id = cli.io.ids.next()
    const { state: before } = await loadState(opened.store, session.id)
    const receipt = await postMessage(session, lane, content, { id, now: flags.now === true })
    await showReceipt(cli, opened, session, { receipt, lane })
    if (flags.wait !== true) return EXIT.ok
    if (lane === 'note') return showSettled(cli, receipt, lane)
    return awaitTurn(cli, opened, session, { receipt, before })
  })
}

function postMessage(
  session: SessionHandle,
  lane: 'followup' | 'steer' | 'note',
  content: string,
  { id, now }: { readonly id: string; readonly now: boolean },
): Promise<Receipt> {
  switch (lane) {
    case 'followup':
      return session.send(content, { id })
    case 'steer':
      return session.steer(content, { id, promptness: now ? 'now' : 'gate' })
    case 'note':
      return session.note(content, { id })
  }
}

export function abort(cli: Cli, flags: AbortFlags): Promise<number> {
  return withSession(cli, flags, async (opened, session) => {
    const { reason, pending } = flags
    const receipt = await session.abort({
      ...(reason === undefined ? {} : { reason }),
      ...(pending === undefined ? {} : { pending }),
    })
    await showReceipt(cli, opened, session, { receipt, lane: 'control' })
    return flags.wait === true ? showSettled(cli, receipt, 'control') : EXIT.ok
  })
}

/** Reaches a session that exists, for the time of one command. Its first JSON line names it. */
export function withSession(
  cli: Cli,
  flags: PlaceFlags & SessionFlags,
  use: (opened: Opened, session: SessionHandle) => Promise<number>,
): Promise<number> {
  return withHarness(cli, flags, { mustExist: true }, async (opened) => {
    const name = await namedSession(cli, opened.store, flags)
    cli.out.line({ type: 'session', session: name })
    return use(opened, await opened.harness.attach(name))
  })
}

interface Posted {
  readonly receipt: Receipt
  readonly lane: 'followup' | 'steer' | 'note' | 'control'
}

/** Says that it is durable, who will see it, and what to do if nobody does. */
export async function showReceipt(
  cli: Cli,
  { harness }: Opened,
  session: SessionHandle,
  { receipt, lane }: Posted,
): Promise<void> {
  const { out, texts } = cli
  const driver = (await harness.list()).find((row) => row.session === sessionId(session.id))?.lease ?? null
  out.line({ type: 'receipt', input: receipt.id, state: await receipt.state(), driver })
  out.result(texts.posted(texts.lanes[lane], receipt.id))
  if (driver === null) out.notice('not-driven', texts.drivenByNobody(session.id))
  else out.progress(texts.drivenBy(driver.owner))
}

/** Waits until the input is settled, and says how. */
export async function showSettled(cli: Cli, receipt: Receipt, lane: Posted['lane']): Promise<number> {
  const { out } = cli
  const state = await awake(cli.io.clock, receipt.settled)
  out.line({ type: 'receipt', input: receipt.id, state, driver: null })
  out.result(stateLine(cli, state, lane))
  return state.kind === 'entered' ? EXIT.ok : EXIT.failed
}

function stateLine({ texts: { state: say } }: Cli, state: ReceiptState, lane: Posted['lane']): string {
  switch (state.kind) {
    case 'entered':
      return lane === 'control' ? say.taken : say.entered(state.turn, state.step)
    case 'rejected':
      return state.reason === 'stale' ? say.stale : say.rejected(state.reason)
    case 'queued':
    case 'withdrawn':
    case 'expired':
      return say[state.kind]
  }
}

async function contentOf(cli: Cli, text: string): Promise<string> {
  if (text !== '-') return text
  const read = await readStdin(cli.io)
  if (read.trim() === '') throw usage(cli.texts.emptyStdin)
  return read
}
