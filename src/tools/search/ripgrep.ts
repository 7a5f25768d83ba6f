/** Searches with ripgrep, where it is installed: quicker by far in a large workspace. */
import { basename, dirname } from 'node:path'
import type { Clock } from '../../runtime/ports.ts'
import type { RunProcess } from '../../runtime/processes.ts'
import { AbortScope } from '../../util/signal.ts'
import { SEARCHED_BYTES_MAX } from './lines.ts'
import type { Findings, FoundLine, Query } from './lines.ts'

interface Ripgrep {
  readonly runProcess: RunProcess
  /** The program: a name on the PATH, or its path. */
  readonly file: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/**
 * Puts what matches into `findings`. `unusable`: it is not installed, or does not know the pattern; nothing was found by it.
 */
export async function ripgrep(query: Query, findings: Findings, options: Ripgrep): Promise<'done' | 'unusable'> {
  const { runProcess, clock, file, timeoutMs } = options
  const { cwd, path, prefix } = whereOf(query)
  const enough = new AbortScope(options.signal)
  let rest = ''
  const onOutput = (text: string, stream: 'stdout' | 'stderr'): void => {
    if (stream === 'stderr' || findings.more) return
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) addLine(line, prefix, findings)
    if (findings.more) enough.abort()
  }
  try {
    const { end } = await runProcess({
      file,
      args: [...argsOf(query), '--', path],
      cwd,
      clock,
      signal: enough.signal,
      timeoutMs,
      onOutput,
    })
    options.signal.throwIfAborted()
    // Exit 2 with lines is a file that could not be read; without any it is the pattern, or the arguments.
    const isRefused = end.kind === 'failed' || (end.kind === 'exited' && end.code === 2 && findings.matches === 0)
    if (isRefused) return 'unusable'
    findings.more ||= end.kind === 'timeout'
    return 'done'
  } finally {
    enough.leave()
  }
}

function argsOf({ pattern, literal, ignoreCase, glob, context, ignored }: Query): readonly string[] {
  return [
    '--no-config',
    ...[
      '--line-number',
      '--column',
      '--with-filename',
      '--null',
      '--no-heading',
      '--color=never',
      '--no-messages',
      '--crlf',
    ],
    ...['--hidden', '--no-require-git', '--no-ignore-dot', '--no-ignore-global', '--no-ignore-exclude'],
    '--sort=path',
    `--max-filesize=${SEARCHED_BYTES_MAX}`,
    ...['--max-columns=20000', '--max-columns-preview'],
    `--context=${context}`,
    ...(ignored ? ['--no-ignore'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(literal ? ['--fixed-strings'] : []),
    ...(glob === null ? [] : [`--glob=${glob}`]),
    '--glob=!.git',
    `--regexp=${pattern}`,
  ]
}

/** Run where the search starts, so that the glob is relative to that. */
function whereOf({ place }: Query): { readonly cwd: string; readonly path: string; readonly prefix: string } {
  const isFile = place.stats?.isFile() === true
  const shown = isFile ? dirname(place.shown) : place.shown
  return {
    cwd: isFile ? dirname(place.real) : place.real,
    path: isFile ? `./${basename(place.real)}` : './',
    prefix: shown === '.' ? '' : `${shown}/`,
  }
}

/** `path NUL line:column:text` for a match, `path NUL line-text` for context. Other lines say what was skipped. */
function addLine(line: string, prefix: string, findings: Findings): void {
  const parsed = /^([^\0]*)\0(\d+)(?::(\d+):|-)(.*)$/s.exec(line)
  if (parsed === null) return
  const [, path, number, column, text] = parsed as unknown as [string, string, string, string | undefined, string]
  const found: FoundLine = {
    path: prefix + path.replace(/^\.\//, ''),
    line: Number(number),
    text: text.endsWith('\r') ? text.slice(0, -1) : text,
    // Columns are counted in bytes.
    at:
      column === undefined
        ? null
        : Buffer.from(text)
            .subarray(0, Number(column) - 1)
            .toString().length,
  }
  findings.add(found)
}
