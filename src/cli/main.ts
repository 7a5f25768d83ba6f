/** The command line: reads what was typed, runs the one command, answers the exit code. */
import { CommanderError } from 'commander'
import { Cli, usage } from './cli.ts'
import { EXIT, exitOfError } from './exit.ts'
import type { Io } from './io.ts'
import { Output } from './output.ts'
import { program } from './program/index.ts'
import { showError } from './show-error.ts'
import { ambientLocale, localeOf } from './texts/index.ts'
import { isTurnstepError } from '../kernel/errors.ts'

export async function main(io: Io): Promise<number> {
  // What must be known before anything can be parsed, or complained about.
  const typed = io.argv.slice(0, io.argv.includes('--') ? io.argv.indexOf('--') : undefined)
  const json = typed.includes('--json')
  const out = new Output(io, { json, quiet: typed.includes('--quiet') || typed.includes('-q') })
  const lang = langOf(typed)
  const locale = (lang === null ? null : localeOf(lang)) ?? ambientLocale(io.env)
  const cli = new Cli(io, out, locale, lang !== null || io.env('TURNSTEP_LANG') !== undefined)
  try {
    if (lang !== null && localeOf(lang) === null) throw usage(cli.texts.lang(lang))
    return await parse(cli)
  } catch (error) {
    showError(cli, error, null)
    return isTurnstepError(error) ? exitOfError(error) : EXIT.failed
  }
}

async function parse(cli: Cli): Promise<number> {
  let exit: number = EXIT.ok
  const root = program(cli, (code) => {
    exit = code
  })
  if (cli.io.argv.length === 0) {
    root.outputHelp()
    return exit
  }
  try {
    await root.parseAsync([...cli.io.argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version end the parsing, and are no errors.
    if (error.exitCode === 0) return EXIT.ok
    throw usage(error.code === 'commander.help' ? cli.texts.needsCommand : error.message.replace(/^error: /, ''))
  }
  return exit
}

/** The value of `--lang`; null if it is not there. */
function langOf(typed: readonly string[]): string | null {
  const at = typed.findIndex((word) => word === '--lang' || word.startsWith('--lang='))
  if (at === -1) return null
  return typed[at]!.startsWith('--lang=') ? typed[at]!.slice('--lang='.length) : (typed[at + 1] ?? '')
}
