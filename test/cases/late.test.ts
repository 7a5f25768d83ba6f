/** Cases about results that come after their call was closed: they are news, never a second result. */
import { describe, expect, it } from 'vitest'
import type { Script, ScriptStep } from '../../src/models/scripted/index.ts'
import type { ToolParts } from './bench.ts'
import {
  STALE,
  agentOf,
  eventsOf,
  heldTool,
  linesOf,
  outcomesOf,
  pluginOf,
  resultsOf,
  soon,
  strictModel,
  toolOf,
  useBenches,
} from './bench.ts'

const bench = useBenches()
const call = (name: string): ScriptStep => ({ emit: [{ call: { name } }] })
const text = (said: string): ScriptStep => ({ emit: [{ text: said }] })
const own = (name: string): ToolParts => ({ effect: 'write', resources: () => [{ name, mode: 'write' }] })

describe('a call that was closed before its body came back', () => {
  async function open(script: Script) {
    const one = bench()
    const slow = heldTool('slow', { ...own('slow'), timeoutMs: 1_000 })
    const other = heldTool('other', own('other'))
    const model = strictModel(script, { cursor: 'context' })
    const spec = agentOf(model, { tools: [slow.tool, other.tool] })
    const harness = one.harness()
    const session = await harness.open(spec, { session: 's' })
    const turn = await session.send('go')
    const body = await slow.started()
    await one.clock.advance(1_000)
    expect(body.context.signal.aborted).toBe(true)
    return { one, spec, model, session, turn, body, other }
  }

  const late = /^user \[Late news of slow \(t1s1c1\).*ended ok\] it worked$/

  it('case 060: its receipt says that it may have happened, not that it failed', async () => {
    const { model, turn, body, session } = await open([call('slow'), text('done')])
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'timeout' })
    expect(resultsOf(model.requests[1]!.messages)['t1s1c1']).toMatch(
      /No result within 1000 ms\. It may have taken effect/,
    )
    body.end('too late')
  })

  it('case 060: its outcome comes in the same turn: a new fact at the next gate, never a second result', async () => {
    const { model, turn, body, other, session } = await open([call('slow'), call('other'), text('done')])
    const running = await other.started()
    body.end('it worked')
    await soon(async () => (await eventsOf(session, 'call.ended-late')).length === 1)
    expect(model.requests).toHaveLength(2)
    running.end('ok')
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    const lines = linesOf(model.requests[2]!.messages)
    expect(lines.slice(0, 5)).toEqual([
      'user go',
      'assistant slow#t1s1c1',
      'tool t1s1c1 timeout',
      'assistant other#t1s2c1',
      'tool t1s2c1 ok',
    ])
    expect(lines.slice(5)).toEqual([expect.stringMatching(late)])
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'timeout', t1s2c1: 'ok' })
    expect(model.refusals).toEqual([])
  })

  it('case 060: its outcome comes after the turn ended: it is in the log at once, and with the next turn in the context', async () => {
    const { model, turn, body, session } = await open([call('slow'), text('done'), text('I see')])
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    await session.settled()
    body.end('it worked')
    await soon(async () => (await eventsOf(session, 'call.ended-late')).length === 1)
    await session.settled()
    expect(model.requests).toHaveLength(2)
    expect(await (await session.send('and now?')).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[2]!.messages).slice(4)).toEqual([expect.stringMatching(late), 'user and now?'])
    expect(model.refusals).toEqual([])
  })

  it('case 060: its outcome comes after a restart: whoever goes on learns of it, once', async () => {
    const { one, spec, model, turn, body, session } = await open([call('slow'), text('done'), text('I see')])
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    await session.settled()
    await session.close()
    body.end('it worked')
    await soon(async () => (await one.store.pending(session.id)).length === 1)
    const again = await one.harness().open(spec, { session: 's' })
    await again.settled()
    expect(await (await again.send('and now?')).outcome).toMatchObject({ kind: 'completed' })
    expect(linesOf(model.requests[2]!.messages).slice(4)).toEqual([expect.stringMatching(late), 'user and now?'])
    expect(await eventsOf(again, 'call.ended-late')).toHaveLength(1)
  })

  it('case 060: told by a person instead, it is the same fact; told twice, the second is stale', async () => {
    const { model, turn, body, session } = await open([call('slow'), text('done'), text('I see')])
    await turn.outcome
    expect(await (await session.answer('t1s1c1', 'it worked')).settled).toMatchObject({ kind: 'entered' })
    expect(await (await session.answer('t1s1c1', 'it worked, really')).settled).toEqual(STALE)
    await (
      await session.send('and now?')
    ).outcome
    expect(linesOf(model.requests[2]!.messages).filter((line) => late.test(line))).toHaveLength(1)
    body.end('much too late')
    await soon(async () => (await session.queue.list()).length === 0)
    expect(await eventsOf(session, 'call.ended-late')).toHaveLength(1)
  })
})

describe('an approval that comes too late', () => {
  it('case 060: it is visibly refused, and nothing runs', async () => {
    const one = bench()
    let ran = 0
    const policy = pluginOf('policy', { decideCall: () => ({ kind: 'ask', reason: 'sure?', expiresInMs: 60_000 }) })
    const model = strictModel([call('rm'), text('done')])
    const session = await one
      .harness()
      .open(agentOf(model, { tools: [toolOf('rm', () => String(++ran), { effect: 'write' })], plugins: [policy] }))
    const turn = await session.send('go')
    await session.settled()
    expect(await session.status()).toMatchObject({
      kind: 'waiting',
      asks: [{ call: 't1s1c1', reason: 'sure?', expiresAt: one.clock.now() + 60_000 }],
    })
    await one.run(async () => (await session.status()).kind === 'idle', 1_000)
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    expect(await (await session.approve('t1s1c1')).settled).toEqual(STALE)
    expect(ran).toBe(0)
    expect(await eventsOf(session, 'call.ended')).toMatchObject([{ outcome: { kind: 'denied', by: 'expired' } }])
    expect(resultsOf(model.requests[1]!.messages)['t1s1c1']).toMatch(/nobody answered in time/)
  })
})

describe('a straggler', () => {
  /** Its turn was aborted while it ran; the next turn waits to run `after`. */
  async function leaveBehind() {
    const one = bench()
    const deaf = heldTool('deaf', { effect: 'write' })
    const after = heldTool('after', { effect: 'write' })
    const model = strictModel([call('deaf'), call('after'), text('done')])
    const session = await one.harness().open(agentOf(model, { tools: [deaf.tool, after.tool] }))
    const first = await session.send('go')
    const body = await deaf.started()
    await session.abort()
    expect(await one.settle(first.outcome)).toMatchObject({ kind: 'aborted' })
    await session.settled()
    const turn = await session.send('next')
    await soon(() => model.requests.length === 2)
    return { one, session, body, after, turn }
  }

  it('C6, case 060: it holds what it touches, beyond its turn and its lease, up to a bound; then the next call starts', async () => {
    const { one, session, body, after, turn } = await leaveBehind()
    await one.clock.advance(30_000)
    expect(after.starts).toHaveLength(0)
    await one.clock.advance(30_000)
    const running = await after.started()
    running.end('ok')
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'unknown', t2s1c1: 'ok' })
    body.end('too late')
    await soon(async () => (await eventsOf(session, 'call.ended-late')).length === 1)
  })

  it('C6, case 060: when it ends, what it held is free at once', async () => {
    const { one, body, after, turn } = await leaveBehind()
    const before = one.clock.now()
    expect(after.starts).toHaveLength(0)
    body.end('there')
    const running = await after.started()
    expect(one.clock.now()).toBe(before)
    running.end('ok')
    expect(await turn.outcome).toMatchObject({ kind: 'completed' })
  })
})
