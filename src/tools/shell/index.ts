export { shellTool } from './shell.ts'
