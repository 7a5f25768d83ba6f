/** The project's configuration file, `turnstep.config.js` and its likes: what the command line uses where no flag says otherwise. */
import type { AgentSpec } from '../runtime/define/agent.ts'
import type { Model, Store } from '../runtime/ports.ts'
import type { Locale } from '../runtime/wording.ts'

/** The agent of the command line, as far as it is to differ from the default one, and where its sessions are kept. */
export interface ProjectConfig extends Partial<Omit<AgentSpec, 'model'>> {
  /** `provider/model`, or a model of your own. */
  readonly model?: string | Model
  /** The path of a SQLite file, relative to the config file, or a store of your own. */
  readonly store?: string | Store
  /** Language of what people and models are told. */
  readonly lang?: Locale
  /** Whether the default tools ask before a shell command. Default `ask`. */
  readonly approval?: 'ask' | 'never'
}

/** Gives the configuration back as it is: for the types. */
export function defineConfig(config: ProjectConfig): ProjectConfig {
  return config
}
