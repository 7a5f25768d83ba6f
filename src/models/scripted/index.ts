export { scriptedModel } from './model.ts'
export type { ScriptedModel, ScriptedOptions, ScriptFailure } from './model.ts'
export type { CursorMode } from './cursor.ts'
export type {
  Emit,
  EmitCall,
  Expectation,
  Fault,
  Pattern,
  Script,
  ScriptStep,
  ScriptTurn,
  Stop,
  When,
} from './script.ts'
