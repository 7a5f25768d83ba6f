/** `turnstep torture` as its users have it: the built command on agents that are good, and on agents that are bad in one way each. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TortureFinding, TortureReport } from '../../src/protocol/torture.ts'
import { Desk, linesOf, until, type StartOptions } from './cli.case.ts'

const SLOW = { timeout: 120_000 }
let desk: Desk
beforeEach(() => {
  desk = new Desk()
  mkdirSync(desk.path('tmp'))
})
afterEach(() => desk.remove())

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/torture/${name}`, import.meta.url))

function options(env: Readonly<Record<string, string>> = {}): StartOptions {
  return { env: { TMPDIR: desk.path('tmp'), ...env } }
}

async function torture(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<TortureReport & { readonly code: number | null }> {
  const { code, out, err } = await desk.run(['torture', fixture(name), '--json', ...args], options(env))
  const [line] = linesOf(out)
  if (line?.type !== 'torture') throw new Error(`no report: ${out}\n${err}`)
  return { ...(line as unknown as TortureReport), code }
}

/** Moments given by name, as flags. */
const only = (...moments: readonly string[]): readonly string[] => moments.flatMap((moment) => ['--only', moment])

/** What is wrong with each moment, in a word. */
function kinds({ results }: TortureReport): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(results.map(({ moment, findings }) => [moment, findings.map(({ kind }) => kind)]))
}

function findings({ results }: TortureReport): readonly TortureFinding[] {
  return results.flatMap((result) => result.findings)
}

const left = (): readonly string[] => readdirSync(desk.path('tmp'))

describe('torture: a good agent', () => {
  it('C4, I2, A2, W4: passes every moment that it has, and nothing of it is left', { timeout: 300_000 }, async () => {
    const report = await torture('good.mjs', [])
    expect(findings(report)).toEqual([])
    expect(report).toMatchObject({ code: 0, exit: 0, agent: 'clerk', model: 'default', reproduce: null })
    expect(report.undisturbed).toMatchObject({ turns: ['completed'], calls: 2, alike: true, findings: [] })
    const { moments, runs, passed, failed, missed, kills } = report.totals
    expect({ runs, failed }).toEqual({ runs: moments, failed: 0 })
    expect(moments).toBeGreaterThanOrEqual(40)
    // A body may end faster than it ever did; two results may land together.
    expect(missed).toBeLessThanOrEqual(2)
    expect(passed).toBe(moments - missed)
    expect(kills).toBeGreaterThanOrEqual(moments - missed - 2)
    const places = report.results.map(({ moment }) => moment)
    expect(places).toEqual(expect.arrayContaining(['begun/refund/1', 'inside/refund/1', 'ended/refund/1']))
    expect(places).toEqual(
      expect.arrayContaining(['abort/refund/1', 'stop/refund/1', 'after-put/2', 'after-release/2']),
    )
    expect(
      report.results.some(({ again }) => again > 0),
      'an idempotent call ran again',
    ).toBe(true)
    expect(left()).toEqual([])
  })

  it('W4: survives a second kill in the process that goes on', SLOW, async () => {
    const report = await torture('good.mjs', ['--kills', '4', '--seed', '5', '--twice'])
    expect(findings(report)).toEqual([])
    const twice = report.results.filter(({ moment }) => moment.includes('+'))
    expect(twice.length).toBeGreaterThanOrEqual(2)
    const both = twice.filter(({ verdict }) => verdict === 'passed')
    expect(both.length).toBeGreaterThanOrEqual(1)
    for (const { moment, hits } of both) expect(hits.map((hit) => hit.moment).join('+')).toBe(moment)
  })

  it('I1, I6, A4: keeps several messages, a steer and a deferred result across kills', SLOW, async () => {
    const report = await torture('talk.mjs', ['--steer', 'faster', '--kills', '10'])
    expect(findings(report)).toEqual([])
    expect(report).toMatchObject({ code: 0, agent: 'talk', totals: { runs: 10, failed: 0 } })
    expect(report.undisturbed.turns).toEqual(['completed', 'completed'])
  })

  it('answers with its own model, and is told no', SLOW, async () => {
    const report = await torture('own.mjs', [
      '--own-model',
      '--approve',
      'no',
      ...only('after-append/3', 'after-put/2'),
    ])
    expect(findings(report)).toEqual([])
    expect(report).toMatchObject({ code: 0, model: 'own', undisturbed: { turns: ['refused'] } })
    expect(report.undisturbed.findings).toMatchObject([
      { kind: 'never-ran', tool: 'ask', why: 'denied', weight: 'note' },
    ])
  })

  it('plays a script of steps, and tells of the tools that it leaves out', SLOW, async () => {
    const script = desk.path('script.json')
    writeFileSync(script, JSON.stringify([{ emit: [{ call: { name: 'stamp' } }] }, { emit: [{ text: 'Stamped.' }] }]))
    const report = await torture('good.mjs', ['--script', script, ...only('ended/stamp/1')])
    expect(report).toMatchObject({ code: 0, model: 'script', totals: { runs: 1, passed: 1 } })
    expect(report.undisturbed.findings).toMatchObject([{ kind: 'never-ran', tool: 'refund', why: 'not-called' }])
  })
})

describe('torture finds', () => {
  it('C4: an idempotent tool that forgets its key, by what the ledger says', SLOW, async () => {
    const args = [...only('begun/stamp/1', 'inside/stamp/1'), '--check', fixture('once.check.mjs')]
    const report = await torture('forgets-key.mjs', args)
    expect(report.code).toBe(1)
    expect(kinds(report)).toEqual({ 'begun/stamp/1': [], 'inside/stamp/1': ['check'] })
    expect(findings(report)).toMatchObject([{ text: 'booked twice: t1s1c1' }])
    expect(report.reproduce).toContain('--only inside/stamp/1')
    expect(report.reproduce).not.toContain('begun/stamp/1')
    expect(report.results[1]!.hits).toMatchObject([{ moment: 'inside/stamp/1', event: 'call.started' }])
    expect(readdirSync(report.results[1]!.folder!)).toContain('journal.jsonl')
    expect(report.results[0]!.folder).toBeNull()
  })

  it('C4: a read that writes', SLOW, async () => {
    const report = await torture('read-that-writes.mjs', only('ended/look/1'))
    expect(findings(report)).toMatchObject([{ kind: 'check', text: 'booked twice: visit t1s1c1' }])
  })

  it('C10: a timer and a program that a tool leaves behind, and ends what it found', SLOW, async () => {
    const report = await torture('deaf.mjs', only('abort/watch/1'))
    const found = [...report.undisturbed.findings, ...findings(report)]
    expect(found.map(({ kind }) => kind)).toEqual(Array(2).fill(['handle-left', 'handle-left', 'process-left']).flat())
    expect(found.filter(({ kind }) => kind === 'handle-left')).toContainEqual(
      expect.objectContaining({ handle: 'Timeout', count: 1 }),
    )
    const pids = found.flatMap((one) => (one.kind === 'process-left' ? [one.pid] : []))
    expect(pids.filter(isAlive)).toEqual([])
  })

  it('T7: a tool that hears no abort', SLOW, async () => {
    const report = await torture('deaf.mjs', only('abort/hold/1'), { DEAF: 'hold' })
    expect(findings(report)).toMatchObject([{ kind: 'body-left', tool: 'hold' }])
  })

  it('a plugin that remembers in a variable what only the log remembers', SLOW, async () => {
    const report = await torture('forgetful-plugin.mjs', only('after-append/2', 'after-append/5'))
    expect(kinds(report)).toEqual({ 'after-append/2': [], 'after-append/5': ['story-changed'] })
  })

  it('a plugin that cannot be loaded again after a kill', SLOW, async () => {
    const report = await torture('throws-on-resume.mjs', only('after-append/3'))
    expect(findings(report)).toMatchObject([{ kind: 'not-resumed', process: 2 }])
    expect(findings(report)[0]!.message).toContain('EEXIST')
  })

  it('X1: an agent that is another one after a restart', SLOW, async () => {
    const report = await torture('other-tools.mjs', only('after-append/3'))
    expect(findings(report)[0]).toMatchObject({ kind: 'agent-changed', gone: ['find'], added: [], instructions: true })
  })
})

describe('torture', () => {
  it('tells a moment that did not come, and does not count it as passed', SLOW, async () => {
    const report = await torture('read-that-writes.mjs', only('after-append/99'))
    expect(report).toMatchObject({ code: 1, totals: { passed: 0, failed: 0, missed: 1 } })
  })

  it('is read by people, in both languages', SLOW, async () => {
    const args = ['torture', fixture('read-that-writes.mjs'), ...only('ended/look/1')]
    const en = await desk.run(args, options())
    expect(en).toMatchObject({ code: 1, err: '' })
    expect(en.out).toMatch(/killed at +runs +passed +failed +missed\nin look +1 +1\n/)
    expect(en.out).toContain(
      'FAILED ended/look/1\n  ended/look/1: the log stood at event 8, call.started\n  booked twice',
    )
    expect(en.out).toMatch(/again: turnstep torture .* --only ended\/look\/1\nkept: +.*ended-look-1\n/)
    expect(en.out).toMatch(/0 passed, 1 failed, 0 missed; 1 kill in [\d.]+ s\n$/)
    const zh = await desk.run([...args, '--lang', 'zh'], options())
    expect(zh.out).toMatch(/look 执行途中 +1 +1\n/)
    expect(zh.out).toContain('0 个通过，1 个失败')
  })

  it('says what to do where there is nothing to torture', SLOW, async () => {
    const run = (...args: readonly string[]) => desk.run(['torture', ...args], options())
    desk.write('empty.mjs', 'export const agents = []')
    expect(await run('nowhere.mjs')).toMatchObject({ code: 2, err: expect.stringContaining('nowhere.mjs') })
    expect(await run(fixture('good.mjs'), '--only', 'sometime/1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('sometime/1'),
    })
    expect(await run(fixture('good.mjs'), '--kills', 'all')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--kills'),
    })
    expect(await run('empty.mjs')).toMatchObject({ code: 3, err: expect.stringContaining('exports no agent') })
    desk.write('ends.mjs', 'console.log("I leave"); process.exit(0)')
    expect(await run('ends.mjs')).toMatchObject({ code: 3, err: expect.stringMatching(/ended by itself[^]*I leave/) })
    desk.write('broken.mjs', 'throw new Error("no bank today")')
    expect(await run('broken.mjs')).toMatchObject({ code: 3, err: expect.stringContaining('no bank today') })
    expect(left()).toEqual([])
  })

  it('W4: tells of a session that the module opens as it loads, and counts no file of it', SLOW, async () => {
    const report = await torture('opens.mjs', only('after-append/2', 'model-output/2', 'after-body/1'))
    expect(findings(report)).toEqual([])
    expect(report).toMatchObject({ code: 0, totals: { runs: 3, failed: 0 } })
    expect(report.undisturbed.findings).toMatchObject([{ kind: 'opened-on-load', path: '.turnstep/sessions.db' }])
    expect(() => readdirSync(desk.path('home'))).toThrow('ENOENT')
  })

  it('asks for no key: the model is replaced', SLOW, async () => {
    const { code, err } = await desk.run(
      ['torture', fixture('opens.mjs')],
      options({ KEYED: 'yes', DEEPSEEK_API_KEY: '' }),
    )
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('from a module that opens nothing') })
    expect(err).not.toContain('DEEPSEEK')
  })

  it('runs TypeScript where Node does, and says so where it does not', SLOW, async () => {
    const runsTypeScript = Boolean((process.features as { readonly typescript?: unknown }).typescript)
    desk.write(
      'agent.ts',
      `import good from ${JSON.stringify(fixture('good.mjs'))}\nconst agent: object = good\nexport { agent }\n`,
    )
    const { code, err } = await desk.run(['torture', 'agent.ts', ...only('after-append/1')], options())
    if (runsTypeScript) expect({ code, err }).toEqual({ code: 0, err: '' })
    else expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining('22.18') })
  })

  it('ends all that it started when it is told to stop, and leaves nothing', SLOW, async () => {
    const run = desk.start(['torture', fixture('good.mjs')], options())
    const isWorking = (): boolean =>
      left().some((name) => readdirSync(desk.path('tmp', name)).some((folder) => folder.startsWith('before-put')))
    await until(
      () => `no run was started:\n${run.out}\n${run.err}`,
      isWorking,
      () => run.isOver,
    )
    run.child.kill('SIGINT')
    expect((await run.ended).code).toBe(130)
    expect(left()).toEqual([])
  })
})

/** A process that was killed may still wait to be collected: it does nothing any more. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    // It is gone.
    return false
  }
}
