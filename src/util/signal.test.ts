import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { linkSignal } from './signal.ts'

describe('a linked signal', () => {
  it('case 095: listens to nobody until it is asked for, and to nobody after its unlink', () => {
    const parent = new AbortController()
    const link = linkSignal(parent.signal)
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
    expect(link.signal.aborted).toBe(false)
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1)
    link.unlink()
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
    parent.abort()
    expect(link.signal.aborted).toBe(false)
  })

  it('aborts with a parent, with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const link = linkSignal(one.signal, other.signal)
    const { signal } = link
    other.abort('enough')
    expect([signal.aborted, signal.reason, link.aborted]).toEqual([true, 'enough', true])
    link.unlink()
    expect(getEventListeners(one.signal, 'abort')).toHaveLength(0)
  })

  it.each([
    ['its parent', (parent: AbortController) => parent.abort('why')],
    ['itself', (_parent: AbortController, link: ReturnType<typeof linkSignal>) => link.abort('why')],
  ])('that is asked for after %s aborted is aborted already', (_who, abort) => {
    const parent = new AbortController()
    const link = linkSignal(parent.signal)
    abort(parent, link)
    expect(link.aborted).toBe(true)
    expect([link.signal.aborted, link.signal.reason]).toEqual([true, 'why'])
  })

  it('keeps what it knew when it was unlinked', () => {
    const [before, after] = [new AbortController(), new AbortController()]
    const [told, spared] = [linkSignal(before.signal), linkSignal(after.signal)]
    before.abort('why')
    told.unlink()
    spared.unlink()
    after.abort('too late')
    expect([told.signal.aborted, told.signal.reason, spared.signal.aborted]).toEqual([true, 'why', false])
  })
})
