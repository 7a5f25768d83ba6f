/** An agent as it is written, and as the runtime holds it: defaults filled, plugins loaded, content hashed. */
import type { LoopSettings, Loop } from '../../kernel/effects.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import type { EpochContent, StepLimitPolicy, ToolSpec, TurnLimits } from '../../kernel/events.ts'
import { canonicalJson, isPlainObject } from '../../util/json.ts'
import { refuseUnknown } from '../borders.ts'
import { PluginHost, type Emit } from './plugin-host.ts'
import type { Plugin } from './plugin.ts'
import type { Ids, Model } from '../ports.ts'
import { quoted } from '../../util/text.ts'
import type { Tool } from './tool.ts'

/** An agent as it is declared: a model, what it is told, what it may do, and its bounds. */
export interface AgentSpec {
  /** Default `agent`. Recorded in the log. */
  readonly name?: string
  /** `provider/model`, or a model of your own. */
  readonly model: string | Model
  /** The system text, before the plugins' sections. */
  readonly instructions?: string
  /** Beside those of its plugins. Default none. */
  readonly tools?: readonly Tool[]
  /** Loaded in this order, for this agent alone. Default none. */
  readonly plugins?: readonly Plugin[]
  /** What decides what happens next. Default `react`. */
  readonly loop?: Loop
  readonly limits?: AgentLimits
}

/** Bounds and policies. Every one has a default; the defaults are those of CONTRACT.md. */
export interface AgentLimits {
  /** Model calls with their tools that one turn may have (T4). Default 15. */
  readonly steps?: number
  /** What happens at the step limit (T4). Default `summary`. */
  readonly atSteps?: StepLimitPolicy
  /** How often hooks may keep one turn from ending; at the bound it ends `veto-capped` (T5). Default 3. */
  readonly vetoes?: number
  /** Attempts of one model call, the first included; after the last the turn ends with its failure (T10). Default 4. */
  readonly attempts?: number
  /** Milliseconds that the calls of an aborted turn get to end; what then still runs is `unknown` (T7). Default 5,000. */
  readonly graceMs?: number
  /**
   * Milliseconds that a session may have been down; after more of them a call that was asked for and never started is not run any
   * more but answered `not-started`, and the model asks for it again if it still wants it (C4). Default 600,000.
   */
  readonly staleAfterMs?: number
  /** Starts of a repeatable call across crashes, the first included; at the bound it ends `unknown` (C4). Default 3. */
  readonly starts?: number
  /** Steps in a row that are cut at the output limit with calls in them; at the bound the turn ends `max-tokens` (C8). Default 3. */
  readonly cuts?: number
  /** Calls that run at once (C6). Default 8. */
  readonly pool?: number
  /** Followups that enter at the start of a turn: the oldest one, or all that are pending (I3). Default `one`. */
  readonly followups?: 'one' | 'all'
  /** Whether the queue waits for new input or `resume` after a turn that did not complete, or goes on (I11). Default `hold`. */
  readonly afterFailure?: 'hold' | 'continue'
}

/** Declares an agent. Throws `config-invalid` on what can be seen to be wrong now. */
export function agent(spec: AgentSpec): AgentSpec {
  if (!isPlainObject(spec)) throw misfit('an agent', spec, 'an object with `model`')
  refuseUnknown(spec, FIELDS, 'agent')
  for (const [name, { fits, wanted }] of Object.entries(FIELDS)) {
    const value = spec[name as keyof AgentSpec]
    if ((value !== undefined || name === 'model') && !fits(value)) throw misfit(name, value, wanted)
  }
  const names = new Set<string>()
  for (const tool of spec.tools ?? []) {
    if (names.has(tool.name))
      throw new TurnstepError('config-invalid', `two tools are named "${tool.name}"; rename one`)
    names.add(tool.name)
  }
  checkLimits(spec.limits ?? {})
  return spec
}

/** What each field may be. The types say the same; this is for those who have none. */
const FIELDS: {
  readonly [Name in keyof AgentSpec]-?: { readonly fits: (value: unknown) => boolean; readonly wanted: string }
} = {
  name: { fits: isName, wanted: 'a text that is not empty' },
  model: { fits: (value) => isName(value) || hasFunction(value, 'stream'), wanted: '"provider/model" or a Model' },
  instructions: { fits: (value) => typeof value === 'string', wanted: 'a text' },
  tools: {
    fits: (value) => isListOf(value, (one) => hasFunction(one, 'run') && hasFunction(one, 'validate')),
    wanted: 'a list of what `tool()` makes',
  },
  plugins: {
    fits: (value) => isListOf(value, (one) => hasFunction(one, 'setup')),
    wanted: 'a list of plugins, each with `name` and `setup`',
  },
  loop: { fits: (value) => hasFunction(value, 'next'), wanted: 'a loop, with `name` and `next`' },
  limits: { fits: isPlainObject, wanted: 'an object' },
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isListOf(value: unknown, fits: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => fits(one) && isName((one as { readonly name?: unknown }).name))
}

function hasFunction(value: unknown, name: string): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly [key: string]: unknown })[name] === 'function'
  )
}

function misfit(what: string, value: unknown, wanted: string): TurnstepError {
  const shown = typeof value === 'number' || typeof value === 'bigint' ? String(value) : quoted(value)
  return new TurnstepError('config-invalid', `${what} is ${shown}; give ${wanted}`)
}

/** What each limit may be: a whole number from so much up, or one of these words. */
const LIMITS: { readonly [Name in keyof AgentLimits]-?: number | readonly string[] } = {
  steps: 1,
  atSteps: ['error', 'summary', 'handback', 'ask'],
  vetoes: 0,
  attempts: 1,
  graceMs: 0,
  staleAfterMs: 0,
  starts: 1,
  cuts: 1,
  pool: 1,
  followups: ['one', 'all'],
  afterFailure: ['hold', 'continue'],
}

function checkLimits(limits: AgentLimits): void {
  refuseUnknown(limits, LIMITS, 'limits')
  for (const [name, rule] of Object.entries(LIMITS)) {
    const value = limits[name as keyof AgentLimits]
    if (value === undefined) continue
    const fits =
      typeof rule === 'number'
        ? Number.isSafeInteger(value) && Number(value) >= rule
        : typeof value === 'string' && rule.includes(value)
    if (!fits)
      throw misfit(
        `limits.${name}`,
        value,
        typeof rule === 'number' ? `a whole number from ${rule} up` : `one of ${rule.join(', ')}`,
      )
  }
}

export interface AgentSettings extends LoopSettings {
  readonly graceMs: number
  readonly followups: 'one' | 'all'
  readonly turn: TurnLimits
}

/** An agent with its plugins loaded: what a runner works with. */
export class LiveAgent {
  readonly name: string
  readonly model: Model
  readonly loop: Loop
  readonly settings: AgentSettings
  readonly plugins: PluginHost
  readonly #instructions: string
  readonly #own: readonly Tool[]
  readonly #ids: Ids
  #seen = -1
  #preparedAt = -1
  #tools = new Map<string, Tool>()
  #content: EpochContent | null = null

  constructor(
    spec: AgentSpec,
    options: {
      readonly model: Model
      readonly loop: Loop
      readonly parent: PluginHost
      readonly emit: Emit
      readonly ids: Ids
    },
  ) {
    this.name = spec.name ?? 'agent'
    this.model = options.model
    this.loop = options.loop
    this.settings = settingsOf(spec.limits ?? {})
    this.plugins = new PluginHost({ parent: options.parent, emit: options.emit })
    this.#instructions = spec.instructions ?? ''
    this.#own = spec.tools ?? []
    this.#ids = options.ids
    for (const plugin of spec.plugins ?? []) this.plugins.load(plugin)
  }

  get tools(): ReadonlyMap<string, Tool> {
    this.#refresh()
    return this.#tools
  }

  /** While the model is at work for the first time, its tools load what their first call will need. */
  prepareTools(): void {
    if (this.#preparedAt === this.#seen) return
    this.#preparedAt = this.#seen
    for (const tool of this.#tools.values()) prepare(tool)
  }

  /** System text, tools and model, and the hash that names them (X1). Computed again only when plugins came or went. */
  get content(): EpochContent {
    this.#refresh()
    return this.#content!
  }

  #refresh(): void {
    const { version } = this.plugins
    if (version === this.#seen) return
    this.#tools = toolsByName(this.#own, this.plugins.tools())
    this.#content = this.#describe()
    // Last: what throws, throws again for whoever looks next, until it is right.
    this.#seen = version
  }

  #describe(): EpochContent {
    const texts = [this.#instructions, ...this.plugins.sections().map((section) => section.text())]
    const system = texts.filter((text) => text.trim() !== '').join('\n\n')
    const tools: ToolSpec[] = [...this.#tools.values()].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }))
    const { route } = this.model
    return { system, tools, route, hash: this.#ids.sha256(canonicalJson({ system, tools, route })) }
  }
}

/** What a tool fails to load early, its first call loads, or fails of. */
function prepare(tool: Tool): void {
  try {
    tool.prepare?.()
  } catch {}
}

function toolsByName(own: readonly Tool[], plugins: readonly Tool[]): Map<string, Tool> {
  const tools = new Map(own.map((tool) => [tool.name, tool]))
  for (const tool of plugins) {
    if (tools.has(tool.name))
      throw new TurnstepError(
        'plugin-invalid',
        `a plugin brings a tool "${tool.name}", and there is one of that name already; rename one of them`,
      )
    tools.set(tool.name, tool)
  }
  return tools
}

function settingsOf(limits: AgentLimits): AgentSettings {
  return {
    attemptsMax: limits.attempts ?? 4,
    staleAfterMs: limits.staleAfterMs ?? 600_000,
    startsMax: limits.starts ?? 3,
    cutsMax: limits.cuts ?? 3,
    poolSize: limits.pool ?? 8,
    afterFailure: limits.afterFailure ?? 'hold',
    graceMs: limits.graceMs ?? 5_000,
    followups: limits.followups ?? 'one',
    turn: { steps: limits.steps ?? 15, stepPolicy: limits.atSteps ?? 'summary', vetoes: limits.vetoes ?? 3 },
  }
}
