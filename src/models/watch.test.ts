import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { deferred } from '../util/deferred.ts'
import { openCall } from './transport.ts'
import { Watch } from './watch.ts'

const limits = { firstChunkTimeoutMs: 100, idleTimeoutMs: 50, totalTimeoutMs: 1000 }

describe('waits', () => {
  it('counts the first limit over several waits, then the idle limit per wait', async () => {
    const clock = new FakeClock()
    const watch = new Watch(clock, limits, new AbortController().signal)
    const never = deferred<void>().promise
    const first = watch.wait(Promise.resolve(1))
    expect(await first).toEqual({ kind: 'value', value: 1 })
    await clock.advance(60)
    watch.heard()
    const later = deferred<number>()
    const second = watch.wait(later.promise)
    await clock.advance(49)
    later.resolve(2)
    expect(await second).toEqual({ kind: 'value', value: 2 })
    // A reader that takes its time is not the server's silence.
    await clock.advance(500)
    const third = watch.wait(never)
    await clock.advance(50)
    expect(await third).toEqual({ kind: 'cut', cut: { kind: 'idle', afterMs: 50 } })
    expect(clock.armed).toBe(0)
  })

  it('ends at the total limit, however lively the call is', async () => {
    const clock = new FakeClock()
    const watch = new Watch(clock, limits, new AbortController().signal)
    watch.heard()
    await clock.advance(980)
    const wait = watch.wait(deferred<void>().promise)
    await clock.advance(20)
    expect(await wait).toEqual({ kind: 'cut', cut: { kind: 'total', afterMs: 1000 } })
    expect(await watch.wait(Promise.resolve(1))).toMatchObject({ kind: 'cut' })
  })

  it('case 019: a limit ends a wait that nothing else ends', async () => {
    const clock = new FakeClock()
    const watch = new Watch(clock, limits, new AbortController().signal)
    const waited: unknown[] = []
    void watch.wait(deferred<void>().promise).then((value) => waited.push(value))
    await clock.advance(99)
    expect(waited).toEqual([])
    await clock.advance(1)
    expect(waited).toEqual([{ kind: 'cut', cut: { kind: 'first', afterMs: 100 } }])
  })

  it('T7: says aborted even if what was waited for came at the same time', async () => {
    const stop = new AbortController()
    const watch = new Watch(new FakeClock(), limits, stop.signal)
    const wait = watch.wait(Promise.resolve(1))
    stop.abort()
    expect(await wait).toEqual({ kind: 'cut', cut: { kind: 'aborted' } })
    expect(watch.signal.aborted).toBe(true)
  })

  it('hands on a failure, unless the call was cut', async () => {
    const watch = new Watch(new FakeClock(), limits, new AbortController().signal)
    const error = new Error('reset')
    expect(await watch.wait(Promise.reject(error))).toEqual({ kind: 'failed', error })
  })

  it('leaves nothing behind when it is closed', () => {
    const stop = new AbortController()
    const watch = new Watch(new FakeClock(), limits, stop.signal)
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
    watch.close()
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    expect(watch.signal.aborted).toBe(true)
  })
})

describe('case 019: a transport that ignores its signal', () => {
  it('is left at the abort, and its late answer is given up', async () => {
    const late = deferred<Response>()
    const cancelled = deferred<void>()
    const stop = new AbortController()
    const watch = new Watch(new FakeClock(), limits, stop.signal)
    const opening = openCall({ url: 'http://x', headers: {}, body: '', fetch: () => late.promise }, watch)
    stop.abort()
    expect(await opening).toEqual({ kind: 'cut', cut: { kind: 'aborted' } })
    late.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })))
    await cancelled.promise
  })

  it('is left at the abort while it reads, and its reader is cancelled', async () => {
    const cancelled = deferred<void>()
    const stop = new AbortController()
    const watch = new Watch(new FakeClock(), limits, stop.signal)
    const body = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() })
    const call = { url: 'http://x', headers: {}, body: '', fetch: () => Promise.resolve(new Response(body)) }
    const opened = await openCall(call, watch)
    if (opened.kind !== 'opened') throw new Error(opened.kind)
    const reading = opened.answer.read()
    stop.abort()
    expect(await reading).toMatchObject({ kind: 'cut' })
    opened.answer.close()
    await cancelled.promise
  })
})
