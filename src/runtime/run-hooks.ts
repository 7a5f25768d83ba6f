import { askHook, type AskOptions, type HookAnswer } from './ask-hook.ts'
import type { HookContext, HookName, Hooks } from './plugin.ts'
import type { Run } from './run.ts'

type Answer<T> = T | undefined | void | Promise<T | undefined | void>

/** What a hook's answer means for those after it: `stop` asks no more. */
export type Taken = 'stop' | void

/**
 * Asks the hooks of a name one after the other, and stops as soon as control arrives: the caller then does nothing, and the loop
 * looks at the control first (KERNEL, trap 1). A hook that fails is reported and, unless `onFailure` says otherwise, has no say.
 */
export async function askEach<Name extends HookName, T>(
  run: Run,
  name: Name,
  ask: (hook: Hooks[Name], context: HookContext) => Answer<T>,
  take: (value: T, plugin: string) => Taken,
  onFailure?: (error: Error, plugin: string) => Taken,
  heed: 'control' | 'nothing' = 'control',
): Promise<'done' | 'control'> {
  for (const registered of run.agent.plugins.hooks(name)) {
    await run.sync.reach('before-hook')
    const asked = askHook<T>((signal) => ask(registered.hook, run.hookContext(signal)), heed === 'control' ? run.askOptions(registered) : deaf(run, run.askOptions(registered)))
    const answer: HookAnswer<T> = asked instanceof Promise ? await asked : asked
    if (answer.kind === 'control') return 'control'
    if (answer.kind === 'failed') {
      run.report(answer.error)
      if (onFailure?.(answer.error, registered.plugin) === 'stop') return 'done'
    } else if (answer.value !== undefined && take(answer.value, registered.plugin) === 'stop') return 'done'
  }
  return 'done'
}

/** For what is a fact already, whatever else comes in. */
function deaf(run: Run, options: AskOptions): AskOptions {
  return { ...options, onControl: () => () => {}, signal: run.stopSignal }
}

/** Whether anybody listens: nothing is paid for a hook without listeners. */
export function hasHook(run: Run, name: HookName): boolean {
  return run.agent.plugins.hooks(name).length > 0
}
