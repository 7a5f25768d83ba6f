/**
 * Plugin scopes. Owns what plugins registered, in which order it is asked, and that all of it is undone at unload.
 * Invariants: a scope sees its parents, a parent never its children; hooks of the same name run in the order of loading, changed only
 * by `before` and `after`; unloading undoes in reverse order; a hook without listeners costs one look into a map.
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Event } from '../../kernel/events.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { Json } from '../../util/json.ts'
import type { HookName, HookOptions, Hooks, Plugin, Scope, Token } from './plugin.ts'
import type { Tool } from './tool.ts'

export interface RegisteredHook<Name extends HookName = HookName> {
  readonly plugin: string
  readonly hook: Hooks[Name]
  readonly timeoutMs: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

export interface Section {
  readonly name: string
  readonly order: number
  readonly text: () => string
}

/** A plugin's own fold, and the states it has reached. */
export interface PluginFold {
  /** Starts a session over, before its log is read from the first event. */
  reset(session: SessionId): void
  apply(session: SessionId, event: Event): void
  forget(session: SessionId): void
}

const HOOK_TIMEOUT_MS = 30_000

/** Appends a plugin's fact with the session's next commit; given by the harness. */
export type Emit = (session: SessionId, type: `x.${string}`, data: Json) => void

/** The plugins of one level: of a harness, or of an agent in it. */
export class PluginHost {
  readonly #parent: PluginHost | null
  readonly #emit: Emit
  readonly #hooks = new Map<HookName, RegisteredHook[]>()
  readonly #tools = new Map<string, Tool>()
  readonly #sections = new Map<string, Section>()
  readonly #services = new Map<string, unknown>()
  readonly #folds = new Set<PluginFold>()
  readonly #loaded = new Map<string, (() => void | Promise<void>)[]>()
  #version = 0
  /** Own and inherited hooks by name, as of a version: they are looked up for every delta. */
  #merged: { readonly version: number; readonly hooks: Map<HookName, readonly RegisteredHook[]> } = {
    version: -1,
    hooks: new Map(),
  }

  #allFolds: { readonly version: number; readonly folds: readonly PluginFold[] } = { version: -1, folds: [] }

  constructor(options: { readonly parent: PluginHost | null; readonly emit: Emit }) {
    this.#parent = options.parent
    this.#emit = options.emit
  }

  /** Changes whenever anything here or above does. */
  get version(): number {
    return this.#version + (this.#parent?.version ?? 0)
  }

  /** Runs a plugin's `setup`; what it registered before a throw is undone. */
  load(plugin: Plugin): void {
    if (this.#loaded.has(plugin.name))
      throw new TurnstepError('plugin-invalid', `plugin "${plugin.name}" is loaded already; unload it first`)
    const undo: (() => void | Promise<void>)[] = []
    this.#loaded.set(plugin.name, undo)
    try {
      plugin.setup(this.#scope(plugin.name, undo))
    } catch (cause) {
      this.#loaded.delete(plugin.name)
      // What it undoes asynchronously cannot be waited for here; that it fails is nothing beside why it is undone.
      for (const run of undo.toReversed()) Promise.resolve(run()).catch(() => {})
      throw cause
    }
    this.#version++
  }

  /** Undoes all that a plugin registered, last first. */
  async unload(name: string): Promise<void> {
    const undo = this.#loaded.get(name)
    if (undo === undefined) return
    this.#loaded.delete(name)
    this.#version++
    const failures: unknown[] = []
    for (const run of undo.toReversed()) {
      try {
        await run()
      } catch (error) {
        failures.push(error)
      }
    }
    // All the rest is undone before anybody hears of it: a plugin that fails to clean up must not leave its hooks behind.
    if (failures.length > 0) throw failures[0]
  }

  /** All of them, last first. Throws the first failure once the rest is undone. */
  async unloadAll(): Promise<void> {
    const failures: unknown[] = []
    for (const name of [...this.#loaded.keys()].toReversed())
      await this.unload(name).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  /** The hooks of a name, in the order in which they are asked; the parent's first. */
  hooks<Name extends HookName>(name: Name): readonly RegisteredHook<Name>[] {
    const { version } = this
    if (this.#merged.version !== version) this.#merged = { version, hooks: new Map() }
    const known = this.#merged.hooks.get(name) as readonly RegisteredHook<Name>[] | undefined
    if (known !== undefined) return known
    const own = (this.#hooks.get(name) ?? NONE) as readonly RegisteredHook<Name>[]
    const above = this.#parent?.hooks(name) ?? (NONE as readonly RegisteredHook<Name>[])
    const merged = above.length === 0 ? own : own.length === 0 ? above : inOrder([...above, ...own])
    this.#merged.hooks.set(name, merged as readonly RegisteredHook[])
    return merged
  }

  tools(): readonly Tool[] {
    return [...(this.#parent?.tools() ?? []), ...this.#tools.values()]
  }

  sections(): readonly Section[] {
    const all = [...(this.#parent?.sections() ?? []), ...this.#sections.values()]
    return all.toSorted((a, b) => a.order - b.order || (a.name < b.name ? -1 : 1))
  }

  /** Own and inherited: they are looked up for every commit. */
  folds(): readonly PluginFold[] {
    const { version } = this
    if (this.#allFolds.version !== version)
      this.#allFolds = { version, folds: [...(this.#parent?.folds() ?? []), ...this.#folds] }
    return this.#allFolds.folds
  }

  #use(token: string): unknown {
    if (this.#services.has(token)) return this.#services.get(token)
    if (this.#parent !== null) return this.#parent.#use(token)
    throw new TurnstepError('service-missing', `no plugin provides "${token}"; load the one that does first`)
  }

  #scope(plugin: string, undo: (() => void | Promise<void>)[]): Scope {
    // A plugin may register at any time, not only while it is set up: each change is seen by whoever looks at the version.
    const add = (run: () => void): void => {
      this.#version++
      undo.push(() => {
        this.#version++
        run()
      })
    }
    return {
      on: (name, hook, options) => add(this.#register(plugin, name, hook, options ?? {})),
      tool: (tool) => add(put(this.#tools, tool.name, tool, `tool "${tool.name}"`)),
      section: ({ name, order = 0, text }) => {
        const section: Section = { name, order, text: typeof text === 'string' ? () => text : text }
        add(put(this.#sections, name, section, `section "${name}"`))
      },
      fold: ({ initial, apply }) => {
        const fold = new SessionFold(initial, apply)
        this.#folds.add(fold)
        add(() => void this.#folds.delete(fold))
        return { read: (session) => fold.read(session) }
      },
      provide: (token, value) => add(put(this.#services, token.name, value, `service "${token.name}"`)),
      use: <T>(token: Token<T>) => this.#use(token.name) as T,
      emit: (session, name, data) => this.#emit(session, `x.${plugin}.${name}`, data),
      onUnload: (run) => undo.push(run),
    }
  }

  #register<Name extends HookName>(plugin: string, name: Name, hook: Hooks[Name], options: HookOptions): () => void {
    const { before = [], after = [], timeoutMs = HOOK_TIMEOUT_MS } = options
    const entry: RegisteredHook<Name> = { plugin, hook, timeoutMs, before, after }
    const list = (this.#hooks.get(name) ?? []) as RegisteredHook[]
    this.#hooks.set(name, inOrder([...list, entry as RegisteredHook]))
    return () => {
      const left = (this.#hooks.get(name) ?? []).filter((other) => other !== (entry as RegisteredHook))
      if (left.length > 0) this.#hooks.set(name, left)
      else this.#hooks.delete(name)
    }
  }
}

const NONE: readonly never[] = []

function put<V>(map: Map<string, V>, key: string, value: V, what: string): () => void {
  if (map.has(key)) throw new TurnstepError('plugin-invalid', `${what} is registered twice; give it another name`)
  map.set(key, value)
  return () => void map.delete(key)
}

/** Keeps the given order, except that `before` and `after` are obeyed. A cycle is refused. */
function inOrder<Name extends HookName>(hooks: readonly RegisteredHook<Name>[]): RegisteredHook<Name>[] {
  const left = [...hooks]
  const sorted: RegisteredHook<Name>[] = []
  while (left.length > 0) {
    const at = left.findIndex((hook) => !left.some((other) => other !== hook && mustPrecede(other, hook)))
    if (at < 0) {
      throw new TurnstepError(
        'plugin-invalid',
        `hooks of ${left.map((hook) => `"${hook.plugin}"`).join(', ')} each want to run before the other; drop one \`before\` or \`after\``,
      )
    }
    sorted.push(...left.splice(at, 1))
  }
  return sorted
}

function mustPrecede(first: RegisteredHook, second: RegisteredHook): boolean {
  return first.before.includes(second.plugin) || second.after.includes(first.plugin)
}

class SessionFold<S> implements PluginFold {
  readonly #initial: S
  readonly #apply: (state: S, event: Event) => S
  readonly #states = new Map<SessionId, S>()

  constructor(initial: S, apply: (state: S, event: Event) => S) {
    this.#initial = initial
    this.#apply = apply
  }

  reset(session: SessionId): void {
    this.#states.set(session, this.#initial)
  }

  apply(session: SessionId, event: Event): void {
    this.#states.set(session, this.#apply(this.read(session), event))
  }

  forget(session: SessionId): void {
    this.#states.delete(session)
  }

  read(session: SessionId): S {
    return this.#states.get(session) ?? this.#initial
  }
}
