/**
 * Asking one hook. Its answer is raced against control and its own time: a hook that never answers cannot hold up an abort, and what
 * it says after the race is not used (docs/design/kernel.md, trap 1).
 */
import { AbortScope } from '../util/signal.ts'
import { isLater } from '../util/maybe.ts'
import { messageOf } from '../util/text.ts'
import type { Clock } from './ports.ts'

/** Answered; or left open by a throw or a timeout, which was reported; or overtaken by control. */
export type HookAnswer<T> =
  | { readonly kind: 'answer'; readonly value: T | undefined }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'control' }

export interface AskOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Who is asked, for the report of a failure. */
  readonly plugin: string
  /** Calls back once when control arrives; the answer takes it back. */
  readonly onControl: (run: () => void) => () => void
  /** Aborts when nobody waits for the answer any more. */
  readonly scope: AbortScope
}

type Answer<T> = T | undefined | void | Promise<T | undefined | void>

/** Contract: never throws, leaves no timer and no listener. A hook that answers at once is not awaited. */
export function askHook<T>(
  ask: (scope: AbortScope) => Answer<T>,
  options: AskOptions,
): HookAnswer<T> | Promise<HookAnswer<T>> {
  const own = new AbortScope(options.scope)
  let answer: Answer<T>
  try {
    answer = ask(own)
  } catch (error) {
    own.leave()
    return failed(options.plugin, error)
  }
  if (!isLater(answer)) {
    own.leave()
    return { kind: 'answer', value: answer ?? undefined }
  }
  return race(answer, own, options)
}

async function race<T>(
  answer: Promise<T | undefined | void>,
  own: AbortScope,
  options: AskOptions,
): Promise<HookAnswer<T>> {
  const undo: (() => void)[] = [() => own.leave()]
  try {
    return await Promise.race<HookAnswer<T>>([
      Promise.resolve(answer).then(
        (value): HookAnswer<T> => ({ kind: 'answer', value: value ?? undefined }),
        (error: unknown) => failed<T>(options.plugin, error),
      ),
      new Promise((resolve) => {
        const overtake = (): void => resolve({ kind: 'control' })
        undo.push(options.onControl(overtake))
        options.scope.onAbort(overtake)
        undo.push(() => options.scope.unlisten(overtake))
        if (options.scope.aborted) overtake()
        undo.push(
          options.clock.after(options.timeoutMs, () =>
            resolve(failed(options.plugin, new Error(`no answer within ${options.timeoutMs} ms`))),
          ),
        )
      }),
    ])
  } finally {
    own.abort()
    for (const run of undo) run()
  }
}

function failed<T>(plugin: string, cause: unknown): HookAnswer<T> {
  return { kind: 'failed', error: new Error(`a hook of plugin "${plugin}" failed: ${messageOf(cause)}`, { cause }) }
}
