export { chatModel } from './model.ts'
export type { ChatOptions } from './options.ts'
export type { Dialect, DialectName } from './dialects.ts'
