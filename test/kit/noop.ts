/** A plugin that listens to every hook and answers nothing: with it, everything must be as without it. */
import type { HookName, Hooks, Plugin } from '../../src/runtime/define/plugin.ts'

const silent = async (): Promise<undefined> => {}
const watching = (): void => {}

const HOOKS: Hooks = {
  decideEnter: silent,
  injectContext: silent,
  transformRequest: silent,
  onDelta: watching,
  decideModelError: silent,
  decideCall: silent,
  transformResult: silent,
  decideStop: silent,
  onEvent: watching,
  decideWake: silent,
}

export const noopPlugin: Plugin = {
  name: 'noop',
  setup(scope) {
    for (const [name, hook] of Object.entries(HOOKS)) scope.on(name as HookName, hook as never)
  },
}
