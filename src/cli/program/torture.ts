/** `turnstep torture`. */
import { Command, Option } from 'commander'
import type { Cli } from '../cli.ts'
import type { TortureFlags } from '../commands/torture.ts'
import { spoken, type OnExit } from './flags.ts'

export function tortureCommand(cli: Cli, onExit: OnExit): Command {
  const { commands, args, options } = cli.texts
  const each = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
  const torture = new Command('torture')
    .description(commands.torture)
    .argument('<module>', args.module)
    .option('--message <text>', options.messageEach, each)
    .option('--steer <text>', options.steerEach, each)
    .option('--script <file>', options.script)
    .option('--own-model', options.ownModel)
    .option('--check <file>', options.check)
    .addOption(new Option('--approve <word>', options.approveAll).choices(['yes', 'no']))
    .option('--answer <text>', options.answerAll)
    .option('--kills <n>', options.kills)
    .option('--seed <n>', options.seed)
    .option('--jobs <n>', options.jobs)
    .option('--only <moment>', options.only, each)
    .option('--twice', options.twice)
    .option('--timeout <seconds>', options.timeout)
    .option('--keep', options.keepRuns)
  return spoken(cli, torture).action(async (module: string, flags: TortureFlags) => {
    const command = await import('../commands/torture.ts')
    onExit(await command.torture(cli, module, flags))
  })
}
