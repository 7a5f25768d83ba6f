import { existsSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Desk, eventTypes, only, type Line } from './cli.case.ts'

const SLOW = { timeout: 90_000 }
let desk: Desk
beforeEach(() => {
  desk = new Desk()
  desk.script()
})
afterEach(() => desk.remove())

function receipt(lines: readonly Line[]): Line | undefined {
  return only(lines, 'receipt')[0]
}

describe('a session that another process drives', SLOW, () => {
  it('L4: takes a steer, which enters at the next gate', async () => {
    const run = desk.start(['run', '-s', 'a', 'hold'])
    await desk.untilHeld()
    const steer = await desk.json(['steer', '-s', 'a', 'only the last one'])
    expect(steer.code).toBe(0)
    expect(steer.lines[0]).toEqual({ v: 1, type: 'session', session: 'a' })
    expect(receipt(steer.lines)).toMatchObject({
      state: { kind: 'queued' },
      driver: { owner: expect.stringMatching(/^process \d+ on /) },
    })
    desk.letGo()
    const ended = await run.ended
    expect(ended.code).toBe(0)
    expect(ended.out).toMatch(/^asked: hold\nhold ok: held and let go\nsteered: \[Correction.*\] only the last one\n$/)
    expect(ended.err).toContain('steer entered at step 2: only the last one')
  })

  it('steer --wait ends with the turn that it entered, and has its exit code', async () => {
    const run = desk.start(['run', '-s', 'a', 'hold'])
    await desk.untilHeld()
    const steer = desk.start(['steer', '-s', 'a', 'short', '--wait'])
    await steer.untilSaid(/steer is in the queue/)
    desk.letGo()
    const waited = await steer.ended
    expect(waited).toMatchObject({ code: 0, err: expect.stringContaining('drives the session') })
    expect(waited.out).toContain('steered: [Correction')
    await run.ended
  })

  it('W1: is busy for a second driver, who is told who holds it and how to reach it', async () => {
    const run = desk.start(['run', '-s', 'a', 'hold'])
    await desk.untilHeld()
    const second = await desk.run(['run', '-s', 'a', 'me too'])
    expect(second).toMatchObject({ code: 75, out: '' })
    expect(second.err).toContain(`process ${run.child.pid}`)
    expect(second.err).toContain('turnstep steer -s a')
    expect(await desk.json(['chat', '-s', 'a'])).toMatchObject({
      code: 75,
      lines: expect.arrayContaining([
        expect.objectContaining({ type: 'error', code: 'session-busy', class: 'retry', exit: 75 }),
      ]),
    })
    expect(await desk.run(['session', 'rm', 'a', '--yes'])).toMatchObject({ code: 75 })
    desk.letGo()
    expect((await run.ended).code).toBe(0)
  })

  it('can be aborted, and told what becomes of its queue', async () => {
    const run = desk.start(['run', '-s', 'a', 'hold'])
    await desk.untilHeld()
    await desk.run(['send', '-s', 'a', 'later'])
    const abort = await desk.run(['abort', '-s', 'a', '--reason', 'enough', '--pending', 'drop', '--wait'])
    expect(abort).toMatchObject({ code: 0, out: expect.stringContaining('taken') })
    const ended = await run.ended
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('aborted: enough') })
    expect(await desk.run(['queue', '-s', 'a'])).toMatchObject({ out: 'the queue is empty\n' })
    expect(await desk.run(['run', '-s', 'a', '--resume', '-q'])).toMatchObject({ code: 0, out: '' })
  })

  it('W4: killed with -9, it goes on in the next process; a write that may have happened is unknown and not repeated', async () => {
    const run = desk.start(['run', '-s', 'a', 'hold'])
    await desk.untilHeld()
    run.child.kill('SIGKILL')
    expect((await run.ended).signal).toBe('SIGKILL')
    expect((await desk.run(['session', 'ls'])).out).toContain('its driver died')
    const resumed = await desk.run(['run', '--resume', '-s', 'a'])
    expect(resumed.code).toBe(0)
    expect(resumed.out).toContain('asked: hold\nhold unknown: Outcome unknown')
    expect(desk.read('held').trim().split('\n')).toHaveLength(1)
  })

  it('W4: killed with -9 in a read, the next process runs the read again', async () => {
    const run = desk.start(['run', '-s', 'a', 'look'])
    await desk.untilHeld()
    run.child.kill('SIGKILL')
    await run.ended
    rmSync(desk.path('held'))
    const resumed = desk.start(['run', '--resume'])
    await desk.untilHeld()
    desk.letGo()
    expect(await resumed.ended).toMatchObject({ code: 0, out: 'asked: look\nlook ok: held and let go\n' })
  })
})

describe('approvals', SLOW, () => {
  it('A3: a run that needs one ends with 6 and says how; approved elsewhere, the same step goes on', async () => {
    const run = await desk.json(['run', '-s', 'a', 'pay'])
    expect(run.code).toBe(6)
    expect(only(run.lines, 'ask')).toMatchObject([
      { kind: 'approval', tool: 'pay', call: 't1s1c1', reason: 'it costs money' },
    ])
    expect(run.lines.at(-1)).toMatchObject({ type: 'result', status: 'waiting', exit: 6 })
    expect(existsSync(desk.path('paid'))).toBe(false)
    const approve = await desk.run(['approve', '-s', 'a'])
    expect(approve).toMatchObject({ code: 0, err: expect.stringContaining('turnstep run -s a --resume') })
    expect(await desk.run(['run', '-s', 'a', '--resume', '-q'])).toMatchObject({
      code: 0,
      out: 'asked: pay\npay ok: paid\n',
    })
    expect(desk.read('paid')).toBe('pay#0\n')
    expect(await desk.run(['approve', '-s', 'a'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('[ask-missing]'),
    })
  })

  it('an answer from another process wakes a run that stays for it', async () => {
    const run = desk.start(['run', '-s', 'a', '--wait', 'pay'])
    await run.untilSaid(/it costs money/)
    expect(await desk.run(['approve', '-s', 'a', '--wait'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('taken'),
    })
    expect(await run.ended).toMatchObject({ code: 0, out: 'asked: pay\npay ok: paid\n' })
  })

  it('of several, one has to be named; each is answered by itself', async () => {
    expect((await desk.run(['run', '-s', 'a', 'pair'])).code).toBe(6)
    const unnamed = await desk.run(['approve', '-s', 'a'])
    expect(unnamed).toMatchObject({ code: 2, out: '' })
    expect(unnamed.err).toContain('[1] pay "pair#0" (t1s1c1)')
    expect(unnamed.err).toContain('[2] pay "pair#1" (t1s1c2)')
    expect(await desk.run(['deny', '-s', 'a', 't1s1c2', '--reason', 'once is enough'])).toMatchObject({ code: 0 })
    expect(await desk.run(['approve', '-s', 'a', '1'])).toMatchObject({ code: 0 })
    expect(await desk.run(['deny', '-s', 'a', 'nothing'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('"nothing"'),
    })
    const resumed = await desk.run(['run', '-s', 'a', '--resume', '-q'])
    expect(resumed.out).toMatch(/^asked: pair\npay ok: paid\npay denied: .*once is enough\n$/)
  })

  it('A4: a deferred call is answered with its result', async () => {
    expect(await desk.run(['run', '-s', 'a', 'job'])).toMatchObject({
      code: 6,
      err: expect.stringContaining('the job'),
    })
    expect(await desk.run(['approve', '-s', 'a'])).toMatchObject({ code: 2, err: expect.stringContaining('`answer`') })
    expect(await desk.run(['answer', '-s', 'a', '1', 'done'])).toMatchObject({ code: 0 })
    expect(await desk.run(['run', '-s', 'a', '--resume', '-q'])).toMatchObject({
      code: 0,
      out: 'asked: job\njob ok: done\n',
    })
  })
})

describe('the queue', SLOW, () => {
  it('I7: lists, edits, moves, converts and withdraws; what is left enters in its order', async () => {
    await desk.run(['run', '-s', 'a', 'hello'])
    for (const text of ['one', 'two', 'three']) await desk.run(['send', '-s', 'a', text])
    await desk.run(['queue', '-s', 'a', 'edit', '2', 'two,', 'corrected'])
    await desk.run(['queue', '-s', 'a', 'up', '2'])
    await desk.run(['queue', '-s', 'a', 'drop', '3'])
    const listed = await desk.json(['queue', '-s', 'a'])
    const queued = only(listed.lines, 'queued')
    expect(queued.map((line) => (line['input'] as { content: { text: string }[] }).content[0]!.text)).toEqual([
      'two, corrected',
      'one',
    ])
    const { id } = queued[1]!['input'] as { id: string }
    expect(await desk.run(['queue', '-s', 'a', 'convert', id, 'note'])).toMatchObject({ code: 0 })
    expect(await desk.run(['run', '-s', 'a', '--resume', '-q'])).toMatchObject({ code: 0 })
    const { lines } = await desk.json(['session', 'show', 'a'])
    const entered = only(lines, 'event').map((line) => line['event'] as { type: string; lane?: string })
    expect(entered.filter((event) => event.type === 'input.entered').map((event) => event.lane)).toEqual([
      'followup',
      'followup',
      'note',
    ])
  })

  it.each([
    [['burn', '1'], 'queue burn'],
    [['edit', '9', 'x'], '"9"'],
    [['edit'], 'say which'],
    [['convert', '1', 'soon'], '"soon"'],
  ])('%j exits 2 and names the value', async (args, says) => {
    await desk.run(['run', '-s', 'a', 'hello'])
    await desk.run(['send', '-s', 'a', 'one'])
    expect(await desk.run(['queue', '-s', 'a', ...args])).toMatchObject({ code: 2, err: expect.stringContaining(says) })
  })

  it('I11: is held after a turn that did not complete, visibly, until new input or --resume', async () => {
    const run = desk.start(['run', '-s', 'a', 'hold'])
    await desk.untilHeld()
    await desk.run(['send', '-s', 'a', 'later'])
    await desk.run(['abort', '-s', 'a'])
    expect(await run.ended).toMatchObject({ code: 1, err: expect.stringContaining('the queue is held with 1 waiting') })
    const nobody = await desk.run(['send', '-s', 'a', 'now'])
    expect(nobody.err).toContain('nobody drives the session')
    const resumed = await desk.json(['run', '-s', 'a', '--resume'])
    expect(eventTypes(resumed.lines).filter((type) => type === 'turn.ended')).toHaveLength(2)
  })

  it('input to a session that there is not is refused, and makes none', async () => {
    for (const args of [['send', 'x'], ['steer', 'x'], ['note', 'x'], ['abort'], ['approve'], ['queue']])
      expect(await desk.run([...args, '-s', 'nobody'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('"nobody"'),
      })
    expect(existsSync(desk.path('home'))).toBe(false)
    expect(await desk.run(['send', 'x'])).toMatchObject({ code: 2, err: expect.stringContaining('no session yet') })
  })
})
