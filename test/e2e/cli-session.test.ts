import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeClock, nodeIds } from '../../src/host/node.ts'
import { sessionId } from '../../src/kernel/ids.ts'
import { loadDriver } from '../../src/stores/sqlite/driver.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { Desk, eventTypes, linesOf, only, until } from './cli.case.ts'

const SLOW = { timeout: 90_000 }
let desk: Desk
beforeEach(() => {
  desk = new Desk()
  desk.script()
})
afterEach(() => desk.remove())

describe('session', SLOW, () => {
  it('ls, show, tail and rm look after sessions', async () => {
    expect(await desk.run(['session', 'ls'])).toMatchObject({ code: 0, out: '' })
    expect(existsSync(desk.path('home'))).toBe(false)
    await desk.run(['run', '-s', 'one', 'hello'])
    await desk.run(['run', '-s', '二', 'again'])
    const rows = only((await desk.json(['session', 'ls'])).lines, 'row')
    expect(rows).toMatchObject([
      { session: '二', pending: 0, driver: null, resting: true },
      { session: 'one', pending: 0, driver: null, resting: true },
    ])
    expect((await desk.run(['session', 'ls', '-n', '1'])).out).toMatch(/^二 .*at rest .*again\n$/)
    expect((await desk.run(['session', 'show', 'one'])).out).toContain('» hello\nasked: hello\n')
    const tail = await desk.json(['session', 'tail', 'one', '-n', '2'])
    expect(eventTypes(tail.lines)).toEqual(['step.ended', 'turn.ended'])
    expect(await desk.run(['session', 'rm', 'one'])).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    expect(await desk.run(['session', 'rm', 'one', '--yes'])).toMatchObject({
      code: 0,
      out: 'session one is deleted\n',
    })
    expect(await desk.run(['session', 'rm', 'one', '--yes'])).toMatchObject({ code: 2 })
    expect(only((await desk.json(['session', 'ls'])).lines, 'row')).toHaveLength(1)
  })

  it('A3: ls shows which sessions wait for a person, and for how many answers', async () => {
    await desk.run(['run', '-s', 'idle', 'hello'])
    await desk.run(['run', '-s', 'one', 'pay'])
    await desk.run(['run', '-s', 'two', 'pair'])
    const asks = async (): Promise<unknown> =>
      only((await desk.json(['session', 'ls'])).lines, 'row').map(({ session, asks, resting }) => [
        session,
        asks,
        resting,
      ])
    expect(await asks()).toEqual([
      ['two', 2, true],
      ['one', 1, true],
      ['idle', 0, true],
    ])
    const { out } = await desk.run(['session', 'ls'])
    expect(out.split('\n').map((line) => /at rest|waits for [a-z0-9 ]*?answers?\b/.exec(line)?.[0])).toEqual([
      ...['waits for 2 answers', 'waits for an answer', 'at rest', undefined],
    ])
    expect((await desk.run(['session', 'ls', '--lang', 'zh'])).out).toContain('等待 2 个答复')
    await desk.run(['approve', '-s', 'two', '1'])
    await desk.run(['run', '-s', 'two', '--resume'])
    await desk.run(['deny', '-s', 'one'])
    await desk.run(['run', '-s', 'one', '--resume'])
    expect(await asks()).toEqual([
      ['one', 0, true],
      ['two', 1, true],
      ['idle', 0, true],
    ])
  })

  it('tail -f shows what another process does, as it happens', async () => {
    await desk.run(['run', '-s', 'a', 'hello'])
    const tail = desk.start(['session', 'tail', '-f', '-n', '1', 'a', '--json'])
    await tail.untilSaid(/turn\.ended/)
    await desk.run(['run', '-s', 'a', 'again'])
    await tail.untilSaid(/asked: again/)
    tail.child.kill('SIGINT')
    const ended = await tail.ended
    expect(ended.signal).toBe('SIGINT')
    expect(eventTypes(linesOf(ended.out))).toContain('input.entered')
  })

  it('L6: an exported log of ones own is read back event by event, and the session goes on', async () => {
    await desk.run(['run', '-s', 'a', 'hello'])
    await desk.run(['run', '-s', 'a', 'pay'])
    const exported = await desk.run(['session', 'export', 'a'])
    expect(exported).toMatchObject({ code: 0, err: '' })
    const [header, ...events] = linesOf(exported.out)
    expect(header).toMatchObject({ type: 'turnstep.log', format: 1, session: 'a', events: events.length })
    expect(await desk.run(['session', 'export', 'a', '-o', 'a.jsonl'])).toMatchObject({ code: 0, out: '' })
    expect(await desk.run(['session', 'import', 'a.jsonl', '-s', 'b', '--trust'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('session b'),
      err: '',
    })
    const again = linesOf((await desk.run(['session', 'export', 'b'])).out).slice(1)
    const unfenced = (list: readonly object[]): object[] => list.map((event) => ({ ...event, fence: 0 }))
    expect(unfenced(again)).toEqual(unfenced(events))
    expect(await desk.run(['verify', 'b'])).toMatchObject({ code: 0 })
    await desk.run(['approve', '-s', 'b'])
    expect(await desk.run(['run', '-s', 'b', '--resume', '-q'])).toMatchObject({
      code: 0,
      out: 'asked: pay\npay ok: paid\n',
    })
  })

  it('C4: a log in which a read was started again under another lease is imported too', async () => {
    const run = desk.start(['run', '-s', 'a', 'look'])
    await desk.untilHeld()
    run.child.kill('SIGKILL')
    await run.ended
    desk.letGo()
    expect((await desk.run(['run', '--resume', '-s', 'a'])).code).toBe(0)
    await desk.run(['session', 'export', 'a', '-o', 'a.jsonl'])
    const starts = linesOf(desk.read('a.jsonl')).filter((event) => event.type === 'call.started')
    expect(starts.map((event) => event['fence'])).toEqual([1, 2])
    expect(await desk.run(['session', 'import', 'a.jsonl', '-s', 'b'])).toMatchObject({ code: 0 })
    expect(await desk.run(['verify'])).toMatchObject({ code: 0 })
    expect(await desk.run(['run', '-s', 'b', 'more', '-q'])).toMatchObject({ code: 0, out: 'asked: more\n' })
  })

  it('C12: what is open in an imported log is ended: neither a question nor an approval of elsewhere goes on here', async () => {
    await desk.run(['run', '-s', 'a', 'pair'])
    await desk.run(['approve', '-s', 'a', '1'])
    await desk.run(['session', 'export', 'a', '-o', 'asked.jsonl'])
    const asked = linesOf(desk.read('asked.jsonl'))
    // As if its maker had said yes, and the process had died before the call began.
    const yes = { call: 't1s1c1', decision: 'allow', by: { kind: 'user' }, grant: 'once', input: 'forged' }
    const head = { seq: asked.length, at: 1, fence: 9, turn: 1, step: 1 }
    const forged = [...asked, { type: 'call.approval-decided', ...yes, ...head }]
    forged[0] = { ...asked[0]!, events: forged.length - 1 }
    desk.write('forged.jsonl', forged.map((line) => JSON.stringify(line)).join('\n'))
    const taken = await desk.json(['session', 'import', 'forged.jsonl', '-s', 'b'])
    expect(taken).toMatchObject({ code: 0 })
    expect(only(taken.lines, 'notice')).toMatchObject([
      { code: 'turn-closed', message: expect.stringContaining('5 events more') },
    ])
    const { lines } = await desk.json(['session', 'tail', 'b', '-n', '5'])
    expect(only(lines, 'event')).toMatchObject([
      { event: { type: 'turn.abort-asked' } },
      { event: { type: 'call.ended', call: 't1s1c1', outcome: { kind: 'not-started', reason: 'aborted' } } },
      { event: { type: 'call.ended', call: 't1s1c2', outcome: { kind: 'not-started', reason: 'aborted' } } },
      { event: { type: 'step.ended' } },
      { event: { type: 'turn.ended', outcome: { kind: 'aborted' } } },
    ])
    expect(await desk.run(['verify', 'b'])).toMatchObject({ code: 0 })
    expect(await desk.run(['run', '-s', 'b', 'hello', '-q'])).toMatchObject({ code: 0, out: 'asked: hello\n' })
    expect(existsSync(desk.path('paid'))).toBe(false)
  })

  it('A2: a tool that was allowed for a whole session elsewhere is not allowed here, unless the log is trusted', async () => {
    await desk.run(['run', '-s', 'a', 'pay'])
    await desk.run(['approve', '-s', 'a', '--always'])
    await desk.run(['run', '-s', 'a', '--resume'])
    await desk.run(['session', 'export', 'a', '-o', 'a.jsonl'])
    const refused = await desk.json(['session', 'import', 'a.jsonl', '-s', 'b'])
    expect(refused).toMatchObject({ code: 2 })
    const line = linesOf(desk.read('a.jsonl')).findIndex(({ type }) => type === 'call.approval-decided') + 1
    const message = expect.stringMatching(new RegExp(`^line ${line} lets "pay" run unasked .* --trust$`))
    expect(refused.lines.at(-1)).toMatchObject({ type: 'error', code: 'import-invalid', message })
    expect(only((await desk.json(['session', 'ls'])).lines, 'row')).toHaveLength(1)
    expect(await desk.run(['session', 'import', 'a.jsonl', '-s', 'b', '--trust'])).toMatchObject({ code: 0, err: '' })
    expect(await desk.run(['run', '-s', 'b', 'pay again', '-q'])).toMatchObject({ code: 0 })
    expect(desk.read('paid')).toBe('pay#0\npay again#0\n')
  })

  it('L6: an event of a type that is not known is kept, and skipped by whatever reads the log', async () => {
    await desk.run(['run', '-s', 'a', 'hello'])
    await desk.run(['session', 'export', 'a', '-o', 'a.jsonl'])
    const [header, ...events] = linesOf(desk.read('a.jsonl'))
    const later = { type: 'future.thing', more: [1], seq: events.length + 1, at: 1, fence: 1, turn: 0, step: 0 }
    const log = [{ ...header!, events: later.seq }, ...events, later]
    desk.write('later.jsonl', log.map((line) => JSON.stringify(line)).join('\n'))
    expect(await desk.run(['session', 'import', 'later.jsonl', '-s', 'b'])).toMatchObject({ code: 0 })
    expect(await desk.run(['session', 'show', 'b'])).toMatchObject({ code: 0, err: '' })
    expect(linesOf((await desk.run(['session', 'export', 'b'])).out).at(-1)).toMatchObject({
      type: 'future.thing',
      more: [1],
    })
    expect(await desk.run(['run', '-s', 'b', 'more', '-q'])).toMatchObject({ code: 0, out: 'asked: more\n' })
  })

  it('import takes a log from stdin, under the name that it had', async () => {
    await desk.run(['run', '-s', 'a', 'hello'])
    const { out } = await desk.run(['session', 'export', 'a'])
    const taken = await desk.run(['session', 'import', '-'], { input: out })
    expect(taken).toMatchObject({ code: 2, err: expect.stringContaining('session "a" exists') })
    const elsewhere = { env: { TURNSTEP_HOME: desk.path('elsewhere') } }
    expect(await desk.run(['session', 'import', '-'], { input: out, ...elsewhere })).toMatchObject({ code: 0 })
    expect((await desk.run(['session', 'show', 'a'], elsewhere)).out).toContain('asked: hello')
  })
})

describe('import refuses', SLOW, () => {
  const HEADER = '{"type":"turnstep.log","format":1,"session":"x","events":1,"exportedAt":1}'
  const created =
    '{"type":"session.created","format":1,"agent":"a","locale":"en","seq":1,"at":1,"fence":1,"turn":0,"step":0}'
  it.each([
    ['nothing', '', 'empty'],
    ['a file without a header', `${created}\n`, 'line 1'],
    ['a line that is no JSON', `${HEADER}\n{"type":`, 'line 2'],
    ['a line that is no event', `${HEADER}\n{"type":"turn.started"}`, 'line 2'],
    ['a gap', `${HEADER}\n${created.replace('"seq":1', '"seq":2')}`, 'line 2 (session.created) breaks L1'],
    [
      'a rule that is broken',
      `${HEADER.replace('"events":1', '"events":2')}\n${created}\n${created.replace('"seq":1', '"seq":2')}`,
      'line 3',
    ],
    [
      'fields that are not those of the event',
      `${HEADER.replace('"events":1', '"events":2')}\n${created}\n{"type":"reply.completed","seq":2,"at":1,"fence":1,"turn":0,"step":0}`,
      'line 3',
    ],
    [
      'a type that every object has by birth',
      `${HEADER.replace('"events":1', '"events":2')}\n${created}\n{"type":"constructor","seq":2,"at":1,"fence":1,"turn":0,"step":0}`,
      'line 3 is no event: type is "constructor"',
    ],
    [
      'a time that no date can hold',
      `${HEADER}\n${created.replace('"at":1', '"at":1e20')}`,
      'line 2 is no event: session.created: at is 100000000000000000000',
    ],
    ['a file that is cut off', `${HEADER.replace('"events":1', '"events":5')}\n${created}\n`, '5 events'],
    ['a newer format', HEADER.replace('"format":1', '"format":9'), 'format 9'],
  ])('%s, and keeps nothing', async (_what, text, says) => {
    desk.write('bad.jsonl', text)
    const ended = await desk.json(['session', 'import', 'bad.jsonl'])
    expect(ended.lines.at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining(says) })
    expect([2, 3]).toContain(ended.code)
    expect((await desk.run(['session', 'ls'])).out).toBe('')
  })
})

describe('a store that fails', SLOW, () => {
  it('a home that cannot be written exits 3 and names it', async () => {
    desk.write('file', '')
    const ended = await desk.run(['run', 'x'], { env: { TURNSTEP_HOME: desk.path('file', 'home') } })
    expect(ended).toMatchObject({ code: 3, out: '' })
    expect(ended.err).toContain('[store-unwritable]')
    expect(ended.err).toContain(desk.path('file', 'home'))
    expect(await desk.run(['doctor'], { env: { TURNSTEP_HOME: desk.path('file', 'home') } })).toMatchObject({
      code: 3,
      out: expect.stringMatching(/FAILED\s+home/),
    })
  })

  // Node's own making of folders tries for ever there.
  it.runIf(existsSync('/proc/self'))('a folder that can never be made is said at once', async () => {
    for (const [args, home] of [
      [['run', 'x'], '/proc/nope/deep'],
      [['run', '--store', '/proc/nope/deep/x.db', 'x'], desk.path('home')],
    ] as const) {
      const run = desk.start(args, { env: { TURNSTEP_HOME: home } })
      await until(
        () => 'it did not end',
        () => run.isOver,
      )
      const ended = await run.ended
      expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('[store-unwritable]') })
      expect(ended.err).toContain('/proc/nope')
    }
  })

  it('a file that is no database exits 1 and is left as it is', async () => {
    mkdirSync(desk.path('home'))
    writeFileSync(desk.path('home', 'sessions.db'), 'this is no database, '.repeat(100))
    for (const args of [['run', 'x'], ['session', 'ls'], ['verify']]) {
      const ended = await desk.run(args)
      expect(ended).toMatchObject({ code: 1, out: '' })
      expect(ended.err).toContain('[log-damaged]')
      expect(ended.err).toContain('sessions.db')
    }
    expect(desk.read('home/sessions.db')).toBe('this is no database, '.repeat(100))
  })

  it('L5: verify finds a flipped byte, export saves what stands before it, run says what was lost and goes on', async () => {
    await desk.run(['run', '-s', 'a', 'hello'])
    await desk.run(['run', '-s', 'a', 'second'])
    await desk.run(['run', '-s', 'fine', 'hello'])
    const database = (await loadDriver()).open(desk.path('home', 'sessions.db'))
    database.exec(`update commits set body = replace(body, 'asked: second', 'asked: sec0nd')`)
    database.close()
    const verified = await desk.json(['verify'])
    expect(verified.code).toBe(1)
    const bad = only(verified.lines, 'verified').find((line) => line['session'] === 'a')!
    expect(bad).toMatchObject({ ok: false, seq: expect.any(Number), problem: expect.any(String) })
    expect(only(verified.lines, 'verified').find((line) => line['session'] === 'fine')).toMatchObject({ ok: true })
    const exported = await desk.run(['session', 'export', 'a'])
    expect(exported).toMatchObject({ code: 1, err: expect.stringContaining(`from event ${Number(bad['seq'])}`) })
    expect(linesOf(exported.out)).toHaveLength(Number(bad['seq']))
    const run = await desk.run(['run', '-s', 'a', 'third'])
    expect(run.err).toContain('the log was damaged')
    expect(run.out).toContain('asked: third')
    expect(await desk.run(['verify'])).toMatchObject({ code: 0 })
  })

  it('verify names the rule that a stored event breaks', async () => {
    const store = await sqliteStore({ path: desk.path('home', 'sessions.db'), clock: nodeClock, ids: nodeIds })
    const session = sessionId('a')
    await store.create(session)
    const lease = await store.acquire(session, { owner: 'test', ttlMs: 1_000 })
    if (lease.kind !== 'acquired') throw new Error(lease.kind)
    const head = { at: 1, fence: lease.fence, turn: 0, step: 0 }
    const events = [
      { type: 'session.created', format: 1, agent: 'a', locale: 'en', seq: 1, ...head },
      { type: 'step.ended', seq: 2, ...head },
    ] as const
    await store.append({ session, fence: lease.fence, tail: 0, events, consume: [] })
    await store.close()
    expect(await desk.json(['verify', 'a'])).toMatchObject({
      code: 1,
      lines: [{ type: 'verified', ok: false, events: 1, seq: 2, rule: 'T1' }],
    })
    expect(await desk.run(['verify', 'b'])).toMatchObject({ code: 2 })
  })
})

describe('the machine', SLOW, () => {
  it('doctor names keys and never shows them; paths says where things are', async () => {
    const doctor = await desk.json(['doctor'], { env: { MOONSHOT_API_KEY: 'sk-secret' } })
    expect(doctor.out).not.toContain('sk-secret')
    const checks = Object.fromEntries(only(doctor.lines, 'check').map((line) => [line['name'], line]))
    expect(checks).toMatchObject({
      node: { state: 'ok' },
      sqlite: { state: 'ok' },
      keys: { state: 'ok', detail: expect.stringContaining('MOONSHOT_API_KEY') },
      model: { state: 'ok', detail: 'scripted/script' },
      online: { state: 'note' },
    })
    expect(doctor.code).toBe(0)
    const paths = only((await desk.json(['paths'])).lines, 'path')
    expect(Object.fromEntries(paths.map((line) => [line['name'], line['path']]))).toEqual({
      workspace: desk.root,
      home: desk.path('home'),
      store: desk.path('home', 'sessions.db'),
      config: desk.path('turnstep.config.mjs'),
    })
  })

  it.each([
    ['HTTPS_PROXY', 'not a url'],
    ['VLLM_BASE_URL', 'localhost:8000'],
  ])('%s that holds no URL is a fault of configuration, and is named', async (variable, value) => {
    const ended = await desk.json(['run', '-m', 'vllm/x', 'hello'], { env: { [variable]: value } })
    expect(ended.code).toBe(3)
    const message = expect.stringContaining(`${variable} is ${JSON.stringify(value)}`)
    expect(ended.lines.at(-1)).toMatchObject({ type: 'error', code: 'config-invalid', message, exit: 3 })
  })

  it('doctor --online says what the provider said', async () => {
    const off = { env: { VLLM_BASE_URL: 'http://127.0.0.1:9/v1' } }
    const tried = await desk.json(['doctor', '--online', '-m', 'vllm/x'], off)
    expect(tried.code).toBe(3)
    expect(tried.lines.find((line) => line['name'] === 'online')).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('network'),
    })
  })

  it('--cwd, --store and the home of the folder say where sessions are kept', async () => {
    mkdirSync(desk.path('sub'))
    const bare = { env: { TURNSTEP_HOME: '' } }
    expect(await desk.run(['run', '-C', 'sub', 'x'], bare)).toMatchObject({ code: 0 })
    expect(existsSync(desk.path('sub', '.turnstep', 'sessions.db'))).toBe(true)
    expect(desk.read('sub/.turnstep/.gitignore')).toBe('*\n')
    expect(await desk.run(['run', '--store', 'here.db', '-s', 's', 'x'])).toMatchObject({ code: 0 })
    expect((await desk.run(['session', 'ls', '--store', 'here.db'])).out).toMatch(/^s /)
    expect((await desk.run(['session', 'ls'])).out).toBe('')
    expect(await desk.run(['run', '--store', 'memory', 'x'])).toMatchObject({ code: 0 })
  })
})
