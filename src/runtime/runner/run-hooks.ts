/**
 * Asking the hooks of all plugins for one decision, in their order. Owns which answer still counts and what becomes of one that
 * cannot be used; not what is decided, which is the caller's `take`, nor the wait for one hook, which is `askHook`'s.
 * Invariants: no fault of a plugin gets past here, each is reported; once control has come no further hook is asked, unless the caller
 * heeds less than that.
 */
import { messageOf } from '../../util/text.ts'
import { askHook, type AskOptions, type HookAnswer } from '../ask-hook.ts'
import type { HookContext, HookName, Hooks } from '../define/plugin.ts'
import type { Run } from './run.ts'

type Answer<T> = T | undefined | void | Promise<T | undefined | void>

/** What a hook's answer means for those after it: `stop` asks no more. */
export type Taken = 'stop' | void

/** What ends the wait for an answer: any control, the abort of the turn, or only the end of the runner, for what is a fact already. */
export type Heed = 'control' | 'turn' | 'nothing'

/**
 * Asks the hooks of a name one after the other, and stops as soon as control arrives: the caller then does nothing, and the loop
 * looks at the control first (docs/design/kernel.md, trap 1). A hook that fails is reported and, unless `onFailure` says otherwise, has no say.
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
    const reached = run.sync.reach('before-hook')
    if (reached !== undefined) await reached
    const asked = askHook<T>(
      (scope) => ask(registered.hook, run.hookContext(scope)),
      heeding(run, heed, run.askOptions(registered)),
    )
    const answer: HookAnswer<T> = asked instanceof Promise ? await asked : asked
    if (answer.kind === 'control') return 'control'
    if (consider(run, registered.plugin, answer, take, onFailure) === 'stop') return 'done'
  }
  return 'done'
}

/** An answer that cannot be taken counts like a hook that failed: whoever gave it hears of it, and the turn goes on. */
function consider<T>(
  run: Run,
  plugin: string,
  answer: Exclude<HookAnswer<T>, { kind: 'control' }>,
  take: (value: T, plugin: string) => Taken,
  onFailure?: (error: Error, plugin: string) => Taken,
): Taken {
  let failure = answer.kind === 'failed' ? answer.error : null
  try {
    if (answer.kind === 'answer' && answer.value !== undefined) return take(answer.value, plugin)
  } catch (cause) {
    failure = new Error(`a hook of plugin "${plugin}" gave what cannot be used: ${messageOf(cause)}`, { cause })
  }
  if (failure === null) return
  run.report(failure)
  return onFailure?.(failure, plugin)
}

function heeding(run: Run, heed: Heed, options: AskOptions): AskOptions {
  if (heed === 'control') return options
  return { ...options, onControl: () => () => {}, scope: heed === 'turn' ? options.scope : run.stopScope }
}

/** Whether anybody listens: nothing is paid for a hook without listeners. */
export function hasHook(run: Run, name: HookName): boolean {
  return run.agent.plugins.hooks(name).length > 0
}

/** Calls a hook that only watches: nothing it does can stop a turn, and one that is not synchronous cannot take the process with it. */
export function observe(run: Pick<Run, 'report'>, watch: () => unknown): void {
  const failed = (error: unknown): void => run.report(error instanceof Error ? error : new Error(messageOf(error)))
  try {
    Promise.resolve(watch()).catch(failed)
  } catch (error) {
    failed(error)
  }
}
