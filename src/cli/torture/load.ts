/** Loads what a user wrote: the module with the agent, a script, a check. Only the processes of a run do; the command itself runs none of it. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { TurnstepError } from '../../kernel/errors.ts'
import type { Script } from '../../models/scripted/index.ts'
import type { ProjectConfig } from '../../presets/config.ts'
import type { TortureCheck } from '../../protocol/torture.ts'
import { agent, type AgentSpec } from '../../runtime/define/agent.ts'
import type { Clock, Model } from '../../runtime/ports.ts'
import type { Locale } from '../../runtime/wording.ts'
import { isPlainObject } from '../../util/json.ts'
import { messageOf } from '../../util/text.ts'
import { TEXTS } from '../texts/index.ts'
import type { Settings } from './job.ts'
import { tortureModel } from './script.ts'

export interface Loaded {
  readonly spec: AgentSpec
  readonly model: 'default' | 'script' | 'own'
  readonly messages: readonly string[]
  /** The module exports a check. */
  readonly hasCheck: boolean
  /** Of what the agent is told by us, where its module says. */
  readonly locale: Locale
}

/**
 * The agent of a module, with the model of the torture: its default export or the one named `agent`, as `agent()` or `defineConfig()`
 * gives it, or a function that makes it. Throws `config-invalid`.
 */
export async function loadAgent(settings: Settings, clock: Clock): Promise<Loaded> {
  const { module: path, locale, ownModel } = settings
  const module = await importFile(path, locale, ownModel)
  let value = module['default'] ?? module['agent']
  if (typeof value === 'function') value = await made(value as () => unknown, settings)
  if (!isPlainObject(value)) throw invalid(TEXTS[locale].torture.noAgent(path))
  const { store: _store, approval: _approval, lang, model: own, ...rest } = value as ProjectConfig
  const script = settings.script === null ? (module['script'] as Given | undefined) : await loadScript(settings)
  if (ownModel && own === undefined) throw invalid(TEXTS[locale].torture.noModel(path))
  const model = ownModel ? own! : isModel(script) ? script : tortureModel(script ?? null, clock)
  return {
    spec: agent({ ...rest, model }),
    model: ownModel ? 'own' : script === undefined ? 'default' : 'script',
    messages: messagesOf(settings, module['messages']),
    hasCheck: typeof module['check'] === 'function',
    locale: lang ?? 'en',
  }
}

async function made(make: () => unknown, { module, locale, ownModel }: Settings): Promise<unknown> {
  try {
    return await make()
  } catch (error) {
    const tooMuch = ownModel ? null : doesTooMuch(error, module, locale)
    throw tooMuch ?? error
  }
}

/**
 * What is said of a module that does what torture does for it, and fails at that; null: it failed otherwise. To ask for the key of a
 * model that is never called would be wrong.
 */
function doesTooMuch(error: unknown, path: string, locale: Locale): TurnstepError | null {
  // Its `turnstep` may be another copy than this one.
  const code = (error as { readonly code?: unknown } | null)?.code
  const isOurs = code === 'model-key-missing' || code === 'model-unknown' || code === 'session-busy'
  return isOurs ? invalid(TEXTS[locale].torture.doesTooMuch(path, code), error) : null
}

type Given = Script | Model

function isModel(value: unknown): value is Model {
  return isPlainObject(value) && typeof value['stream'] === 'function'
}

function messagesOf({ messages, module, locale }: Settings, exported: unknown): readonly string[] {
  if (messages.length > 0) return messages
  if (exported === undefined) return [TEXTS[locale].torture.message]
  const list: unknown = typeof exported === 'string' ? [exported] : exported
  const isList = Array.isArray(list) && list.length > 0 && list.every((text) => typeof text === 'string')
  if (!isList) throw invalid(TEXTS[locale].torture.badMessages(module))
  return list as string[]
}

async function loadScript({ script: path, locale }: Settings): Promise<Given> {
  const value = path!.endsWith('.json') ? readJson(path!, locale) : defaultOf(await importFile(path!, locale), 'script')
  if (typeof value === 'function' || isModel(value)) return value as Given
  if (Array.isArray(value) && value.every(isPlainObject)) return value as Script
  throw invalid(TEXTS[locale].torture.badScript(path!))
}

/** The check of a file, or the one that the agent's module exports; null: there is none. */
export async function loadCheck({ check: path, module, locale }: Settings): Promise<TortureCheck | null> {
  const found = await importFile(path ?? module, locale)
  const check = path === null ? found['check'] : defaultOf(found, 'check')
  if (typeof check === 'function') return check as TortureCheck
  if (path === null) return null
  throw invalid(TEXTS[locale].torture.noCheck(path))
}

type Module = Readonly<Record<string, unknown>>

function defaultOf(module: Module, name: string): unknown {
  return module['default'] ?? module[name]
}

async function importFile(path: string, locale: Locale, ownModel = true): Promise<Module> {
  const texts = TEXTS[locale]
  try {
    return (await import(pathToFileURL(path).href)) as Module
  } catch (error) {
    const isForeign = (error as { readonly code?: unknown } | null)?.code === 'ERR_UNKNOWN_FILE_EXTENSION'
    if (isForeign) throw invalid(texts.torture.typescript(path, process.versions.node), error)
    const tooMuch = ownModel ? null : doesTooMuch(error, path, locale)
    if (tooMuch !== null) throw tooMuch
    throw invalid(texts.torture.unreadable(path, messageOf(error)), error)
  }
}

function readJson(path: string, locale: Locale): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown
  } catch (error) {
    throw invalid(TEXTS[locale].torture.unreadable(path, messageOf(error)), error)
  }
}

function invalid(message: string, cause?: unknown): TurnstepError {
  return new TurnstepError('config-invalid', message, cause === undefined ? {} : { cause })
}
