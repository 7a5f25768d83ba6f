/** What people read of the shell. */
import type { Locale } from '../../runtime/wording.ts'

const TEXTS = {
  en: (command: string) => `Run in the shell: ${command}`,
  zh: (command: string) => `在终端中运行：${command}`,
}

const COMMAND_CHARS_MAX = 500

/** The reason that is shown with the question whether a command may run. */
export function askToRun(command: string, locale: Locale): string {
  const shown = command.length > COMMAND_CHARS_MAX ? `${command.slice(0, COMMAND_CHARS_MAX)} ...` : command
  return TEXTS[locale](shown)
}
