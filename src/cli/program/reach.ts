/** Commands that reach a session, whoever drives it. */
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import type { AnswerFlags, ApproveFlags } from '../commands/decide.ts'
import type { AbortFlags, PostFlags, SteerFlags } from '../commands/post.ts'
import type { SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { named, placed, plain, type OnExit, type Typed } from './flags.ts'

export function reachCommands(cli: Cli, onExit: OnExit): Command[] {
  return [
    messageCommand(cli, onExit, 'send', 'followup'),
    messageCommand(cli, onExit, 'steer', 'steer').option('--now', cli.texts.options.now),
    messageCommand(cli, onExit, 'note', 'note'),
    abortCommand(cli, onExit),
    approveCommand(cli, onExit),
    denyCommand(cli, onExit),
    answerCommand(cli, onExit),
    queueCommand(cli, onExit),
  ]
}

function reaching(cli: Cli, name: keyof Cli['texts']['commands']): Command {
  const command = new Command(name).description(cli.texts.commands[name])
  return placed(cli, named(cli, command))
}

function messageCommand(
  cli: Cli,
  onExit: OnExit,
  name: 'send' | 'steer' | 'note',
  lane: 'followup' | 'steer' | 'note',
): Command {
  const { args, options } = cli.texts
  return reaching(cli, name)
    .argument('<text>', args.message)
    .option('--wait', options.wait)
    .action(async (text: string, flags: Typed<SteerFlags>) => {
      const command = await import('../commands/post.ts')
      onExit(await command.post(cli, lane, text, plain(flags)))
    })
}

function abortCommand(cli: Cli, onExit: OnExit): Command {
  const { options } = cli.texts
  return reaching(cli, 'abort')
    .option('--reason <text>', options.reason)
    .addOption(new Option('--pending <policy>', options.pending).choices(['keep', 'return', 'drop']))
    .option('--wait', options.waitSettled)
    .action(async (flags: Typed<AbortFlags>) => {
      const command = await import('../commands/post.ts')
      onExit(await command.abort(cli, plain(flags)))
    })
}

function approveCommand(cli: Cli, onExit: OnExit): Command {
  const { args, options } = cli.texts
  return reaching(cli, 'approve')
    .argument('[call]', args.ask)
    .option('--always', options.always)
    .option('--wait', options.waitSettled)
    .action(async (call: string | undefined, flags: Typed<ApproveFlags>) => {
      const command = await import('../commands/decide.ts')
      onExit(await command.approve(cli, call, plain(flags)))
    })
}

function denyCommand(cli: Cli, onExit: OnExit): Command {
  const { args, options } = cli.texts
  return reaching(cli, 'deny')
    .argument('[call]', args.ask)
    .option('--reason <text>', args.reason)
    .option('--wait', options.waitSettled)
    .action(async (call: string | undefined, { reason, ...flags }: Typed<PostFlags & { readonly reason?: string }>) => {
      const command = await import('../commands/decide.ts')
      onExit(await command.deny(cli, call, reason, plain(flags)))
    })
}

function answerCommand(cli: Cli, onExit: OnExit): Command {
  const { args, options } = cli.texts
  return reaching(cli, 'answer')
    .argument('<call>', args.ask)
    .argument('<text>', args.message)
    .option('--error', options.error)
    .option('--wait', options.waitSettled)
    .action(async (call: string, text: string, flags: Typed<AnswerFlags>) => {
      const command = await import('../commands/decide.ts')
      onExit(await command.answer(cli, call, text, plain(flags)))
    })
}

function queueCommand(cli: Cli, onExit: OnExit): Command {
  const { args } = cli.texts
  return reaching(cli, 'queue')
    .argument('[action]', args.action)
    .argument('[input]', args.input)
    .argument('[words...]', args.words)
    .action(
      async (
        action: string | undefined,
        which: string | undefined,
        words: string[],
        flags: Typed<PlaceFlags & SessionFlags>,
      ) => {
        const command = await import('../commands/queue.ts')
        const change = { words, ...(action === undefined ? {} : { action }), ...(which === undefined ? {} : { which }) }
        onExit(await command.queue(cli, change, plain(flags)))
      },
    )
}
