export { findFilesTool } from './find-files.ts'
export { grepTool } from './grep.ts'
export type { GrepOptions } from './grep.ts'
