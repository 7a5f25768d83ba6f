export { memoryStore } from './memory.ts'
export type { MemoryStoreOptions } from './memory.ts'
