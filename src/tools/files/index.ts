export { editFileTool } from './edit-file.ts'
export { listFilesTool } from './list-files.ts'
export { readFileTool } from './read-file.ts'
export { writeFileTool } from './write-file.ts'
