export { sqliteStore } from './store.ts'
export type { SqliteStoreOptions } from './store.ts'
