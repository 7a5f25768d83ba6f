/** Wraps every tool of an agent, those of its plugins too, so that each body is witnessed from outside, and can be hit. */
import type { AgentSpec } from '../../runtime/define/agent.ts'
import type { Plugin } from '../../runtime/define/plugin.ts'
import type { Args, Tool, ToolContext, ToolResult } from '../../runtime/define/tool.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { Hits } from './hits.ts'
import type { Journal, SeenTool } from './journal.ts'

export interface BodiesOptions {
  readonly journal: Journal
  readonly hits: Hits
  readonly clock: Clock
  /** How often the bodies of each call began in earlier processes of the run. */
  readonly begun: ReadonlyMap<string, number>
  /** Before the nth body of this process. */
  readonly onBody: (nth: number) => Promise<void>
  /** A body is at work, and its turn or its process is to be told to stop. */
  readonly onStop: (how: 'abort' | 'stop') => void
}

export class Bodies {
  readonly #options: BodiesOptions
  readonly #begun: Map<string, number>
  readonly #tools = new Map<string, SeenTool>()
  readonly #atWork = new Set<string>()
  #count = 0

  constructor(options: BodiesOptions) {
    this.#options = options
    this.#begun = new Map(options.begun)
  }

  /** The tools that were wrapped so far. */
  get tools(): readonly SeenTool[] {
    return [...this.#tools.values()]
  }

  /** Calls whose bodies have not come back. */
  get atWork(): ReadonlySet<string> {
    return this.#atWork
  }

  wrapAgent(spec: AgentSpec): AgentSpec {
    return {
      ...spec,
      tools: (spec.tools ?? []).map((tool) => this.#wrap(tool)),
      plugins: (spec.plugins ?? []).map((plugin) => this.#wrapPlugin(plugin)),
    }
  }

  #wrapPlugin(plugin: Plugin): Plugin {
    const setup: Plugin['setup'] = (scope) => plugin.setup({ ...scope, tool: (tool) => scope.tool(this.#wrap(tool)) })
    return { name: plugin.name, setup }
  }

  #wrap(tool: Tool): Tool {
    const { name, effect, reconcile } = tool
    this.#tools.set(name, { name, effect })
    return {
      ...tool,
      run: (args, context) => this.#run(tool, args, context),
      reconcile:
        reconcile === null || reconcile === undefined
          ? null
          : async (key, context) => {
              const found = await reconcile(key, context)
              this.#options.journal.write({ what: 'reconciled', call: context.call, key, known: found !== null })
              return found
            },
    }
  }

  async #run(tool: Tool, args: Args, context: ToolContext): Promise<ToolResult> {
    const { journal, hits, clock, onBody } = this.#options
    const { call, idempotencyKey: key, fence } = context
    const { name, effect } = tool
    const attempt = (this.#begun.get(call) ?? 0) + 1
    this.#begun.set(call, attempt)
    this.#atWork.add(call)
    journal.write({ what: 'begun', call, tool: name, effect, key, fence, attempt, args })
    const nth = hits.pass(`begun/${name}`)
    await onBody(++this.#count)
    const startedAt = clock.now()
    let how: 'returned' | 'threw' = 'threw'
    let waited = false
    let disarm = (): void => {}
    try {
      const result = tool.run(args, context)
      waited = isThenable(result)
      if (waited) disarm = this.#arm(name, nth)
      const value = await result
      how = 'returned'
      return value
    } finally {
      disarm()
      const ms = clock.now() - startedAt
      journal.write({ what: 'ended', call, how, ms })
      this.#atWork.delete(call)
      if (waited) journal.write({ what: 'inside', tool: name, nth, ms })
      hits.pass(`ended/${name}`)
    }
  }

  /** Hits the body while it is at work, if that was ordered. The answer takes it back. */
  #arm(tool: string, nth: number): () => void {
    const { hits, clock, onStop } = this.#options
    const how = (['inside', 'abort', 'stop'] as const).find((place) => hits.isAt(`${place}/${tool}/${nth}`))
    if (how === undefined) return () => {}
    const hit = (): void => {
      if (how === 'inside') return hits.kill()
      hits.note()
      onStop(how)
    }
    if (hits.insideMs > 0) return clock.after(hits.insideMs, hit)
    hit()
    return () => {}
  }
}

function isThenable(value: unknown): boolean {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
