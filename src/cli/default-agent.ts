/** The agent of `run` and `chat`: the config file's, filled up with the tools of the workspace and a model that can be had. */
import { TurnstepError } from '../kernel/errors.ts'
import { providerSettings, resolveModel } from '../presets/resolve-model.ts'
import { agent, type AgentSpec } from '../runtime/define/agent.ts'
import type { Model } from '../runtime/ports.ts'
import { codingTools } from '../presets/coding-tools.ts'
import { usage, type Cli } from './cli.ts'
import { isOfflineModel, offlineModel } from './offline-model.ts'
import type { Place } from './settings.ts'

export interface AgentFlags {
  readonly model?: string
  readonly yes?: boolean
  readonly maxSteps?: string
}

const INSTRUCTIONS =
  'You work in one folder of the user, the workspace, with the tools given. Look before you change anything; keep to what was ' +
  'asked. A correction from the user overrides what it contradicts. When you are done, say briefly what you did and what you saw.'

/** Throws `model-key-missing`, `model-unknown`, `config-invalid` and `usage-invalid`. */
export function chooseAgent(cli: Cli, { root, config }: Place, flags: AgentFlags): AgentSpec {
  const { store: _store, lang: _lang, approval: asks, model: configured, ...own } = config
  const approval = flags.yes === true ? 'never' : (asks ?? 'ask')
  const limits = flags.maxSteps === undefined ? own.limits : { ...own.limits, steps: stepsOf(cli, flags.maxSteps) }
  return agent({
    name: 'turnstep',
    instructions: INSTRUCTIONS,
    ...own,
    tools: own.tools ?? codingTools({ root, approval, locale: cli.locale }),
    model: modelOf(cli, flags.model ?? cli.io.env('TURNSTEP_MODEL') ?? configured),
    ...(limits === undefined ? {} : { limits }),
  })
}

function stepsOf({ texts }: Cli, text: string): number {
  const steps = Number(text)
  if (!/^\d+$/.test(text) || steps < 1) throw usage(texts.steps(text))
  return steps
}

function modelOf(cli: Cli, named: string | Model | undefined): Model {
  if (typeof named === 'object') return named
  const { env, clock } = cli.io
  const name = named ?? modelByKey(cli)
  if (name !== null) return resolveModel(name, { env, clock })
  return offlineModel({ clock, locale: cli.locale, paced: cli.out.isStreaming })
}

/** Models whose name has stood for the provider's current one for years. Any other has to be named. */
const DEFAULT_MODELS: Readonly<Record<string, string>> = { deepseek: 'deepseek-chat' }

/** The default model of a provider whose key is set; null: no key is set. Throws `config-invalid` if a key is set and no model is named. */
function modelByKey({ io, texts }: Cli): string | null {
  const keyed = providerSettings().flatMap(({ name, keys, needsKey }) => {
    const variable = keys.find((key) => io.env(key) !== undefined)
    return variable === undefined || !needsKey ? [] : [{ name, variable }]
  })
  const ready = keyed.find(({ name }) => name in DEFAULT_MODELS)
  if (ready !== undefined) return `${ready.name}/${DEFAULT_MODELS[ready.name]}`
  const [first] = keyed
  if (first === undefined) return null
  throw new TurnstepError('config-invalid', texts.noModel(first.variable, first.name))
}

/** Says so, in one line, if it is not a model at all that answers. */
export function announceModel({ out, texts }: Cli, { model }: AgentSpec): void {
  if (typeof model === 'string' || !isOfflineModel(model)) return
  out.notice('offline', texts.offline('DEEPSEEK_API_KEY'))
}

export function modelName({ model }: AgentSpec): string {
  return typeof model === 'string' ? model : `${model.route.provider}/${model.route.model}`
}
