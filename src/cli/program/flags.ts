/** What commands have in common: their flags, and how their code is run. */
import type { Command } from 'commander'
import type { Cli } from '../cli.ts'

/** Told the exit code of the command that ran. */
export type OnExit = (code: number) => void

/** Flags of every command. */
export function spoken({ texts: { options } }: Cli, command: Command): Command {
  return command
    .option('--lang <lang>', options.lang)
    .option('--json', options.json)
    .option('-q, --quiet', options.quiet)
}

/** Flags of every command that reaches a store. */
export function placed(cli: Cli, command: Command): Command {
  const { options } = cli.texts
  command.option('-C, --cwd <folder>', options.cwd).option('--root <folder>', options.root)
  return spoken(cli, command.option('--store <file>', options.store))
}

/** Flags of commands about a session that exists. */
export function named({ texts: { options } }: Cli, command: Command): Command {
  return command.option('-s, --session <name>', options.sessionOf).option('-c, --continue', options.continue)
}

/** Flags of commands that drive an agent. */
export function agentFlags({ texts: { options } }: Cli, command: Command): Command {
  return command
    .option('-m, --model <model>', options.model)
    .option('--yes', options.yes)
    .option('--max-steps <n>', options.maxSteps)
}

/** Flags of commands that open a session, an old one or a new one. */
export function opening({ texts: { options } }: Cli, command: Command): Command {
  return command.option('-s, --session <name>', options.session).option('-c, --continue', options.continue)
}

/** Flags as they were typed: `--root` is another name of `--cwd`. */
export type Typed<Flags> = Flags & { readonly root?: string; readonly cwd?: string }

export function plain<Flags extends { readonly cwd?: string }>({ root, ...flags }: Typed<Flags>): Flags {
  return (root === undefined ? flags : { cwd: root, ...flags }) as Flags
}
