/** Adapters with the machine's own clock and ids filled in, as programs want them; tests give their own. */
import { env, nodeClock, nodeIds } from '../host/node.ts'
import { chatModel as chatModelOf, type ChatOptions as AllChatOptions } from '../models/chat/index.ts'
import { refuseUnknown, type Known } from '../runtime/borders.ts'
import type { Model, Store } from '../runtime/ports.ts'
import { memoryStore as memoryStoreOf, type MemoryStoreOptions as AllMemoryOptions } from '../stores/memory/index.ts'
import { resolveModel as resolveModelOf, type ResolveOptions as AllResolveOptions } from './resolve-model.ts'
import type { SqliteStoreOptions as AllSqliteOptions } from '../stores/sqlite/index.ts'

type Defaulted<Options, Port extends keyof Options> = Omit<Options, Port> & Partial<Pick<Options, Port>>

/** How an endpoint is reached and watched. The clock is the machine's where none is given. */
export type ChatOptions = Defaulted<AllChatOptions, 'clock'>
/** The clock is the machine's where none is given. */
export type MemoryStoreOptions = Partial<AllMemoryOptions>
/** Where the file is, and how it is opened. Clock and ids are the machine's where none are given. */
export type SqliteStoreOptions = Defaulted<AllSqliteOptions, 'clock' | 'ids'>

/** Where keys and addresses are read from. Environment and clock are the machine's where none are given. */
export type ResolveOptions = Partial<AllResolveOptions>

const CHAT: Known<ChatOptions> = {
  provider: true,
  model: true,
  baseUrl: true,
  apiKey: true,
  dialect: true,
  scope: true,
  clock: true,
  headers: true,
  idleTimeoutMs: true,
  firstChunkTimeoutMs: true,
  totalTimeoutMs: true,
  maxOutputTokens: true,
  contextTokens: true,
  images: true,
  fetch: true,
  proxy: true,
}
const RESOLVE: Known<ResolveOptions> = { env: true, clock: true, fetch: true, scope: true }
const MEMORY: Known<MemoryStoreOptions> = { clock: true }
const SQLITE: Known<SqliteStoreOptions> = { path: true, clock: true, ids: true, busyTimeoutMs: true, driver: true }

/** Makes a model of any OpenAI-compatible endpoint. Nothing is loaded or connected before its first call. */
export function chatModel(options: ChatOptions): Model {
  refuseUnknown(options, CHAT, 'chatModel')
  return chatModelOf({ clock: nodeClock, ...options })
}

/**
 * Makes the model of a name such as `deepseek/deepseek-chat`, its key read from the environment. Throws `model-unknown`,
 * `model-key-missing`, or `config-invalid` for a base URL that is none. Nothing is loaded or connected before its first call.
 */
export function resolveModel(name: string, options: ResolveOptions = {}): Model {
  refuseUnknown(options, RESOLVE, 'resolveModel')
  return resolveModelOf(name, { env, clock: nodeClock, ...options })
}

/** Makes an empty store. Its sessions live as long as the object, also after `close`. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  refuseUnknown(options, MEMORY, 'memoryStore')
  return memoryStoreOf({ clock: nodeClock, ...options })
}

/**
 * Opens a SQLite file. Throws `store-driver-missing`, `store-unwritable`, `store-newer`, `store-locked`, `config-invalid` for the
 * database of another program, or `log-damaged` for a file that is no database.
 */
export async function sqliteStore(options: SqliteStoreOptions): Promise<Store> {
  refuseUnknown(options, SQLITE, 'sqliteStore')
  // Loaded here: a program that keeps its sessions in memory starts without it.
  const { sqliteStore: open } = await import('../stores/sqlite/index.ts')
  return open({ clock: nodeClock, ids: nodeIds, ...options })
}
