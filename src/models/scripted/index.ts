export { scriptedModel } from './model.ts'
export type { ScriptedModel, ScriptedOptions } from './model.ts'
export type { Emit, EmitCall, Expectation, Fault, Script, ScriptStep, Stop, When } from './script.ts'
