import { describe, expect, it } from 'vitest'
import { thenable } from '../../test/kit/thenable.ts'
import { drainMicrotasks, FakeClock } from '../testing/fake-clock.ts'
import { deferred } from '../util/deferred.ts'
import { AbortScope } from '../util/signal.ts'
import { askHook, type AskOptions } from './ask-hook.ts'

/** Counts who listens to it. */
class CountingScope extends AbortScope {
  listeners = 0

  override onAbort(run: (reason: unknown) => void): void {
    if (!this.aborted) this.listeners++
    super.onAbort(run)
  }

  override unlisten(run: (reason: unknown) => void): void {
    if (!this.aborted) this.listeners--
    super.unlisten(run)
  }

  override abort(reason?: unknown): void {
    super.abort(reason)
    this.listeners = 0
  }
}

/** Options, with what comes from outside in the hands of the test. */
function asking() {
  const clock = new FakeClock()
  const stop = new CountingScope()
  const control = new Set<() => void>()
  const options: AskOptions = {
    clock,
    timeoutMs: 1_000,
    plugin: 'slow',
    scope: stop,
    onControl: (run) => {
      control.add(run)
      return () => control.delete(run)
    },
  }
  const leftovers = (): unknown => ({
    timers: clock.armed,
    waiters: control.size,
    listeners: stop.listeners,
  })
  return { clock, stop, control, options, leftovers }
}

const NOTHING = { timers: 0, waiters: 0, listeners: 0 }

describe('askHook', () => {
  it('does not await a hook that answers at once, and arms nothing for it', () => {
    const { options, leftovers } = asking()
    expect(askHook(() => 7, options)).toEqual({ kind: 'answer', value: 7 })
    expect(askHook(() => {}, options)).toEqual({ kind: 'answer', value: undefined })
    expect(leftovers()).toEqual(NOTHING)
  })

  it('gives the answer of a hook that takes its time', async () => {
    const { options, leftovers } = asking()
    const answer = deferred<number | undefined>()
    const asked = askHook(() => answer.promise, options)
    expect(leftovers()).toMatchObject({ timers: 1, waiters: 1 })
    answer.resolve(7)
    expect(await asked).toEqual({ kind: 'answer', value: 7 })
    expect(leftovers()).toEqual(NOTHING)
  })

  it('takes a throw and a rejection for a failure that names the plugin', async () => {
    const { options, leftovers } = asking()
    const boom = (): never => {
      throw new Error('boom')
    }
    expect(askHook(boom, options)).toMatchObject({
      kind: 'failed',
      error: { message: 'a hook of plugin "slow" failed: boom' },
    })
    expect(await askHook(async () => boom(), options)).toMatchObject({
      kind: 'failed',
      error: { cause: { message: 'boom' } },
    })
    expect(leftovers()).toEqual(NOTHING)
  })

  it('takes the promise of another library, however little that keeps to', async () => {
    const { options, leftovers } = asking()
    const odd = thenable<number>((resolve) => queueMicrotask(() => resolve(7)))
    expect(await askHook(() => odd, options)).toEqual({ kind: 'answer', value: 7 })
    const broken = thenable<number>(() => {
      throw new Error('no promise at all')
    })
    expect(await askHook(() => broken, options)).toMatchObject({ kind: 'failed' })
    expect(leftovers()).toEqual(NOTHING)
  })

  it('T7: waits no longer than its time, and tells the hook', async () => {
    const { clock, options, leftovers } = asking()
    let signal!: AbortSignal
    const asked = askHook((given) => {
      signal = given.signal
      return new Promise<undefined>(() => {})
    }, options)
    await clock.advance(999)
    expect(signal.aborted).toBe(false)
    await clock.advance(1)
    expect(await asked).toMatchObject({
      kind: 'failed',
      error: { message: 'a hook of plugin "slow" failed: no answer within 1000 ms' },
    })
    expect(signal.aborted).toBe(true)
    expect(leftovers()).toEqual(NOTHING)
  })

  it('I13: is overtaken by control; what the hook says after that is not used, nor what it throws', async () => {
    const { control, options, leftovers } = asking()
    const answer = deferred<number | undefined>()
    let signal!: AbortSignal
    const asked = askHook((given) => {
      signal = given.signal
      return answer.promise
    }, options)
    for (const overtake of control) overtake()
    expect(await asked).toEqual({ kind: 'control' })
    expect(signal.aborted).toBe(true)
    expect(leftovers()).toEqual(NOTHING)
    answer.reject(new Error('too late'))
    await drainMicrotasks()
  })

  it('W2: is overtaken by the end of its runner, also by one that came before it was asked', async () => {
    const { stop, options, leftovers } = asking()
    const never = (): Promise<undefined> => new Promise(() => {})
    const asked = askHook(never, options)
    stop.abort()
    expect(await asked).toEqual({ kind: 'control' })
    expect(await askHook(never, options)).toEqual({ kind: 'control' })
    expect(leftovers()).toEqual(NOTHING)
  })
})
