/** The tool `shell`: runs a command, and all it starts ends with the call (C10). */
import { tool } from '../../runtime/define/define-tool.ts'
import type { FoundProcess, ProcessEnd, ProcessResult } from '../../runtime/processes.ts'
import type { Tool, ToolContext, ToolResult } from '../../runtime/define/tool.ts'
import type { Json } from '../../util/json.ts'
import { Refusal, refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import type { ShellOptions } from './options.ts'
import { askToRun } from './texts.ts'

interface ShellArgs {
  readonly command: string
  readonly cwd?: string
  readonly timeout_seconds?: number
}

const TIMEOUT_DEFAULT_MS = 120_000
const TIMEOUT_MAX_MS = 600_000
const GRACE_MS = 2000
/** From the command's own end to the bound of the call: the grace, the hard stop, the draining of the pipes. */
const MARGIN_MS = 10_000

/** No pager and no question that waits for an answer that cannot come. */
const QUIET_ENV = { PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', TERM: 'dumb' }

/**
 * Runs shell commands in the workspace. A `write` that touches everything, so it runs alone (C6), and that asks a person first.
 * The border of the workspace binds `cwd`, not the command: what a command may reach is for its approval, or for a sandbox.
 */
export function shellTool(workspace: Workspace, options: ShellOptions): Tool {
  const { timeoutMaxMs = TIMEOUT_MAX_MS, approval = 'ask', locale = 'en' } = options
  const defaultMs = Math.min(TIMEOUT_DEFAULT_MS, timeoutMaxMs)
  return tool<ShellArgs>({
    name: 'shell',
    description:
      'Run a command in the shell of the workspace. It gets no input, and every process that it starts is stopped when it ends. ' +
      'Gives stdout and stderr together and the exit code.',
    effect: 'write',
    timeoutMs: timeoutMaxMs + GRACE_MS + MARGIN_MS,
    input: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        cwd: { type: 'string', description: 'A folder of the workspace to run in; default the workspace' },
        timeout_seconds: {
          type: 'number',
          exclusiveMinimum: 0,
          description: `Default ${defaultMs / 1000}, at most ${timeoutMaxMs / 1000}`,
        },
      },
      required: ['command'],
      additionalProperties: false,
    },
    approval: ({ command }) => {
      const answer = typeof approval === 'function' ? approval(command) : approval === 'ask'
      return answer === true ? askToRun(command, locale) : answer
    },
    run: refusing(async (args, context) => {
      const timeoutMs = Math.min((args.timeout_seconds ?? defaultMs / 1000) * 1000, timeoutMaxMs)
      return report(await run(workspace, options, { args, context, timeoutMs }), options.survivors ?? 'kill')
    }),
  })
}

interface Command {
  readonly args: ShellArgs
  readonly context: ToolContext
  readonly timeoutMs: number
}

async function run(workspace: Workspace, options: ShellOptions, command: Command): Promise<ProcessResult> {
  const { args, context, timeoutMs } = command
  const place = workspace.resolve(args.cwd ?? '.')
  if (place.stats?.isDirectory() !== true) throw new Refusal('not-a-folder', `There is no folder "${place.shown}".`)
  const { shells = ['bash', 'sh'], hideEnv = (name) => name.endsWith('_API_KEY') } = options
  for (const file of shells) {
    const result = await options.runProcess({
      file,
      args: ['-c', args.command],
      cwd: place.real,
      env: { ...QUIET_ENV, ...options.env },
      hideEnv,
      clock: context.clock,
      signal: context.signal,
      timeoutMs,
      graceMs: GRACE_MS,
      survivors: options.survivors ?? 'kill',
      onProgress: (line) => context.progress(line),
    })
    if (result.end.kind !== 'failed' || result.end.code !== 'ENOENT') return result
  }
  throw new Refusal('no-shell', `None of these shells is installed: ${shells.join(', ')}. Tell the user.`)
}

function report(result: ProcessResult, policy: 'kill' | 'keep'): ToolResult {
  const { end, output } = result
  const footer = [endText(end), ...leftText(result, policy)].join('\n')
  if (end.kind === 'exited' || end.kind === 'signalled')
    return { content: output.text === '' ? '(no output)' : output.text, footer, data: dataOf(result) }
  const code = end.kind === 'failed' ? 'failed' : end.kind
  return { error: { code, message: output.text || '(no output)', footer } }
}

function endText(end: ProcessEnd): string {
  switch (end.kind) {
    case 'exited':
      return `exit code ${end.code}`
    case 'signalled':
      return `killed by ${end.signal}`
    case 'timeout':
      return `timed out after ${end.afterMs / 1000} s and was stopped; what it had done by then stands`
    case 'aborted':
      return 'aborted and stopped; what it had done by then stands'
    case 'failed':
      return `could not be started: ${end.message}`
  }
}

function leftText({ survivors, unreaped }: ProcessResult, policy: 'kill' | 'keep'): string[] {
  const texts: string[] = []
  const fate = policy === 'keep' ? 'left running' : 'still running when the command ended, and stopped'
  if (survivors.length > 0) texts.push(`${fate}: ${list(survivors)}`)
  if (unreaped.length > 0) texts.push(`could not be stopped: ${list(unreaped)}`)
  return texts
}

const LISTED_MAX = 10

function list(found: readonly FoundProcess[]): string {
  const shown = found.slice(0, LISTED_MAX).map(({ pid, command }) => `${pid} (${command})`)
  return found.length > LISTED_MAX ? `${shown.join(', ')} and ${found.length - LISTED_MAX} more` : shown.join(', ')
}

function dataOf({ end, output, survivors }: ProcessResult): Json {
  return {
    exitCode: end.kind === 'exited' ? end.code : null,
    signal: end.kind === 'signalled' ? end.signal : null,
    survivors: survivors.map(({ pid }) => pid),
    omittedBytes: output.omitted.bytes,
  }
}
