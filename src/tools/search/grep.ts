/** The tool `grep`: lines by a regular expression. */
import { tool } from '../../runtime/define/define-tool.ts'
import type { RunProcess } from '../../runtime/processes.ts'
import type { Tool, ToolContext, ToolResult } from '../../runtime/define/tool.ts'
import { Refusal, refusing } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import { Findings } from './lines.ts'
import type { Query } from './lines.ts'
import { ripgrep } from './ripgrep.ts'
import { scan } from './scan.ts'

interface GrepArgs {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly literal?: boolean
  readonly ignore_case?: boolean
  readonly context?: number
  readonly max_matches?: number
  readonly include_ignored?: boolean
}

interface GrepOptions {
  /** With it ripgrep is used where it is installed; without, files are read here. */
  readonly runProcess?: RunProcess
  /** Default `rg`, as the PATH has it. */
  readonly ripgrep?: string
}

const TIMEOUT_MS = 60_000
const MATCHES_DEFAULT = 100
const MATCHES_MAX = 500

/** Searches the workspace. Declares a read of everything, as `list_files` does. */
export function grepTool(workspace: Workspace, options: GrepOptions = {}): Tool {
  return tool<GrepArgs>({
    name: 'grep',
    description:
      'Search the files of the workspace line by line for a regular expression. Gives path:line:text for matches and ' +
      'path-line-text for context. Leaves out binary files, .git and what .gitignore names.',
    effect: 'read',
    timeoutMs: TIMEOUT_MS,
    input: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 2000,
          description: 'A regular expression; matched per line',
        },
        path: { type: 'string', description: 'A file or folder; default the workspace' },
        glob: { type: 'string', minLength: 1, maxLength: 1000, description: 'Only files like this, such as *.ts' },
        literal: { type: 'boolean', description: 'Take the pattern as plain text; default false' },
        ignore_case: { type: 'boolean', description: 'Default false' },
        context: { type: 'integer', minimum: 0, maximum: 20, description: 'Lines before and after; default 0' },
        max_matches: { type: 'integer', minimum: 1, maximum: MATCHES_MAX, description: `Default ${MATCHES_DEFAULT}` },
        include_ignored: { type: 'boolean', description: 'Also what .gitignore names; default false' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    run: refusing(async (args, context) => {
      const query = queryOf(workspace, args)
      const findings = new Findings(query)
      await search(query, findings, { workspace, options, context })
      return show(findings, args)
    }),
  })
}

interface Where {
  readonly workspace: Workspace
  readonly options: GrepOptions
  readonly context: ToolContext
}

async function search(query: Query, findings: Findings, { workspace, options, context }: Where): Promise<void> {
  const { clock, signal } = context
  const { runProcess, ripgrep: file = 'rg' } = options
  if (runProcess !== undefined) {
    const how = await ripgrep(query, findings, {
      runProcess,
      file,
      clock,
      signal,
      timeoutMs: TIMEOUT_MS / 2,
    })
    if (how === 'done') return
  }
  await scan(query, findings, { workspace, clock, signal })
}

function queryOf(workspace: Workspace, args: GrepArgs): Query {
  const place = workspace.resolve(args.path ?? '.')
  if (place.stats === null) throw new Refusal('missing', `There is no "${place.shown}" in the workspace.`)
  return {
    pattern: args.pattern,
    literal: args.literal === true,
    ignoreCase: args.ignore_case === true,
    place,
    glob: args.glob ?? null,
    context: args.context ?? 0,
    ignored: args.include_ignored === true,
    matchesMax: args.max_matches ?? MATCHES_DEFAULT,
  }
}

function show(findings: Findings, { pattern }: GrepArgs): ToolResult {
  const { matches, more, text } = findings
  return {
    content: matches === 0 ? `No line matches ${pattern}.` : text,
    data: { matches, more },
    ...(more && { footer: `[the first ${matches} matches; narrow the pattern, the path or the glob]` }),
  }
}
