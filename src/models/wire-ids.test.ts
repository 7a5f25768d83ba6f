import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callId } from '../kernel/ids.ts'
import type { TranscriptCall } from '../kernel/message.ts'
import { WireIds } from './wire-ids.ts'

const legal = /^[a-zA-Z0-9_-]{1,40}$/

const call = (id: string, providerId: string): TranscriptCall => ({ id: callId(id), name: 'x', args: '{}', providerId })

function assign(calls: readonly TranscriptCall[]): string[] {
  const ids = new WireIds(legal)
  return calls.map((one) => ids.assign(one))
}

describe('C1: ids on the wire', () => {
  it('case 101: keep a legal id of the provider and map every other', () => {
    const hostile = ['call_1', 'Write:6', `${'x'.repeat(90)}|y`, '', 'a b', '调用']
    const ids = assign(hostile.map((providerId, n) => call(`t1s1c${n + 1}`, providerId)))
    expect(ids[0]).toBe('call_1')
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(legal)
  })

  it('case 102: keep the first of equal ids', () => {
    expect(assign([call('t1s1c1', 'call_0'), call('t2s1c1', 'call_0'), call('t3s1c1', 'call_0')])).toEqual([
      'call_0',
      'call_t2s1c1',
      'call_t3s1c1',
    ])
  })

  it('find another id where a provider imitates ours', () => {
    const ids = assign([call('t1s1c1', 'call_t1s1c2'), call('t1s1c2', ''), call('t1s1c3', 'call_t1s1c2_2')])
    expect(new Set(ids).size).toBe(3)
  })

  it('keep apart our own ids that look alike when made legal', () => {
    const long = 'x'.repeat(80)
    const ids = assign([call('t1.1', ''), call('t1_1', ''), call(`${long}1`, ''), call(`${long}2`, '')])
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(legal)
  })

  it('answer for the results what they answered for the calls', () => {
    const ids = new WireIds(legal)
    const assigned = ids.assign(call('t1s1c1', ''))
    expect(ids.of(callId('t1s1c1'))).toBe(assigned)
  })

  it('X1: are legal, unique, and the same in every longer request', () => {
    const provider = fc.oneof(
      fc.constantFrom('', 'call_0', 'x', 'Write:6', 'call_t1s1c2'),
      fc.string({ maxLength: 60 }),
    )
    fc.assert(
      fc.property(fc.array(provider, { maxLength: 20 }), fc.nat(20), (providerIds, length) => {
        const calls = providerIds.map((providerId, n) => call(`t1s1c${n + 1}`, providerId))
        const all = assign(calls)
        expect(new Set(all).size).toBe(all.length)
        for (const id of all) expect(id).toMatch(legal)
        expect(assign(calls.slice(0, length))).toEqual(all.slice(0, length))
      }),
    )
  })
})
