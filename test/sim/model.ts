/** A model that does whatever a model may do: talk, call, repeat itself, break off, fail. */
import { scriptedModel, type Emit, type ScriptStep } from '../../src/models/scripted/index.ts'
import type { Clock, ModelRequest } from '../../src/runtime/ports.ts'
import type { Chance } from '../kit/random.ts'
import { SpyModel } from '../kit/spy-model.ts'

export interface MoodyOptions {
  readonly chance: Chance
  readonly clock: Clock
  readonly tools: readonly string[]
  /** From then on it only talks. */
  readonly isCalm: () => boolean
}

export function moodyModel(options: MoodyOptions): SpyModel {
  const step = (request: ModelRequest): ScriptStep => {
    if (options.isCalm()) return { emit: [{ text: 'done' }] }
    return request.toolChoice === 'none' ? talk(options.chance) : mood(options)
  }
  return new SpyModel(scriptedModel(step, { clock: options.clock, idleTimeoutMs: 20_000 }))
}

function mood({ chance, tools }: MoodyOptions): ScriptStep {
  const kind = chance.weighted<ScriptStep>([
    [30, talk(chance)],
    [55, { emit: [{ text: 'calling' }, ...calls(chance, tools)] }],
    [4, { emit: [{ text: 'half a sen' }, ...calls(chance, tools)], stop: 'length' }],
    [3, { fault: { kind: 'http', status: chance.pick([429, 500, 503]), retryAfterSeconds: chance.below(4) } }],
    [1, { fault: { kind: 'http', status: 400 } }],
    [2, { emit: [{ text: 'broken' }], fault: { kind: 'cut' } }],
    [1, { emit: [{ text: 'quiet' }], fault: { kind: 'stall' } }],
    [2, { emit: [{ reasoning: 'hm' }] }],
    [1, { emit: [{ text: 'no' }, ...calls(chance, tools)], stop: 'refusal' }],
    [1, { emit: [{ text: 'well' }], stop: 'raw:elsewhere' }],
  ])
  return chance.is(0.6) ? { ...kind, stream: { delayMs: 1 + chance.below(1_500) } } : kind
}

const talk = (chance: Chance): ScriptStep => ({ emit: [{ text: `words ${chance.below(1_000)}` }] })

function calls(chance: Chance, tools: readonly string[]): Emit[] {
  const count = 1 + chance.below(4)
  return Array.from({ length: count }, () => {
    const name = chance.is(0.03) ? 'nothing' : chance.pick(tools)
    return chance.is(0.03) ? { call: { name, raw: '{"n":' } } : { call: { name, args: { n: chance.below(6) } } }
  })
}
