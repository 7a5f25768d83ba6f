/** What the tool `shell` is told. In a file of its own: it is part of the public declarations, which name no module of Node. */
import type { RunProcess } from '../../runtime/processes.ts'
import type { Locale } from '../../runtime/wording.ts'

/** How commands are run, and what is asked before. */
export interface ShellOptions {
  /** What starts the shell: the host, or a sandbox. */
  readonly runProcess: RunProcess
  /** Whether a person is asked before each command; a function decides per command, a text is the reason. Default `ask`. */
  readonly approval?: 'ask' | 'never' | ((command: string) => boolean | string)
  /** Tried in this order. Default bash, then sh. */
  readonly shells?: readonly string[]
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Variables of the host that commands do not see. Default: the keys of model providers (`*_API_KEY`). */
  readonly hideEnv?: (name: string) => boolean
  /** What a command may take at most, whatever it asks for. Default ten minutes. */
  readonly timeoutMaxMs?: number
  /** What becomes of processes that a command leaves behind. Default `kill`. */
  readonly survivors?: 'kill' | 'keep'
  /** The language of what people read. Default `en`. */
  readonly locale?: Locale
}
