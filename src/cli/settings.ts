/** From flags, environment and config file, in this order, to what a command works with. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathsOf, type Paths } from '../host/paths.ts'
import type { ProjectConfig } from '../presets/config.ts'
import { ensureHome } from '../presets/home.ts'
import type { Store } from '../runtime/ports.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { sqliteStore } from '../stores/sqlite/index.ts'
import { usage, type Cli } from './cli.ts'
import { loadConfig } from './config-file.ts'

/** Flags of every command that reaches a store. */
export interface PlaceFlags {
  readonly cwd?: string
  readonly store?: string
}

export interface Place {
  /** The workspace. */
  readonly root: string
  readonly paths: Paths
  readonly configPath: string | null
  readonly config: ProjectConfig
  /** A file's path, `memory`, or a store from the config file. */
  readonly store: string | Store
}

/** Finds the workspace and reads its config file. Throws `usage-invalid` and `config-invalid`. */
export async function findPlace(cli: Cli, flags: PlaceFlags): Promise<Place> {
  const root = rootOf(cli, flags)
  const { path, config } = await loadConfig(cli, root)
  if (config.lang !== undefined && !cli.isLocaleChosen) cli.speak(config.lang)
  const paths = pathsOf(root)
  return { root, paths, configPath: path, config, store: storeOf(cli, { root, paths, config }, flags) }
}

/** The workspace that the flags name. Throws `usage-invalid` if it is no folder. */
export function rootOf({ io, texts }: Cli, { cwd }: PlaceFlags): string {
  const root = resolve(io.cwd, cwd ?? '.')
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) throw usage(texts.noCwd(root))
  return root
}

function storeOf(
  cli: Cli,
  { root, paths, config }: Pick<Place, 'root' | 'paths' | 'config'>,
  flags: PlaceFlags,
): string | Store {
  if (flags.store !== undefined) return flags.store === 'memory' ? 'memory' : resolve(cli.io.cwd, flags.store)
  if (cli.io.env('TURNSTEP_HOME') !== undefined || config.store === undefined) return paths.sessions
  return typeof config.store === 'string' && config.store !== 'memory' ? resolve(root, config.store) : config.store
}

/** Opens the store. `mustExist`: a file that is not there is not made; what is asked of it finds nothing. */
export async function openStore(
  { io }: Cli,
  { store, paths }: Place,
  { mustExist }: { readonly mustExist: boolean },
): Promise<Store> {
  if (typeof store === 'object') return store
  if (store === 'memory' || (mustExist && !existsSync(store))) return memoryStore({ clock: io.clock })
  if (store === paths.sessions) ensureHome(paths)
  return sqliteStore({ path: store, clock: io.clock, ids: io.ids })
}
