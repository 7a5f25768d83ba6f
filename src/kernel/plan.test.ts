import { describe, expect, it } from 'vitest'
import { id, log, recordOf } from '../../test/kit/log.ts'
import { barrier, conflict, startable, undeclaredResources } from './plan.ts'

const read = (name: string): { readonly name: string; readonly mode: 'read' } => ({ name, mode: 'read' })
const write = (name: string): { readonly name: string; readonly mode: 'write' } => ({ name, mode: 'write' })

describe('conflict', () => {
  it.each([
    ['two reads of one thing', [read('a')], [read('a')], false],
    ['a read and a write of one thing', [read('a')], [write('a')], true],
    ['two writes of one thing', [write('a')], [write('a')], true],
    ['writes of different things', [write('a')], [write('b')], false],
    ['reading everything beside a read', [read('*')], [read('a')], false],
    ['reading everything beside a write', [read('*')], [write('a')], true],
    ['writing everything beside a read', [write('*')], [read('a')], true],
    ['nothing beside everything', [], [write('*')], false],
    ['one of several', [read('a'), write('b')], [read('c'), read('b')], true],
  ] as const)('C6: %s', (_what, one, other, conflicts) => {
    expect([conflict(one, other), conflict(other, one)]).toEqual([conflicts, conflicts])
  })

  it('C6: undeclared reads share, others are alone', () => {
    const [reads, writes, puts] = [
      undeclaredResources('read'),
      undeclaredResources('write'),
      undeclaredResources('idempotent'),
    ]
    expect([conflict(reads, reads), conflict(reads, writes), conflict(writes, writes), conflict(puts, reads)]).toEqual([
      false,
      true,
      true,
      true,
    ])
  })
})

describe('the barrier', () => {
  it('C6: an inner call is not held up by the call that makes it, but by others', () => {
    const { step } = log().asked().calls({ effect: 'write' }, { effect: 'write' }).started('t1s1c1').state
    const inner = { ...step!.calls[0]!, record: recordOf('t1s1c1.1', { effect: 'write' }), parent: id('t1s1c1') }
    expect(barrier([...step!.calls, inner], inner)?.record.id).toBe('t1s1c2')
    expect(barrier([step!.calls[0]!, inner], inner)).toBeUndefined()
  })
})

describe('startable', () => {
  it('C6: nothing starts beside a straggler that holds what it needs', () => {
    const { calls } = log()
      .asked()
      .calls({ resources: [read('a')] }, { resources: [read('b')] }).state.step!
    expect(startable(calls, calls, [[write('a')]], 9).map((call) => call.record.id)).toEqual(['t1s1c2'])
  })

  it('C6: no more start than are free, and none if the pool is full', () => {
    const { calls } = log().asked().calls({}, {}, {}).state.step!
    expect(startable(calls, calls, [], 2)).toHaveLength(2)
    expect(startable(calls, calls, [], 0)).toHaveLength(0)
  })
})
