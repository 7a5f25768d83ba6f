/** The tools of a coding agent: files, search and shell of one workspace, started on this host. */
import { refuseUnknown, type Known } from '../runtime/borders.ts'
import type { RunProcess } from '../runtime/processes.ts'
import type { Tool } from '../runtime/define/tool.ts'
import type { Locale } from '../runtime/wording.ts'
import { editFileTool, listFilesTool, readFileTool, writeFileTool } from '../tools/files/index.ts'
import { findFilesTool, grepTool } from '../tools/search/index.ts'
import { shellTool } from '../tools/shell/index.ts'
import type { ShellOptions } from '../tools/shell/options.ts'
import { Workspace } from '../tools/workspace.ts'

/** What the coding tools work on, and what they ask before. */
export interface CodingToolsOptions {
  /** The folder that the tools work in, and that file tools cannot leave. */
  readonly root: string
  /** Whether a person is asked before each shell command. Default `ask`. */
  readonly approval?: ShellOptions['approval']
  /** Whether a person is asked before each change of a file. Default `never`; `turnstep.config.*` and `.git` always are asked for. */
  readonly fileApproval?: 'ask' | 'never'
  /** More about the shell; `false` leaves it out. */
  readonly shell?: false | Partial<ShellOptions>
  /** What starts programs: a sandbox instead of this host. */
  readonly runProcess?: RunProcess
  /** The language of what people read. Default `en`. */
  readonly locale?: Locale
}

const OPTIONS: Known<CodingToolsOptions> = {
  root: true,
  approval: true,
  fileApproval: true,
  shell: true,
  runProcess: true,
  locale: true,
}
const SHELL: Known<ShellOptions> = {
  runProcess: true,
  approval: true,
  shells: true,
  env: true,
  hideEnv: true,
  timeoutMaxMs: true,
  survivors: true,
  locale: true,
}

/** `read_file`, `list_files`, `write_file`, `edit_file`, `grep`, `find_files` and `shell`. */
export function codingTools(options: CodingToolsOptions): readonly Tool[] {
  refuseUnknown(options, OPTIONS, 'codingTools')
  const { root, approval = 'ask', fileApproval = 'never', shell = {}, locale = 'en' } = options
  if (shell !== false) refuseUnknown(shell, SHELL, 'the shell of codingTools')
  const start = options.runProcess ?? runOnHost
  const workspace = new Workspace(root)
  const files = { approval: fileApproval, locale }
  return [
    readFileTool(workspace),
    listFilesTool(workspace),
    writeFileTool(workspace, files),
    editFileTool(workspace, files),
    grepTool(workspace, { runProcess: start }),
    findFilesTool(workspace),
    ...(shell === false ? [] : [shellTool(workspace, { approval, locale, runProcess: start, ...shell })]),
  ]
}

/** What starts programs on this host; loaded with the first of them. */
const runOnHost: RunProcess = async (request) => (await import('../host/process.ts')).runProcess(request)
