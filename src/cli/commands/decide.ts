/** `approve`, `deny`, `answer`: what a session waits for, from whoever can reach its store. */
import type { Ask, Receipt, SessionHandle } from '../../runtime/session.ts'
import { openAsks, pickAsk } from '../asks.ts'
import { usage, type Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { showReceipt, showSettled, withSession, type PostFlags } from './post.ts'

export interface ApproveFlags extends PostFlags {
  readonly always?: boolean
}

export interface AnswerFlags extends PostFlags {
  readonly error?: boolean
}

/** Binds the yes to the arguments that were seen (A2). */
export function approve(cli: Cli, which: string | undefined, flags: ApproveFlags): Promise<number> {
  return decide(cli, which, flags, (session, ask) => {
    if (ask.kind === 'deferred') throw usage(cli.texts.notAnApproval(ask.call))
    return session.approve(ask.call, { always: flags.always === true, ...hashOf(ask) })
  })
}

export function deny(
  cli: Cli,
  which: string | undefined,
  reason: string | undefined,
  flags: PostFlags,
): Promise<number> {
  return decide(cli, which, flags, (session, ask) => {
    if (ask.kind === 'deferred') throw usage(cli.texts.notAnApproval(ask.call))
    return session.deny(ask.call, { ...(reason === undefined ? {} : { reason }), ...hashOf(ask) })
  })
}

export function answer(cli: Cli, which: string, text: string, flags: AnswerFlags): Promise<number> {
  return decide(cli, which, flags, (session, ask) => {
    if (ask.kind !== 'deferred') throw usage(cli.texts.notAnAnswer(ask.call))
    return session.answer(ask.call, text, { error: flags.error === true })
  })
}

function decide(
  cli: Cli,
  which: string | undefined,
  flags: PostFlags,
  post: (session: SessionHandle, ask: Ask) => Promise<Receipt>,
): Promise<number> {
  return withSession(cli, flags, async (opened, session) => {
    const ask = pickAsk(cli, session.id, await openAsks(opened.store, session.id), which)
    const receipt = await post(session, ask)
    await showReceipt(cli, opened, session, { receipt, lane: 'control' })
    return flags.wait === true ? showSettled(cli, receipt, 'control') : EXIT.ok
  })
}

export function hashOf({ argsHash }: Ask): { readonly argsHash?: string } {
  return argsHash === null ? {} : { argsHash }
}
