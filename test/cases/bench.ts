/**
 * What the field cases run on: a harness on a store of its own, a clock that stands still, and a model that takes no illegal
 * request. Everything opened here is closed after the test, and the test fails if something is still alive then.
 */
import { afterEach, beforeAll, expect } from 'vitest'
import { nodeIds } from '../../src/host/node.ts'
import type { Event, EventOf, EventType } from '../../src/kernel/events.ts'
import type { Message, Messages } from '../../src/kernel/message.ts'
import { textOf } from '../../src/kernel/message.ts'
import { TranscriptCheck } from '../../src/kernel/transcript.ts'
import type { Script, ScriptedModel, ScriptedOptions } from '../../src/models/scripted/index.ts'
import { scriptedModel } from '../../src/models/scripted/index.ts'
import { react } from '../../src/plugins/react/react.ts'
import type { AgentLimits, AgentSpec } from '../../src/runtime/define/agent.ts'
import { agent } from '../../src/runtime/define/agent.ts'
import { tool } from '../../src/runtime/define/define-tool.ts'
import type { HarnessOptions, HarnessPorts } from '../../src/runtime/session/harness.ts'
import { Harness } from '../../src/runtime/session/harness.ts'
import type { Hooks, Plugin } from '../../src/runtime/define/plugin.ts'
import type { Ids, Model, ModelChunk, ModelRequest, Store } from '../../src/runtime/ports.ts'
import type { SessionHandle } from '../../src/runtime/session.ts'
import type { SyncPoint, SyncPoints } from '../../src/runtime/sync-points.ts'
import type { Args, Tool, ToolContext, ToolDefinition, ToolResult } from '../../src/runtime/define/tool.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { overStore } from '../../src/stores/over-store.ts'
import { drainMicrotasks, FakeClock } from '../../src/testing/fake-clock.ts'
import { deferred } from '../../src/util/deferred.ts'

export interface BenchOptions extends HarnessOptions, Partial<Pick<HarnessPorts, 'sync' | 'owner'>> {}

/** Harnesses on one store: each stands for a process. */
export class Bench {
  readonly clock: FakeClock
  readonly ids: Ids
  readonly store: Store
  /** Faults that were nobody's outcome. */
  readonly errors: Error[] = []
  readonly #harnesses: Harness[] = []

  /** `name` begins the ids that are made here: an id is used once per log, so those who share a log must differ in it. */
  constructor(store?: Store, clock = new FakeClock(), name = store === undefined ? 'id' : 'other') {
    this.clock = clock
    this.ids = countingIds(name)
    this.store = store ?? memoryStore({ clock: this.clock })
  }

  /** Another process on the same store. It does not close the store. */
  harness(options: BenchOptions = {}): Harness {
    const { clock, ids } = this
    const harness = new Harness(
      {
        store: unclosed(this.store),
        clock,
        ids,
        random: { next: () => 0.5 },
        loop: react,
        owner: options.owner ?? `process ${this.#harnesses.length + 1}`,
        resolveModel: (name) => {
          throw new Error(`no model string here: ${name}`)
        },
        ...(options.sync === undefined ? {} : { sync: options.sync }),
      },
      { onError: (error) => this.errors.push(error), ...options },
    )
    this.#harnesses.push(harness)
    return harness
  }

  /** Moves the clock on in steps until `until` holds; fails after two minutes of it. */
  async run(until: () => boolean | Promise<boolean>, stepMs = 100): Promise<void> {
    for (let moved = 0; !(await until()); moved += stepMs) {
      if (moved > 120_000) throw new Error('what was waited for did not come within two minutes of the clock')
      await this.clock.advance(stepMs)
    }
  }

  /** Awaits a promise while the clock moves on. */
  async settle<T>(promise: Promise<T>, stepMs = 100): Promise<T> {
    let done = false
    const settled = promise.finally(() => (done = true))
    settled.catch(() => {})
    await this.run(() => done, stepMs)
    return settled
  }

  async close(): Promise<void> {
    for (const harness of this.#harnesses) await this.settle(harness.close(), 1_000)
    await this.store.close()
    await drainMicrotasks()
  }

  /** Once all on the same clock are closed. */
  proveReleased(): void {
    expect(this.#harnesses.map((harness) => harness.alive)).toEqual(
      this.#harnesses.map(() => ({ drivers: 0, listeners: 0 })),
    )
    expect(this.clock.armed, 'timers left behind').toBe(0)
  }
}

/** Makes benches for the tests of a file. */
export function useBenches(): (store?: Store, clock?: FakeClock, name?: string) => Bench {
  const open: Bench[] = []
  // What is loaded when it is first needed takes real time, of which a clock that stands still knows nothing.
  beforeAll(async () => void (await toolOf('first', () => '').validate({})))
  afterEach(async () => {
    const closing = open.splice(0)
    for (const bench of closing) await bench.close()
    for (const bench of closing) bench.proveReleased()
  })
  return (store, clock, name) => {
    const bench = new Bench(store, clock, name)
    open.push(bench)
    return bench
  }
}

/** Ids that sort as they were made. */
function countingIds(prefix: string): Ids {
  let n = 0
  return { next: () => `${prefix}-${String(++n).padStart(6, '0')}`, sha256: (text) => nodeIds.sha256(text) }
}

/** The same store, which outlives the harness that was given it. */
export function unclosed(store: Store): Store {
  return overStore(store, { close: async () => {} })
}

// ── agents ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface AgentParts {
  readonly tools?: readonly Tool[]
  readonly plugins?: readonly Plugin[]
  readonly limits?: AgentLimits
  readonly instructions?: string
}

export function agentOf(model: Model, parts: AgentParts = {}): AgentSpec {
  return agent({ model, ...parts })
}

/** A scripted model behind the strictest endpoint: it refuses what any wire would, and counts it. */
export interface StrictModel extends ScriptedModel {
  readonly refusals: readonly string[]
}

export function strictModel(script: Script, options: ScriptedOptions = {}): StrictModel {
  const inner = scriptedModel(script, options)
  const refusals: string[] = []
  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk> => {
    const refusal = refusalOf(request)
    if (refusal === null) return inner.stream(request, signal)
    refusals.push(refusal)
    return refused(refusal)
  }
  return { ...inner, refusals, stream, verify: () => inner.verify() }
}

/** Why a strict endpoint would not take it: pairing, order, empty parts, arguments that are no object, broken Unicode. */
export function refusalOf(request: ModelRequest): string | null {
  const fault = new TranscriptCheck().check(request.messages, [])
  if (fault !== null) return `message ${fault.at}: ${fault.problem}`
  const names = request.tools.map((one) => one.name)
  if (new Set(names).size !== names.length) return 'a tool is listed twice'
  const used = [...request.messages].some((message) => message.role === 'assistant' && message.calls.length > 0)
  if (used && names.length === 0) return 'calls without tools'
  return /\p{Surrogate}/u.test(textsOf(request)) ? 'half a surrogate pair' : null
}

function textsOf(request: ModelRequest): string {
  const texts: string[] = [request.system]
  JSON.stringify([...request.messages], (_key, value: unknown) => {
    if (typeof value === 'string') texts.push(value)
    return value
  })
  return texts.join('\n')
}

async function* refused(message: string): AsyncGenerator<ModelChunk> {
  yield {
    type: 'end',
    kind: 'error',
    failure: { kind: 'invalid-request', message, retry: false, status: 400 },
    usage: null,
  }
}

export function pluginOf(name: string, hooks: Partial<Hooks>): Plugin {
  return {
    name,
    setup(scope) {
      for (const [hook, run] of Object.entries(hooks)) scope.on(hook as keyof Hooks, run as never)
    },
  }
}

// ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export type ToolParts = Partial<Omit<ToolDefinition, 'name' | 'run'>>

/** A tool that takes anything. `read` unless it says otherwise. */
export function toolOf(name: string, run: ToolDefinition['run'], parts: ToolParts = {}): Tool {
  return tool({ name, description: `does ${name}`, input: { type: 'object' }, effect: 'read', ...parts, run })
}

/** One running call of a held tool. */
export interface Held {
  readonly args: Args
  readonly context: ToolContext
  end(result: ToolResult): void
  fail(error: Error): void
}

export interface HeldTool {
  readonly tool: Tool
  /** Every start so far. */
  readonly starts: readonly Held[]
  /** The `nth` start, from 1, as soon as it is there. */
  started(nth?: number): Promise<Held>
}

/** A tool whose calls end when the test says so. */
export function heldTool(name: string, parts: ToolParts = {}): HeldTool {
  const starts: Held[] = []
  const run = (args: Args, context: ToolContext): Promise<ToolResult> => {
    const end = deferred<ToolResult>()
    starts.push({ args, context, end: end.resolve, fail: end.reject })
    return end.promise
  }
  return {
    tool: toolOf(name, run, parts),
    starts,
    async started(nth = 1) {
      await soon(() => starts.length >= nth)
      return starts[nth - 1]!
    },
  }
}

/** Lets everything run that waits for promises only, until `holds`. */
export async function soon(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 2_000) throw new Error('what was waited for did not come')
    await drainMicrotasks()
  }
}

// ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A transcript as one line per message: role, and what matters of it. */
export function linesOf(messages: Messages | readonly Message[]): string[] {
  return [...messages].map((message) => {
    if (message.role === 'user') return `user ${textOf(message.content)}`
    if (message.role === 'tool') return `tool ${message.call} ${message.outcome}`
    const calls = message.calls.map((call) => `${call.name}#${call.id}`)
    return ['assistant', textOf(message.parts), ...calls].filter((text) => text !== '').join(' ')
  })
}

/** What the model was told of each call, by call id. */
export function resultsOf(messages: Messages | readonly Message[]): Record<string, string> {
  const results: Record<string, string> = {}
  for (const message of messages) if (message.role === 'tool') results[message.call] = textOf(message.content)
  return results
}

export async function eventsOf<Type extends EventType>(session: SessionHandle, type: Type): Promise<EventOf<Type>[]> {
  return (await session.history()).filter((event): event is EventOf<Type> => event.type === type)
}

export const typesOf = (events: readonly Event[]): string[] => events.map((event) => event.type)

/** How each call ended, by id. Fails if one ended twice. */
export async function outcomesOf(session: SessionHandle): Promise<Record<string, string>> {
  const ends: Record<string, string> = {}
  for (const end of await eventsOf(session, 'call.ended')) {
    expect(ends[end.call], `${end.call} ended twice`).toBeUndefined()
    ends[end.call] = end.outcome.kind
  }
  return ends
}

/** What becomes of an answer to a question that is no longer asked, or was another one. */
export const STALE = { kind: 'rejected', reason: 'stale' } as const

/** Runs `at` when `point` is reached the `nth` time; once. */
export function syncAt(point: SyncPoint, at: () => void | Promise<void>, nth = 1): SyncPoints {
  let seen = 0
  return {
    async reach(reached) {
      if (reached === point && ++seen === nth) await at()
    },
  }
}
