/** Adapters with the machine's own clock and ids filled in, as programs want them; tests give their own. */
import { nodeClock, nodeIds } from '../host/node.ts'
import { chatModel as chatModelOf, type ChatOptions as AllChatOptions } from '../models/chat/index.ts'
import type { Model, Store } from '../runtime/ports.ts'
import { memoryStore as memoryStoreOf, type MemoryStoreOptions as AllMemoryOptions } from '../stores/memory/index.ts'
import { sqliteStore as sqliteStoreOf, type SqliteStoreOptions as AllSqliteOptions } from '../stores/sqlite/index.ts'

type Defaulted<Options, Port extends keyof Options> = Omit<Options, Port> & Partial<Pick<Options, Port>>

export type ChatOptions = Defaulted<AllChatOptions, 'clock'>
export type MemoryStoreOptions = Partial<AllMemoryOptions>
export type SqliteStoreOptions = Defaulted<AllSqliteOptions, 'clock' | 'ids'>

/** Makes a model of any OpenAI-compatible endpoint. Nothing is loaded or connected before its first call. */
export function chatModel(options: ChatOptions): Model {
  return chatModelOf({ clock: nodeClock, ...options })
}

/** Makes an empty store. Its sessions live as long as the object, also after `close`. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return memoryStoreOf({ clock: nodeClock, ...options })
}

/**
 * Opens a SQLite file. Throws `store-driver-missing`, `store-unwritable`, `store-newer`, `store-locked`, `config-invalid` for the
 * database of another program, or `log-damaged` for a file that is no database.
 */
export function sqliteStore(options: SqliteStoreOptions): Promise<Store> {
  return sqliteStoreOf({ clock: nodeClock, ids: nodeIds, ...options })
}
