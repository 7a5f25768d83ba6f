/** A model that does whatever a model may do: talk, call, repeat itself, break off, fail, fall silent. */
import type { ToolSpec } from '../../../kernel/events.ts'
import { scriptedModel, type Emit, type ScriptStep } from '../../../models/scripted/index.ts'
import type { Args } from '../../../runtime/define/tool.ts'
import type { Clock, Model, ModelRequest } from '../../../runtime/ports.ts'
import type { Json } from '../../../util/json.ts'
import type { Chance } from '../chance.ts'
import type { Fate } from '../fate.ts'
import type { Witness } from '../witness.ts'
import { argsFor } from './args.ts'

export interface MoodyModelOptions {
  readonly fate: Fate
  readonly clock: Clock
  /** It never fails, breaks off or makes mistakes. */
  readonly isGood: boolean
  /** Own ways to draw the arguments of tools, by name. */
  readonly args: ReadonlyMap<string, (chance: Chance) => Args>
}

const CALM: ScriptStep = { emit: [{ text: 'done' }] }

export function moodyModel(options: MoodyModelOptions): Model {
  const { fate, clock } = options
  const step = (request: ModelRequest): ScriptStep =>
    fate.decide('model', CALM as Json, (chance) => mood(chance, request, options) as Json) as ScriptStep
  return scriptedModel(step, { clock, idleTimeoutMs: 20_000 })
}

/** Listens to what any model is asked. */
export function heardModel(model: Model, seen: Witness, owner: string): Model {
  return {
    route: model.route,
    binding: model.binding,
    contextTokens: model.contextTokens,
    stream(request, signal) {
      seen.asked(request, owner)
      return model.stream(request, signal)
    },
  }
}

function mood(chance: Chance, request: ModelRequest, options: MoodyModelOptions): ScriptStep {
  const mayCall = request.toolChoice !== 'none' && request.tools.length > 0
  const calling = (text: string): ScriptStep =>
    mayCall ? { emit: [{ text }, ...calls(chance, request.tools, options)] } : talk(chance)
  const step = options.isGood
    ? chance.is(0.6)
      ? calling('calling')
      : talk(chance)
    : chance.weighted<() => ScriptStep>([
        [24, () => talk(chance)],
        [61, () => calling('calling')],
        [4, () => ({ ...calling('half a sen'), stop: 'length' })],
        [1, () => ({ ...talk(chance), stop: 'context' })],
        [1, () => ({ ...calling('well'), stop: 'pause' })],
        [
          3,
          () => ({ fault: { kind: 'http', status: chance.pick([429, 500, 503]), retryAfterSeconds: chance.below(4) } }),
        ],
        [1, () => ({ fault: { kind: 'http', status: 400 } })],
        [
          2,
          () => ({
            emit: [{ text: 'broken' }],
            fault: { kind: chance.pick(['cut', 'garbage', 'midError', 'cleanEnd']) },
          }),
        ],
        [1, () => ({ emit: [{ text: 'quiet' }], fault: { kind: 'stall', after: chance.below(2) } })],
        [2, () => ({ emit: [{ reasoning: 'hm' }] })],
        [1, () => ({ ...calling('no'), stop: 'refusal' })],
        [1, () => ({ emit: [{ text: 'well' }], stop: 'raw:elsewhere' })],
      ])()
  return chance.is(0.6) ? { ...step, stream: { delayMs: 1 + chance.below(chance.is(0.1) ? 1_500 : 200) } } : step
}

const talk = (chance: Chance): ScriptStep => ({ emit: [{ text: `words ${chance.below(1_000)}` }] })

function calls(chance: Chance, tools: readonly ToolSpec[], { args, isGood }: MoodyModelOptions): Emit[] {
  return Array.from({ length: 1 + chance.below(4) }, () => {
    const { name, parameters } = chance.pick(tools)
    if (!isGood && chance.is(0.03)) return { call: { name: 'nothing', args: {} } }
    if (!isGood && chance.is(0.03)) return { call: { name, raw: chance.pick(['{"n":', '', '[]', 'null']) } }
    return { call: { name, args: args.get(name)?.(chance) ?? argsFor(parameters, chance) } }
  })
}
