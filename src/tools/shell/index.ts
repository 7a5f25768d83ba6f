export { shellTool } from './shell.ts'
export type { ShellOptions } from './options.ts'
