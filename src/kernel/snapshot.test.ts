import { describe, expect, it } from 'vitest'
import { log } from '../../test/kit/log.ts'
import { fromSnapshot, toSnapshot } from './snapshot.ts'
import type { Snapshot } from './state.ts'

describe('a snapshot', () => {
  it('L3: gives back calls by id, and directives as the very messages of the context', () => {
    const { state } = log().asked().calls({ effect: 'write' }, {}).started('t1s1c1')
    const restored = fromSnapshot(toSnapshot(state))!
    expect(restored).toEqual(state)
    expect(restored.step!.byId.get(restored.step!.calls[1]!.record.id)).toBe(restored.step!.calls[1])
    expect(restored.turn!.directives[0]).toBe(restored.context[0])
  })

  it('L6: of another format is not used', () => {
    const text = toSnapshot(log().open().state).replace('"format":1', '"format":99') as Snapshot
    expect(fromSnapshot(text)).toBeNull()
  })

  it('throws on text that is none', () => {
    expect(() => fromSnapshot('{"format":' as Snapshot)).toThrow(SyntaxError)
  })
})
