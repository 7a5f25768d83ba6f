/** Tools whose bodies do what a test says, and remember each time that they ran. */
import { z } from 'zod'
import type { EffectClass, GuardMode, ResourceUse } from '../../src/kernel/events.ts'
import { tool } from '../../src/runtime/define/define-tool.ts'
import { defer, type Args, type Tool, type ToolContext, type ToolResult } from '../../src/runtime/define/tool.ts'
import { deferred } from '../../src/util/deferred.ts'

/** What a body does: at once, when it is told to, or never before it is settled by hand. */
export type Behaviour =
  | {
      readonly kind: 'returns' | 'throws' | 'retryable' | 'defers'
      readonly text: string
      readonly expiresInMs?: number
    }
  /** Waits to be settled; `obeys`: or ends with its signal. */
  | { readonly kind: 'hangs' | 'obeys' }

export interface ToolSetup {
  readonly effect?: EffectClass
  readonly timeoutMs?: number
  readonly approval?: boolean
  readonly guard?: GuardMode
  readonly resources?: readonly ResourceUse[]
  /** A text argument of this name is required. */
  readonly needs?: string
  /** What `reconcile` finds out; null: nothing. Absent: it cannot be asked. */
  readonly reconcile?: string | null
}

/** One run of a body. */
export interface BodyRun {
  readonly tool: string
  readonly call: string
  readonly fence: number
  readonly key: string
  readonly args: Args
  settled: boolean
  settle(end: Exclude<Behaviour, { kind: 'hangs' | 'obeys' }>): void
}

export interface ToolWatch {
  /** What a body does, if the tool's own behaviour is not to say. */
  readonly choose?: (tool: string) => Behaviour | null
  /** A body begins. */
  readonly began?: (run: BodyRun) => void
  /** Its signal aborts while it runs. */
  readonly told?: (run: BodyRun) => void
}

export class Tools {
  readonly runs: BodyRun[] = []
  readonly #watch: ToolWatch
  readonly #behaviours = new Map<string, Behaviour>()
  readonly #tools = new Map<string, Tool>()

  constructor(watch: ToolWatch = {}) {
    this.#watch = watch
  }

  get all(): Tool[] {
    return [...this.#tools.values()]
  }

  add(name: string, behaviour: Behaviour, setup: ToolSetup = {}): Tool {
    const { needs, reconcile, resources, ...rest } = setup
    const made = tool<Args>({
      name,
      description: `the tool ${name}`,
      input: (needs === undefined ? z.looseObject({}) : z.looseObject({ [needs]: z.string() })) as never,
      ...rest,
      ...(resources === undefined ? {} : { resources: () => resources }),
      ...(reconcile === undefined ? {} : { reconcile: () => reconcile }),
      run: (args, context) => this.#run(name, args, context),
    })
    this.#behaviours.set(name, behaviour)
    this.#tools.set(name, made)
    return made
  }

  has(name: string): boolean {
    return this.#tools.has(name)
  }

  remove(name: string): void {
    this.#tools.delete(name)
  }

  /** What its bodies do from now on. */
  behave(name: string, behaviour: Behaviour): void {
    this.#behaviours.set(name, behaviour)
  }

  behaveAll(behaviour: Behaviour): void {
    for (const name of this.#tools.keys()) this.behave(name, behaviour)
  }

  /** The oldest run of a tool that is not settled. */
  hanging(name: string): BodyRun {
    const run = this.runs.find((one) => one.tool === name && !one.settled)
    if (run === undefined) throw new Error(`no body of ${name} hangs`)
    return run
  }

  #run(name: string, args: Args, { call, fence, idempotencyKey: key, signal }: ToolContext): Promise<ToolResult> {
    const end = deferred<ToolResult>()
    const run: BodyRun = {
      tool: name,
      call,
      fence,
      key,
      args,
      settled: false,
      settle: (how) => {
        run.settled = true
        if (how.kind === 'throws') end.reject(new Error(how.text))
        else end.resolve(resultOf(how))
      },
    }
    this.runs.push(run)
    this.#watch.began?.(run)
    const behaviour = this.#watch.choose?.(name) ?? this.#behaviours.get(name)!
    if ('text' in behaviour) run.settle(behaviour)
    else signal.addEventListener('abort', () => this.#tell(run, behaviour.kind), { once: true })
    return end.promise
  }

  #tell(run: BodyRun, kind: 'hangs' | 'obeys'): void {
    if (run.settled) return
    this.#watch.told?.(run)
    if (kind === 'obeys') run.settle({ kind: 'throws', text: 'stopped by the signal' })
  }
}

function resultOf({ kind, text, expiresInMs }: Exclude<Behaviour, { kind: 'hangs' | 'obeys' }>): ToolResult {
  if (kind === 'defers') return defer(text, expiresInMs === undefined ? {} : { expiresInMs })
  if (kind === 'retryable') return { error: { code: 'busy', message: text, retryable: true } }
  return text
}
