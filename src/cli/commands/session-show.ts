/** `session show` and `session tail`: one session, as it reads. */
import type { Event } from '../../kernel/events.ts'
import { sessionId } from '../../kernel/ids.ts'
import { textOf } from '../../kernel/message.ts'
import type { SessionHandle } from '../../runtime/session.ts'
import { openAsks, showAsks } from '../asks.ts'
import type { Cli } from '../cli.ts'
import { argsLine, callLine, contentLine, oneLine, outcomeLine } from '../describe.ts'
import { EXIT } from '../exit.ts'
import type { Opened } from '../open.ts'
import type { SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { awake } from '../watching.ts'
import { withSession } from './post.ts'
import { waitingInputs } from './queue.ts'
import { visible } from '../visible.ts'
import { limitOf } from './session-list.ts'

export interface TailFlags extends PlaceFlags, SessionFlags {
  readonly limit?: string
  readonly follow?: boolean
}

export function show(cli: Cli, flags: PlaceFlags & SessionFlags): Promise<number> {
  return withSession(cli, flags, async (opened, session) => {
    const { out, texts } = cli
    for (const event of await session.history()) {
      out.line({ type: 'event', event })
      const line = spokenLine(cli, event)
      if (line !== null) out.result(line)
    }
    const status = await session.status()
    const usage = await session.usage()
    out.line({ type: 'status', session: session.id, status: status.kind, usage })
    const { sessions: say } = texts
    const driver = (await opened.harness.list()).find((row) => row.session === session.id)?.lease
    out.result(
      [
        session.id,
        say.state[status.kind],
        driver == null ? null : say.running(driver.owner),
        say.usage(usage.input, usage.cacheRead, usage.output),
      ]
        .filter((part) => part !== null)
        .join(' · '),
    )
    await showOpen(cli, opened, session)
    return EXIT.ok
  })
}

async function showOpen(cli: Cli, { store }: Opened, session: SessionHandle): Promise<void> {
  const asks = await openAsks(store, session.id)
  if (asks.length > 0) showAsks(cli, asks)
  const waiting = await waitingInputs(session)
  if (waiting.length > 0 && (await session.status()).kind === 'held')
    cli.out.notice('held', cli.texts.held(waiting.length, session.id))
}

/** What was said and done, in words; null for what only machines read. */
function spokenLine({ texts }: Cli, event: Event): string | null {
  switch (event.type) {
    case 'input.entered':
      return event.origin.kind === 'system' ? null : `\n» ${textOf(event.content)}`
    case 'reply.completed': {
      const calls = event.calls.map((call) => `→ ${visible(call.name)} ${argsLine(call.args)}`.trim())
      return [textOf(event.parts), ...calls].filter((part) => part !== '').join('\n')
    }
    case 'call.ended': {
      const line = callLine(event.outcome, event.content)
      return `  ${event.call}: ${line ?? contentLine(event.content)}`
    }
    case 'turn.ended': {
      const line = outcomeLine(texts, event.outcome)
      return line === null ? null : `(${line})`
    }
    case 'log.damaged':
      return `(${texts.damaged(event.from, event.reason)})`
    default:
      return null
  }
}

export function tail(cli: Cli, flags: TailFlags): Promise<number> {
  const limit = limitOf(cli, flags.limit) ?? 20
  return withSession(cli, flags, async ({ store }, session) => {
    const { tail: end } = await store.read(sessionId(session.id), { limit: 0 })
    let seq = Math.max(0, end - limit)
    for (const event of await session.history({ after: seq })) {
      printEvent(cli, event)
      seq = event.seq
    }
    if (flags.follow === true) await awake(cli.io.clock, follow(cli, session, seq))
    return EXIT.ok
  })
}

async function follow(cli: Cli, session: SessionHandle, after: number): Promise<void> {
  for await (const seen of session.watch({ after })) if (seen.kind === 'event') printEvent(cli, seen.event)
}

function printEvent({ out }: Cli, event: Event): void {
  out.line({ type: 'event', event })
  const { seq, at, fence, turn, step, type, ...body } = event
  const time = new Date(at).toISOString().slice(11, 23)
  out.result(
    `${String(seq).padStart(5)} ${time} t${turn}s${step} f${fence} ${type} ${oneLine(JSON.stringify(body), 160)}`,
  )
}
