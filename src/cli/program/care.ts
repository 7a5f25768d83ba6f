/** Commands that look after the machine and its store. */
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import type { DoctorFlags } from '../commands/doctor.ts'
import type { PlaceFlags } from '../settings.ts'
import { agentFlags, placed, plain, type OnExit, type Typed } from './flags.ts'

export function careCommands(cli: Cli, onExit: OnExit): Command[] {
  const { commands, args, options } = cli.texts
  const verify = new Command('verify').description(commands.verify).argument('[session]', args.sessionOrFile)
  verify.action(async (name: string | undefined, flags: Typed<PlaceFlags>) => {
    const command = await import('../commands/verify.ts')
    onExit(await command.verify(cli, name, plain(flags)))
  })
  const doctor = agentFlags(cli, new Command('doctor').description(commands.doctor)).option('--online', options.online)
  doctor.action(async (flags: Typed<DoctorFlags>) => {
    const command = await import('../commands/doctor.ts')
    onExit(await command.doctor(cli, plain(flags)))
  })
  const paths = new Command('paths').description(commands.paths).action(async (flags: Typed<PlaceFlags>) => {
    const command = await import('../commands/paths.ts')
    onExit(await command.paths(cli, plain(flags)))
  })
  return [verify, doctor, paths].map((made) => placed(cli, made))
}
