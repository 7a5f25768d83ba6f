export { shellTool } from './shell.ts'
export type { ShellOptions } from './shell.ts'
