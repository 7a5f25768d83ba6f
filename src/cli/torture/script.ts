/**
 * The model of a torture. Without a script of the user's: every tool once, in two replies, then an answer, for each message. It
 * knows where it is by what stands in the request alone, so that a new process goes on where a dead one stood.
 */
import { scriptedModel, type Emit, type Script, type ScriptStep } from '../../models/scripted/index.ts'
import type { Clock, Model, ModelRequest } from '../../runtime/ports.ts'
import { isPlainObject, type Json } from '../../util/json.ts'
import { synthesise } from './synthesise.ts'

/** Answers as the script says; where a list of steps has come to its end it answers that it is done. */
export function tortureModel(script: Script | null, clock: Clock): Model {
  const steps =
    script === null ? everyToolOnce : Array.isArray(script) ? [...(script as ScriptStep[]), ...DONE] : script
  return scriptedModel(steps, { name: 'torture', cursor: 'context', clock })
}

/** A steer that came late, or a kill, may make a turn longer than its script. */
const DONE: readonly ScriptStep[] = Array.from({ length: 100 }, () => ({ emit: [{ text: 'Done.' }], optional: true }))

function everyToolOnce(request: ModelRequest): ScriptStep {
  const { tools, toolChoice } = request
  const half = Math.ceil(tools.length / 2)
  const replies = repliesSinceAsked(request)
  const due = toolChoice === 'none' ? [] : replies === 0 ? tools.slice(0, half) : replies === 1 ? tools.slice(half) : []
  if (due.length === 0) return { emit: [{ text: 'Done: every tool was called once.' }] }
  const calls = due.map((tool): Emit => ({ call: { name: tool.name, args: argsFor(tool.parameters) } }))
  return { emit: [{ text: `I call ${due.map((tool) => tool.name).join(', ')}.` }, ...calls] }
}

function argsFor(parameters: Json): { readonly [key: string]: Json } {
  const args = synthesise(parameters)
  return isPlainObject(args) ? args : {}
}

/** Replies behind the last message that opened a turn: what a steer or a plugin adds does not begin it anew. */
function repliesSinceAsked({ messages }: ModelRequest): number {
  let replies = 0
  for (let index = -1; ; index--) {
    const message = messages.at(index)
    if (message === undefined || (message.role === 'user' && message.origin.kind === 'user')) return replies
    if (message.role === 'assistant') replies++
  }
}
