/** `queue`: what waits to enter a session. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { MessageInput, MessageLane } from '../../kernel/input.ts'
import type { SessionHandle } from '../../runtime/session.ts'
import { usage, type Cli } from '../cli.ts'
import { contentLine } from '../describe.ts'
import { EXIT } from '../exit.ts'
import type { SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { withSession } from './post.ts'

export interface QueueChange {
  /** Default `list`. */
  readonly action?: string
  readonly which?: string
  readonly words?: readonly string[]
}

export function queue(cli: Cli, change: QueueChange, flags: PlaceFlags & SessionFlags): Promise<number> {
  return withSession(cli, flags, async (_opened, session) => {
    await changeQueue(cli, session, change)
    return EXIT.ok
  })
}

/** Lists or changes, and says what became of it. Throws `usage-invalid`, `input-missing`, `input-settled`. */
export async function changeQueue(
  cli: Cli,
  session: SessionHandle,
  { action = 'list', which, words = [] }: QueueChange,
): Promise<void> {
  const { texts, out } = cli
  if (!['list', 'edit', 'drop', 'up', 'convert'].includes(action)) throw usage(texts.queue.action(action))
  const waiting = await waitingInputs(session)
  if (action === 'list') return list(cli, waiting)
  const input = pick(cli, waiting, which)
  switch (action) {
    case 'edit':
      if (words.length === 0) throw usage(texts.queue.text)
      await session.queue.edit(input.id, words.join(' '))
      return out.result(texts.queue.edited)
    case 'drop':
      await session.queue.withdraw(input.id)
      return out.result(texts.queue.dropped)
    case 'up': {
      const before = waiting[waiting.indexOf(input) - 1]
      if (before === undefined) return out.result(texts.queue.first)
      await session.queue.move(input.id, { before: before.id })
      return out.result(texts.queue.moved)
    }
    default: {
      const lane = laneOf(cli, words[0])
      await session.queue.convert(input.id, lane)
      return out.result(texts.queue.converted(lane))
    }
  }
}

/** Messages in order of arrival; control is not the user's to change. */
export async function waitingInputs(session: SessionHandle): Promise<MessageInput[]> {
  const all = await session.queue.list()
  return all.filter((input): input is MessageInput => input.lane !== 'control')
}

function list({ out, texts }: Cli, waiting: readonly MessageInput[]): void {
  if (waiting.length === 0) out.result(texts.queue.empty)
  for (const [index, input] of waiting.entries()) {
    out.line({ type: 'queued', n: index + 1, input })
    out.result(texts.queue.item(index + 1, input.lane, contentLine(input.content), input.id))
  }
}

function pick({ texts }: Cli, waiting: readonly MessageInput[], which: string | undefined): MessageInput {
  if (which === undefined) throw usage(texts.queue.which)
  const found = waiting.find((input, index) => input.id === which || String(index + 1) === which)
  if (found === undefined) throw new TurnstepError('input-missing', texts.queue.none(which))
  return found
}

function laneOf({ texts }: Cli, word: string | undefined): MessageLane {
  if (word === 'followup' || word === 'steer' || word === 'note') return word
  throw usage(texts.queue.lane(word ?? ''))
}
