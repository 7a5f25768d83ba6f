/** All commands and their flags. The code of each is loaded when it is called, so that `--help` loads none of it. */
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { careCommands } from './care.ts'
import { driveCommands } from './drive.ts'
import type { OnExit } from './flags.ts'
import { reachCommands } from './reach.ts'
import { sessionCommand } from './session.ts'
import { tortureCommand } from './torture.ts'

export function program(cli: Cli, onExit: OnExit): Command {
  const { io, texts } = cli
  const root = new Command('turnstep')
    .description(texts.about)
    .version(io.version, '-V, --version', texts.options.version)
    .addHelpText('after', `\n${texts.exits}`)
  const made = [
    ...driveCommands(cli, onExit),
    ...reachCommands(cli, onExit),
    sessionCommand(cli, onExit),
    ...careCommands(cli, onExit),
    tortureCommand(cli, onExit),
  ]
  for (const command of made) root.addCommand(command)
  for (const command of [root, ...made, ...made.flatMap((one) => one.commands)]) style(cli, command)
  return root
}

/** Help on stdout, errors thrown and not printed, headings in the language of the rest. */
function style({ io, texts }: Cli, command: Command): void {
  if (command.commands.length > 0) command.helpCommand('help [command]', texts.commands.help)
  const { heads, options } = texts
  const titles: Readonly<Record<string, string>> = {
    'Usage:': heads.usage,
    'Arguments:': heads.arguments,
    'Options:': heads.options,
    'Commands:': heads.commands,
  }
  command
    .exitOverride()
    .helpOption('-h, --help', options.help)
    .allowExcessArguments(false)
    .configureHelp({ styleTitle: (title) => titles[title] ?? title })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: () => {},
      getOutHelpWidth: () => io.stdout.columns || 100,
    })
}
