import { askHook, type AskOptions, type HookAnswer } from './ask-hook.ts'
import type { HookContext, HookName, Hooks } from './plugin.ts'
import type { Run } from './run.ts'

type Answer<T> = T | undefined | void | Promise<T | undefined | void>

/** What a hook's answer means for those after it: `stop` asks no more. */
export type Taken = 'stop' | void

/** What ends the wait for an answer: any control, the abort of the turn, or only the end of the runner, for what is a fact already. */
export type Heed = 'control' | 'turn' | 'nothing'

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
  heed: Heed = 'control',
): Promise<'done' | 'control'> {
  for (const registered of run.agent.plugins.hooks(name)) {
    await run.sync.reach('before-hook')
    const asked = askHook<T>((signal) => ask(registered.hook, run.hookContext(signal)), heeding(run, heed, run.askOptions(registered)))
    const answer: HookAnswer<T> = asked instanceof Promise ? await asked : asked
    if (answer.kind === 'control') return 'control'
    if (answer.kind === 'failed') {
      run.report(answer.error)
      if (onFailure?.(answer.error, registered.plugin) === 'stop') return 'done'
    } else if (answer.value !== undefined && take(answer.value, registered.plugin) === 'stop') return 'done'
  }
  return 'done'
}

function heeding(run: Run, heed: Heed, options: AskOptions): AskOptions {
  if (heed === 'control') return options
  return { ...options, onControl: () => () => {}, signal: heed === 'turn' ? options.signal : run.stopSignal }
}

/** Whether anybody listens: nothing is paid for a hook without listeners. */
export function hasHook(run: Run, name: HookName): boolean {
  return run.agent.plugins.hooks(name).length > 0
}
