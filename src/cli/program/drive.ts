/** Commands that drive a session: `run`, `chat`, and the demo. */
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import type { ChatFlags } from '../commands/chat.ts'
import type { RunFlags } from '../commands/run.ts'
import { agentFlags, opening, placed, plain, spoken, type OnExit, type Typed } from './flags.ts'

export function driveCommands(cli: Cli, onExit: OnExit): Command[] {
  return [runCommand(cli, onExit), chatCommand(cli, onExit), demoCommand(cli, onExit)]
}

function runCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args, options } = cli.texts
  const run = new Command('run').description(commands.run).argument('[task]', args.prompt)
  agentFlags(cli, opening(cli, run)).option('--resume', options.resume).option('--wait', options.waitRun)
  return placed(cli, run).action(async (task: string | undefined, flags: Typed<RunFlags>) => {
    const command = await import('../commands/run.ts')
    onExit(await command.run(cli, task, plain(flags)))
  })
}

function chatCommand(cli: Cli, onExit: OnExit): Command {
  const chat = new Command('chat').description(cli.texts.commands.chat)
  return placed(cli, agentFlags(cli, opening(cli, chat))).action(async (flags: Typed<ChatFlags>) => {
    const command = await import('../commands/chat.ts')
    onExit(await command.chat(cli, plain(flags)))
  })
}

interface DemoFlags {
  readonly keep?: boolean
  readonly fast?: boolean
}

function demoCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, options } = cli.texts
  const demo = new Command('demo').description(commands.demo)
  demo.option('--keep', options.keep).option('--fast', options.fast)
  return spoken(cli, demo).action(async ({ keep = false, fast = false }: DemoFlags) => {
    const command = await import('../commands/demo.ts')
    const { stdout, stderr } = cli.io
    onExit(await command.demo({ keep, fast, json: cli.out.json, locale: cli.locale, stdout, stderr }))
  })
}
