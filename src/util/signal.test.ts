import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { AbortScope } from './signal.ts'

describe('an abort scope', () => {
  it('case 095: listens to nobody until somebody listens to it, and to nobody after it left', () => {
    const parent = new AbortController()
    const scope = new AbortScope(parent.signal)
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
    expect(scope.signal.aborted).toBe(false)
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1)
    scope.leave()
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
    parent.abort()
    expect(scope.signal.aborted).toBe(false)
  })

  it('aborts with what it is under, with its reason, through every level', () => {
    const root = new AbortScope()
    const leaf = new AbortScope(new AbortScope(root))
    const { signal } = leaf
    const heard: unknown[] = []
    leaf.onAbort((reason) => heard.push(reason))
    root.abort('enough')
    expect([signal.aborted, signal.reason, leaf.aborted, leaf.reason, heard]).toEqual([
      true,
      'enough',
      true,
      'enough',
      ['enough'],
    ])
  })

  it('leaves its parent alone when it aborts itself', () => {
    const root = new AbortScope()
    const leaf = new AbortScope(root)
    leaf.abort('why')
    expect([leaf.aborted, root.aborted, root.signal.aborted]).toEqual([true, false, false])
  })

  it.each([
    ['its parent', (parent: AbortController) => parent.abort('why')],
    ['itself', (_parent: AbortController, scope: AbortScope) => scope.abort('why')],
  ])('that is asked for its signal after %s aborted gives one that is aborted already', (_who, abort) => {
    const parent = new AbortController()
    const scope = new AbortScope(parent.signal)
    abort(parent, scope)
    expect(scope.aborted).toBe(true)
    expect([scope.signal.aborted, scope.signal.reason]).toEqual([true, 'why'])
    expect(() => scope.throwIfAborted()).toThrow('why')
  })

  it('keeps what it knew when it left', () => {
    const [before, after] = [new AbortScope(), new AbortScope()]
    const [told, spared] = [new AbortScope(before), new AbortScope(after)]
    before.abort('why')
    told.leave()
    spared.leave()
    after.abort('too late')
    expect([told.signal.aborted, told.signal.reason, spared.signal.aborted]).toEqual([true, 'why', false])
  })

  it('only the first abort counts, and a listener that was taken back hears nothing', () => {
    const scope = new AbortScope()
    const heard: unknown[] = []
    scope.onAbort((reason) => heard.push(reason))
    const never = (): unknown => heard.push('never')
    scope.onAbort(never)
    scope.unlisten(never)
    scope.abort('first')
    scope.abort('second')
    scope.onAbort(() => heard.push('too late'))
    expect([scope.reason, heard]).toEqual(['first', ['first']])
  })
})
