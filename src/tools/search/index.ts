export { findFilesTool } from './find-files.ts'
export { grepTool } from './grep.ts'
