export { scriptedModel } from './model.ts'
export type { ScriptedModel, ScriptedOptions, ScriptFailure } from './model.ts'
export type { Emit, EmitCall, Expectation, Fault, Script, ScriptStep, ScriptTurn, Stop, When } from './script.ts'
