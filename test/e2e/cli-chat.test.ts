import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Desk, eventTypes, linesOf, only } from './cli.case.ts'

const SLOW = { timeout: 90_000 }
let desk: Desk
beforeEach(() => {
  desk = new Desk()
  desk.script()
})
afterEach(() => desk.remove())

describe('chat', SLOW, () => {
  it('a line starts a turn; a line typed while it works is a steer, and it is told when that entered', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('hold')
    await desk.untilHeld()
    chat.type('only the last one')
    await chat.untilSaid(/steer queued/)
    chat.type('/next and then this')
    await chat.untilSaid(/queued for the next turn \(2 waiting\)/)
    chat.type('/queue')
    await chat.untilSaid(/\[2\] followup: and then this/)
    chat.type('/queue edit 2 and then that')
    await chat.untilSaid(/changed/)
    chat.type('/status')
    await chat.untilSaid(/running: turn 1, step 1/)
    desk.letGo()
    await chat.untilSaid(/steer entered at step 2: only the last one/)
    await chat.untilSaid(/asked: and then that/)
    chat.type('/quit')
    const ended = await chat.ended
    expect(ended.code).toBe(0)
    expect(ended.out).toContain('asked: hold\nhold ok: held and let go\nsteered: [Correction')
  })

  it('asks for approval, and takes a bare y or n for the one question that is open', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('pay')
    await chat.untilSaid(/it costs money/)
    chat.type('wait, is it cheap?')
    await chat.untilSaid(/it waits until the question is answered/)
    chat.type('n')
    await chat.untilSaid(/pay denied/)
    chat.type('pay again')
    await chat.untilSaid(/t2s1c1/)
    chat.type('y')
    await chat.untilSaid(/pay ok: paid/)
    chat.child.stdin!.end()
    expect((await chat.ended).code).toBe(0)
    expect(desk.read('paid')).toBe('pay again#0\n')
  })

  it('A5: takes /approve, /deny and /answer by number, plain text for a question of ask_user, and says what it cannot take', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('pair')
    await chat.untilSaid(/\[2\] pay "pair#1" \(t1s1c2\)/)
    chat.type('y')
    await chat.untilSaid(/2 questions are open/)
    chat.type('/approve 7')
    await chat.untilSaid(/no open question "7"/)
    chat.type('/deny 2 once is enough')
    chat.type('/approve 1 always')
    await chat.untilSaid(/pay denied: .*once is enough/)
    chat.type('pay more')
    await chat.untilSaid(/asked: pay more\npay ok: paid/)
    chat.type('ask_user')
    await chat.untilSaid(/waits for an answer \(t\ds1c1\): your name/)
    chat.type('Ada')
    await chat.untilSaid(/ask_user ok: Ada/)
    chat.type('job')
    await chat.untilSaid(/waits for an answer \(t\ds1c1\): the job/)
    chat.type('hurry up')
    await chat.untilSaid(/it waits until the question is answered/)
    chat.type('/answer all done')
    await chat.untilSaid(/job ok: all done\nsteered: .*hurry up/)
    chat.type('/what')
    await chat.untilSaid(/there is no \/what/)
    chat.type('/help')
    await chat.untilSaid(/\/stop {2,}abort/)
    chat.type('/stop')
    await chat.untilSaid(/nothing is running/)
    chat.type('/quit')
    expect((await chat.ended).code).toBe(0)
    expect(desk.read('paid')).toBe('pair#0\npay more#0\n')
  })

  // Without U+2028: newer Node versions end a typed line at it.
  it('A2: a question reads as what would run: nothing in it is hidden, and no line of it passes for ours', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('pay safe\u{202E}; mr-\u{2066} \u{200B}x\u{2060}[2] fake')
    await chat.untilSaid(/it costs money/)
    expect(chat.err).toContain(
      '[1] pay "pay safe\\u{202E}; mr-\\u{2066} \\u{200B}x\\u{2060}[2] fake#0" (t1s1c1)\n    it costs money\n',
    )
    chat.type('n')
    await chat.untilSaid(/pay denied/)
    chat.type('/quit')
    expect((await chat.ended).code).toBe(0)
  })

  it('A3: an approval by another process wakes the session that waits for it', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('pay')
    await chat.untilSaid(/it costs money/)
    const approve = await desk.run(['approve', '-s', 'a'])
    expect(approve.code).toBe(0)
    await chat.untilSaid(/pay ok: paid/)
    chat.type('/quit')
    expect((await chat.ended).code).toBe(0)
  })

  it('T7: /stop aborts the turn, the queue is held, /resume lets it go on', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('hold')
    await desk.untilHeld()
    chat.type('/next later')
    await chat.untilSaid(/queued for the next turn/)
    chat.type('/stop')
    await chat.untilSaid(/aborted: the user asked for it/)
    chat.type('/status')
    await chat.untilSaid(/held\n\[1\] followup: later/)
    chat.type('/resume')
    await chat.untilSaid(/asked: later/)
    chat.type('/quit')
    expect((await chat.ended).code).toBe(0)
  })

  it('W5: /quit parks what runs; the next chat takes it up', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('look')
    await desk.untilHeld()
    chat.type('/quit')
    await chat.untilSaid(/parked/)
    desk.letGo()
    expect((await chat.ended).code).toBe(0)
    expect(await desk.run(['chat', '-c', '--json'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('look ok: held and let go'),
    })
  })

  it('works from a pipe: what was typed is done before it ends, with the exit code of the last turn', async () => {
    const done = await desk.run(['chat', '-s', 'a', '--json'], { input: 'hello\n' })
    expect(done.code).toBe(0)
    const lines = linesOf(done.out)
    expect(lines[0]).toMatchObject({ type: 'session', session: 'a' })
    expect(eventTypes(lines)).toContain('turn.ended')
    expect(lines.at(-1)).toMatchObject({ type: 'result', text: 'asked: hello', exit: 0 })
    expect((await desk.run(['chat', '-s', 'a'], { input: 'refuse\n' })).code).toBe(1)
    expect((await desk.run(['chat', '-s', 'a'], { input: 'pay\n' })).code).toBe(6)
  })

  it('a SIGINT aborts the turn and leaves with 130', async () => {
    const chat = desk.start(['chat', '-s', 'a'], { open: true })
    chat.type('hold')
    await desk.untilHeld()
    chat.child.kill('SIGINT')
    expect((await chat.ended).code).toBe(130)
    const { lines } = await desk.json(['session', 'tail', 'a', '-n', '1'])
    expect(only(lines, 'event')).toMatchObject([{ event: { type: 'turn.ended', outcome: { kind: 'aborted' } } }])
  })

  it('lines that come all at once are taken one by one: the first is the task, the others steer it', async () => {
    const ended = await desk.run(['chat', '-s', 'a', '-q'], { input: 'hello\nshorter\neven shorter\n' })
    expect(ended.code).toBe(0)
    const { lines } = await desk.json(['session', 'show', 'a'])
    const entered = only(lines, 'event').map((line) => line['event'] as { type: string; lane?: string })
    const lanes = entered.filter((event) => event.type === 'input.entered').map((event) => event.lane)
    expect(lanes).toEqual(['followup', 'steer', 'steer'])
  })
})
