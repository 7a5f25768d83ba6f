/** `turnstep session …`: looking after sessions. */
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import type { ExportFlags } from '../commands/session-export.ts'
import type { ListFlags } from '../commands/session-list.ts'
import type { RemoveFlags } from '../commands/session-remove.ts'
import type { ImportFlags } from '../commands/session-import.ts'
import type { TailFlags } from '../commands/session-show.ts'
import type { SessionFlags } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { named, placed, plain, type OnExit, type Typed } from './flags.ts'

export function sessionCommand(cli: Cli, onExit: OnExit): Command {
  const session = new Command('session').description(cli.texts.commands.session)
  const made = [
    listCommand(cli, onExit),
    showCommand(cli, onExit),
    tailCommand(cli, onExit),
    exportCommand(cli, onExit),
    importCommand(cli, onExit),
    removeCommand(cli, onExit),
  ]
  for (const command of made) session.addCommand(command)
  return session
}

function listCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, options } = cli.texts
  const ls = new Command('ls').description(commands.ls).option('-n, --limit <n>', options.limit)
  return placed(cli, ls).action(async (flags: Typed<ListFlags>) => {
    const command = await import('../commands/session-list.ts')
    onExit(await command.listSessions(cli, plain(flags)))
  })
}

/** A session may be named by an argument as well as by `-s`. */
function byName<Flags extends SessionFlags>(name: string | undefined, flags: Flags): Flags {
  return name === undefined ? flags : { ...flags, session: name }
}

function showCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args } = cli.texts
  const show = named(cli, new Command('show').description(commands.show).argument('[session]', args.session))
  return placed(cli, show).action(async (name: string | undefined, flags: Typed<PlaceFlags & SessionFlags>) => {
    const command = await import('../commands/session-show.ts')
    onExit(await command.show(cli, byName(name, plain(flags))))
  })
}

function tailCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args, options } = cli.texts
  const tail = named(cli, new Command('tail').description(commands.tail).argument('[session]', args.session))
  tail.option('-n, --limit <n>', options.limit).option('-f, --follow', options.follow)
  return placed(cli, tail).action(async (name: string | undefined, flags: Typed<TailFlags>) => {
    const command = await import('../commands/session-show.ts')
    onExit(await command.tail(cli, byName(name, plain(flags))))
  })
}

function exportCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args, options } = cli.texts
  const made = named(cli, new Command('export').description(commands.export).argument('[session]', args.session))
  return placed(cli, made.option('-o, --out <file>', options.out)).action(
    async (name: string | undefined, flags: Typed<ExportFlags>) => {
      const command = await import('../commands/session-export.ts')
      onExit(await command.exportSession(cli, byName(name, plain(flags))))
    },
  )
}

function importCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args, options } = cli.texts
  const made = new Command('import').description(commands.import).argument('<file>', args.file)
  made.option('-s, --session <name>', options.importAs).option('--trust', options.trust)
  return placed(cli, made).action(async (file: string, flags: Typed<ImportFlags>) => {
    const command = await import('../commands/session-import.ts')
    onExit(await command.importSession(cli, file, plain(flags)))
  })
}

function removeCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args, options } = cli.texts
  const rm = new Command('rm').description(commands.rm).argument('<session>', args.session)
  return placed(cli, rm.option('--yes', options.yesRm)).action(async (name: string, flags: Typed<RemoveFlags>) => {
    const command = await import('../commands/session-remove.ts')
    onExit(await command.remove(cli, name, plain(flags)))
  })
}
