export { chatModel } from './model.ts'
export type { ChatOptions } from './model.ts'
export type { Dialect, DialectName } from './dialects.ts'
