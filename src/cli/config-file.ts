/** Finds, loads and checks the project's configuration. A wrong value is named with its key and file, and nothing is guessed. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TurnstepError } from '../kernel/errors.ts'
import type { ProjectConfig } from '../presets/config.ts'
import type { AgentLimits } from '../runtime/define/agent.ts'
import { isPlainObject } from '../util/json.ts'
import type { Cli } from './cli.ts'

const NAMES = ['ts', 'mts', 'js', 'mjs', 'json'].map((ending) => `turnstep.config.${ending}`)

interface ConfigFile {
  /** Null: there is none. */
  readonly path: string | null
  readonly config: ProjectConfig
}

/** Loads the one config file of the folder. Throws `config-invalid`, naming file and key. */
export async function loadConfig(cli: Cli, folder: string): Promise<ConfigFile> {
  const path = findConfig(cli, folder)
  if (path === null) return { path, config: {} }
  const value = path.endsWith('.json') ? readJson(cli, path) : await importModule(cli, path)
  return { path, config: checked(cli, path, value) }
}

/** The path of the folder's config file; null for none. Throws `config-invalid` for two of them. */
export function findConfig({ texts }: Cli, folder: string): string | null {
  const found = NAMES.map((name) => join(folder, name)).filter((path) => existsSync(path))
  if (found.length > 1) throw invalid(texts.config.two(found.map((path) => basename(path)).join(', ')))
  return found[0] ?? null
}

function readJson({ texts }: Cli, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown
  } catch (error) {
    throw invalid(texts.config.unreadable(path, said(error)), error)
  }
}

async function importModule({ texts, io }: Cli, path: string): Promise<unknown> {
  if (path.endsWith('ts') && !io.runsTypeScript) throw invalid(texts.config.typescript(path, io.nodeVersion))
  try {
    const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
    return module.default
  } catch (error) {
    throw invalid(texts.config.unreadable(path, said(error)), error)
  }
}

interface Key {
  readonly wanted: string
  readonly fits: (value: unknown) => boolean
}

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''
const isObject = (value: unknown): boolean => isPlainObject(value)
const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isObject)
const oneOf = (...words: readonly string[]): Key => ({
  wanted: words.map((word) => `"${word}"`).join(' / '),
  fits: (value) => words.includes(value as string),
})

const KEYS: Readonly<Record<keyof ProjectConfig, Key>> = {
  name: { wanted: 'a text', fits: isText },
  model: { wanted: 'a text such as "provider/model", or a model', fits: (value) => isText(value) || isObject(value) },
  instructions: { wanted: 'a text', fits: (value) => typeof value === 'string' },
  tools: { wanted: 'a list of tools', fits: isList },
  plugins: { wanted: 'a list of plugins', fits: isList },
  loop: { wanted: 'a loop', fits: isObject },
  limits: { wanted: 'an object', fits: isObject },
  store: { wanted: 'a path, or a store', fits: (value) => isText(value) || isObject(value) },
  lang: oneOf('en', 'zh'),
  approval: oneOf('ask', 'never'),
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0
const COUNT: Key = { wanted: 'a whole number from 0 up', fits: isCount }
const POSITIVE: Key = { wanted: 'a whole number from 1 up', fits: (value) => isCount(value) && value !== 0 }

const LIMITS: Readonly<Record<keyof AgentLimits, Key>> = {
  steps: POSITIVE,
  atSteps: oneOf('error', 'summary', 'handback', 'ask'),
  vetoes: COUNT,
  attempts: POSITIVE,
  graceMs: COUNT,
  staleAfterMs: COUNT,
  starts: POSITIVE,
  cuts: POSITIVE,
  pool: POSITIVE,
  followups: oneOf('one', 'all'),
  afterFailure: oneOf('hold', 'continue'),
}

function checked(cli: Cli, path: string, value: unknown): ProjectConfig {
  if (!isPlainObject(value)) throw invalid(cli.texts.config.notAnObject(path))
  checkKeys(cli, { path, prefix: '', keys: KEYS }, value)
  if (isPlainObject(value['limits'])) checkKeys(cli, { path, prefix: 'limits.', keys: LIMITS }, value['limits'])
  return value as ProjectConfig
}

interface Level {
  readonly path: string
  readonly prefix: string
  readonly keys: Readonly<Record<string, Key>>
}

function checkKeys({ texts }: Cli, { path, prefix, keys }: Level, value: Record<string, unknown>): void {
  for (const [key, given] of Object.entries(value)) {
    if (!Object.hasOwn(keys, key))
      throw invalid(texts.config.unknownKey(path, prefix + key, Object.keys(keys).join(', ')))
    const { wanted, fits } = keys[key]!
    if (given === undefined || fits(given)) continue
    throw invalid(texts.config.badValue(path, prefix + key, shown(given), wanted))
  }
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function invalid(message: string, cause?: unknown): TurnstepError {
  return new TurnstepError('config-invalid', message, cause === undefined ? {} : { cause })
}
