import { describe, expect, it } from 'vitest'
import { log, type Log } from '../../../test/kit/log.ts'
import type { TortureComplaint } from '../../protocol/torture.ts'
import { compare, yardstick } from './compare.ts'
import type { Evidence } from './evidence.ts'
import type { Entry } from './journal.ts'
import { hitsIn, isMissed, judge } from './judge.ts'

const RESTED: Entry = { process: 1, what: 'rested', status: 'idle', bodies: [], handles: [] }
const EXITED = { code: 0, signal: null, isLate: false }
const KILLED = { code: null, signal: 'SIGKILL', isLate: false } as const

const body = (process: number, more: { readonly fence?: number; readonly key?: string } = {}): Entry => ({
  process,
  what: 'begun',
  call: 't1s1c1',
  tool: 'pay',
  effect: 'write',
  key: more.key ?? 'k',
  fence: more.fence ?? process,
  attempt: process,
  args: {},
})

/** A whole turn with one call of `pay`. */
function paid(): Log {
  return log()
    .asked()
    .calls({ name: 'pay', effect: 'write' })
    .ran('t1s1c1')
    .stepEnded()
    .step()
    .requested()
    .said('done')
    .stepEnded()
    .turnEnded()
}

function evidence(change: Partial<Evidence> = {}, effect: 'read' | 'idempotent' | 'write' = 'write'): Evidence {
  return {
    moment: null,
    entries: [body(1), RESTED],
    ends: [EXITED],
    survivors: [],
    events: paid().events,
    damage: null,
    receipts: new Map([['go', { kind: 'entered', turn: 1, step: 1 }]]),
    pending: [],
    lease: null,
    calls: [{ id: 't1s1c1', tool: 'pay', effect, key: 'k', args: {}, begun: 1, ended: 1, outcome: 'ok' }],
    files: { store: ['sessions.db'], work: [], temp: [] },
    isChecked: false,
    ...change,
  }
}

const kinds = (complaints: readonly TortureComplaint[]): readonly string[] => complaints.map(({ kind }) => kind)

describe('a run by itself', () => {
  it('is sound', () => {
    expect(judge(evidence())).toEqual([])
  })

  it('C4: a write that began twice is doubled; anything else may run again, under the same key', () => {
    const twice = { entries: [body(1), body(2, { fence: 1 }), { ...RESTED, process: 2 }], ends: [KILLED, EXITED] }
    const hit: Entry = { process: 1, what: 'hit', moment: 'inside/pay/1' }
    expect(judge(evidence({ ...twice, entries: [...twice.entries, hit] }))).toEqual([
      { kind: 'doubled', tool: 'pay', call: 't1s1c1', times: 2 },
    ])
    expect(judge(evidence({ ...twice, entries: [...twice.entries, hit] }, 'idempotent'))).toEqual([])
    const changed = [body(1), body(2, { fence: 1, key: 'other' }), hit, { ...RESTED, process: 2 }]
    expect(judge(evidence({ ...twice, entries: changed }, 'idempotent'))).toEqual([
      { kind: 'key-changed', tool: 'pay', call: 't1s1c1', keys: ['k', 'other'] },
    ])
  })

  it('C3: a body whose start is not in the log is told', () => {
    expect(kinds(judge(evidence({ entries: [body(1, { fence: 9 }), RESTED] })))).toEqual(['unrecorded'])
  })

  it('I1, I6: an input is lost, entered twice, or still waits', () => {
    const receipts = new Map([
      ['go', { kind: 'entered', turn: 1, step: 1 } as const],
      ['gone', null],
      ['forged', { kind: 'entered', turn: 1, step: 1 } as const],
    ])
    const pending = [
      { id: 'late', lane: 'followup' },
      { id: 'by the way', lane: 'note' },
    ]
    expect(judge(evidence({ receipts, pending }))).toEqual([
      { kind: 'input-lost', input: 'gone' },
      { kind: 'input-lost', input: 'forged' },
      { kind: 'input-waiting', input: 'late', lane: 'followup' },
    ])
  })

  it('L1, C2: a broken log and a request that no wire takes are told with their place', () => {
    const { events } = paid()
    const torn = events.filter(({ type }) => type !== 'call.ended')
    expect(judge(evidence({ events: torn }))).toMatchObject([{ kind: 'rule-broken' }])
    const damage = { from: 3, reason: 'a byte' }
    expect(judge(evidence({ damage }))).toEqual([{ kind: 'log-damaged', seq: 3, problem: 'a byte' }])
    const forged = events.map((event) =>
      event.type === 'reply.completed'
        ? { ...event, calls: event.calls.map((call) => ({ ...call, rawArgs: '[]' })) }
        : event,
    )
    expect(judge(evidence({ events: forged }))).toMatchObject([{ kind: 'request-broken', at: 1 }])
  })

  it('what was left behind is told: lease, bodies, handles, processes', () => {
    const rested: Entry = { ...RESTED, bodies: ['t1s1c1'], handles: [{ handle: 'Timeout', count: 2 }] }
    const left = {
      entries: [body(1), rested],
      lease: { owner: 'somebody', since: 1 },
      survivors: [{ pid: 7, command: 'sleep 9' }],
    }
    expect(judge(evidence(left))).toEqual([
      { kind: 'lease-left', owner: 'somebody' },
      { kind: 'body-left', tool: 'pay', call: 't1s1c1' },
      { kind: 'handle-left', handle: 'Timeout', count: 2 },
      { kind: 'process-left', pid: 7, command: 'sleep 9' },
    ])
  })

  it('a process that does not come to rest is told, and not what follows from it', () => {
    const lease = { owner: 'somebody', since: 1 }
    const failed: Entry = { process: 1, what: 'failed', code: null, problem: 'no bank' }
    expect(judge(evidence({ entries: [body(1), failed], lease }))).toEqual([
      { kind: 'not-resumed', process: 1, problem: 'no bank' },
    ])
    const ends = [{ code: 3, signal: null, isLate: false }]
    expect(kinds(judge(evidence({ entries: [body(1)], ends, lease })))).toEqual(['not-resumed'])
    const late = [{ ...KILLED, isLate: true }]
    expect(judge(evidence({ entries: [body(1)], ends: late }))).toEqual([{ kind: 'not-at-rest', status: 'late' }])
    const waiting = [body(1), { ...RESTED, status: 'waiting' }]
    expect(judge(evidence({ entries: waiting }))).toEqual([{ kind: 'not-at-rest', status: 'waiting' }])
  })

  it('what a check says, throws, or does not say is a complaint', () => {
    const after = (entry: Entry): Partial<Evidence> => ({ entries: [body(1), RESTED, entry], isChecked: true })
    const texts = (change: Partial<Evidence>): unknown =>
      judge(evidence(change)).map((one) => 'text' in one && one.text)
    expect(texts(after({ process: 2, what: 'checked', complaints: ['a', 'b'] }))).toEqual(['a', 'b'])
    expect(texts(after({ process: 2, what: 'failed', code: null, problem: 'no file' }))).toEqual(['no file'])
    expect(texts({ isChecked: true })).toEqual([expect.stringContaining('without an answer')])
  })

  it('a hit that did not come is missed; one that came is told with the end of the log then', () => {
    const started: Entry = {
      process: 2,
      what: 'started',
      agent: 'a',
      tail: 6,
      model: 'default',
      check: false,
      opened: [],
    }
    const hit: Entry = { process: 1, what: 'hit', moment: 'inside/pay/1' }
    const run = evidence({ moment: 'inside/pay/1', entries: [body(1), hit, started] })
    expect(hitsIn(run)).toEqual([{ moment: 'inside/pay/1', seq: 6, event: 'model.requested' }])
    expect(isMissed(run)).toBe(false)
    expect(isMissed({ ...run, moment: 'inside/pay/1+after-put/1' })).toBe(true)
    expect(isMissed(evidence())).toBe(false)
  })
})

describe('a run beside the undisturbed one', () => {
  const stick = yardstick(evidence(), evidence())

  it('is the same', () => {
    expect(stick).toMatchObject({ alike: true, alikeFiles: true })
    expect(compare(evidence(), stick)).toEqual([])
  })

  it('C4: an unknown write is explained by the hit that left it open, and by nothing else', () => {
    const unknown = log()
    unknown.asked().calls({ name: 'pay', effect: 'write' }).started('t1s1c1')
    const { length } = unknown.events
    unknown.fence++
    unknown
      .ended('t1s1c1', { kind: 'unknown', reason: 'crashed' })
      .stepEnded()
      .step()
      .requested()
      .said('done')
      .stepEnded()
      .turnEnded()
    const calls = evidence().calls.map((call) => ({ ...call, outcome: 'unknown' as const }))
    const started: Entry = {
      process: 2,
      what: 'started',
      agent: 'a',
      tail: length,
      model: 'default',
      check: false,
      opened: [],
    }
    const run = evidence({ events: unknown.events, calls, entries: [body(1), started] })
    expect(compare(run, stick)).toEqual([])
    const unexplained = { ...run, entries: [body(1), { ...started, tail: length - 1 }] }
    expect(compare(unexplained, stick)).toEqual([
      { kind: 'call-changed', tool: 'pay', call: 't1s1c1', was: 'ok', is: 'unknown' },
    ])
  })

  it('goes another way: a veto more, another end of the turn', () => {
    const vetoed = log()
      .asked()
      .calls({ name: 'pay', effect: 'write' })
      .ran('t1s1c1')
      .stepEnded()
      .step()
      .requested()
      .said('done')
      .stepEnded()
    const veto = { type: 'stop.vetoed', by: 'plugin', content: [{ type: 'text', text: 'more' }] } as const
    vetoed.add(veto).step().requested().said('done').stepEnded().turnEnded()
    expect(compare(evidence({ events: vetoed.events }), stick)).toEqual([
      { kind: 'story-changed', was: 'turn 1: completed', is: 'turn 1: plugin keeps it going' },
    ])
    const refused = log().asked().calls({ name: 'pay', effect: 'write' }).ran('t1s1c1').stepEnded()
    refused
      .step()
      .requested()
      .said('no', { finish: 'refused' })
      .stepEnded()
      .turnEnded({ kind: 'refused', reason: 'no' })
    expect(kinds(compare(evidence({ events: refused.events }), stick))).toContain('turn-changed')
    const other = evidence({ events: refused.events })
    expect(compare(other, yardstick(evidence(), other)), 'two undisturbed runs differ').toEqual([])
  })

  it('X1: another agent after the restart is told with what is other', () => {
    const changed = paid()
    const spec = (name: string, description = 'd') => ({ name, description, parameters: {} })
    const content = { system: 'new', tools: [spec('look')], route: changed.state.epoch!.content.route, hash: 'i' }
    changed.add({ type: 'epoch.started', n: 2, reason: 'changed', content })
    const again = { ...content, tools: [spec('look', 'other'), spec('find')], hash: 'j' }
    changed.add({ type: 'epoch.started', n: 3, reason: 'changed', content: again })
    expect(compare(evidence({ events: changed.events }), stick)).toEqual([
      { kind: 'agent-changed', gone: [], added: ['look'], altered: [], instructions: true },
      { kind: 'agent-changed', gone: [], added: ['find'], altered: ['look'], instructions: false },
    ])
  })

  it('faults and files count that the undisturbed run does not have; an abort has an end of its own', () => {
    const fault = (problem: string): Entry => ({ process: 2, what: 'fault', problem })
    const usual = yardstick(evidence({ entries: [fault('old')] }), evidence())
    const files = { store: ['sessions.db', 'x.lock'], work: ['a.tmp'], temp: [] }
    expect(compare(evidence({ entries: [fault('old'), fault('new')], files }), usual)).toEqual([
      { kind: 'fault', process: 2, problem: 'new' },
      { kind: 'file-left', path: 'store/x.lock' },
      { kind: 'file-left', path: 'work/a.tmp' },
    ])
    const aborted = log().asked().calls({ name: 'pay', effect: 'write' }).started('t1s1c1').aborted()
    aborted
      .ended('t1s1c1', { kind: 'error', code: 'aborted', message: '' })
      .stepEnded()
      .turnEnded({ kind: 'aborted', reason: 'stop' })
    expect(compare(evidence({ moment: 'abort/pay/1', events: aborted.events }), stick)).toEqual([])
  })
})
