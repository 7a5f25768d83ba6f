/** How `grep` searches: with ripgrep, or by reading the files. Loaded with the first pattern. */
import type { ToolContext, ToolResult } from '../../runtime/define/tool.ts'
import type { RunProcess } from '../../runtime/processes.ts'
import { Refusal } from '../refusal.ts'
import type { Workspace } from '../workspace.ts'
import { MATCHES_DEFAULT, TIMEOUT_MS } from './limits.ts'
import { Findings } from './lines.ts'
import type { Query } from './lines.ts'
import { ripgrep } from './ripgrep.ts'
import { scan } from './scan.ts'

/** What a model says of a search. */
export interface GrepArgs {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly literal?: boolean
  readonly ignore_case?: boolean
  readonly context?: number
  readonly max_matches?: number
  readonly include_ignored?: boolean
}

/** How it is searched. */
export interface GrepOptions {
  /** With it ripgrep is used where it is installed; without, files are read here. */
  readonly runProcess?: RunProcess
  /** Default `rg`, as the PATH has it. */
  readonly ripgrep?: string
}

/** Where is searched, by what, and for whom. */
export interface Where {
  readonly workspace: Workspace
  readonly options: GrepOptions
  readonly context: ToolContext
}

/** What matches, as `path:line:text`. Refuses a place that is not there, and a pattern that is none. */
export async function search(args: GrepArgs, where: Where): Promise<ToolResult> {
  const query = queryOf(where.workspace, args)
  const findings = new Findings(query)
  await collect(query, findings, where)
  return show(findings, args)
}

async function collect(query: Query, findings: Findings, { workspace, options, context }: Where): Promise<void> {
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
