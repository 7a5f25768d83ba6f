/** Cases about programs that tools start: real ones. They end with their call or their turn, and nobody waits for their pipes. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeClock } from '../../src/host/node.ts'
import { runProcess } from '../../src/host/process.ts'
import { createHarness } from '../../src/presets/harness.ts'
import type { Session } from '../../src/runtime/session.ts'
import { shellTool } from '../../src/tools/shell/index.ts'
import { Workspace } from '../../src/tools/workspace.ts'
import { pause } from '../../src/runtime/pause.ts'
import { eventually } from '../kit/eventually.ts'
import { agentOf, eventsOf, outcomesOf, resultsOf, strictModel } from './bench.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** A session in a folder of its own, whose model asks for one shell command. */
async function shell(command: string, args: { readonly timeout_seconds?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'turnstep-case-'))
  closing.push(async () => rmSync(folder, { recursive: true, force: true }))
  const model = strictModel(
    [{ emit: [{ call: { name: 'shell', args: { command, ...args } } }] }, { emit: [{ text: 'done' }] }],
    { cursor: 'context' },
  )
  const harness = await createHarness({ store: 'memory', clock: nodeClock })
  closing.push(() => harness.close())
  const tools = [shellTool(new Workspace(folder), { runProcess, approval: 'never' })]
  const session = await harness.open(agentOf(model, { tools }))
  return {
    session,
    model,
    file: (name: string) => join(folder, name),
    text: () => resultsOf(model.requests[1]!.messages)['t1s1c1'],
  }
}

const pidIn = (path: string): number | null =>
  existsSync(path) && readFileSync(path, 'utf8').trim() !== '' ? Number(readFileSync(path, 'utf8')) : null

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('programs of a call that is stopped', () => {
  /** A grandchild that would leave a mark, half a second later, and tells its pid. */
  const lasting = `(echo $BASHPID > pid; sleep 0.5; touch marker) & wait`

  async function proveGone(session: Session, file: (name: string) => string): Promise<void> {
    const pid = pidIn(file('pid'))!
    await session.settled()
    expect(isAlive(pid)).toBe(false)
    await pause(nodeClock, 700)
    expect(existsSync(file('marker'))).toBe(false)
  }

  it('case 017: an abort ends the whole group before the turn settles, and this process lives on', async () => {
    const { session, file } = await shell(lasting)
    const turn = await session.send('go')
    await eventually(() => pidIn(file('pid')) !== null)
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    await proveGone(session, file)
    expect(await outcomesOf(session)).toEqual({ t1s1c1: 'error' })
  })

  it('case 017: so does the timeout of the command, and the turn goes on', async () => {
    const { session, file, text } = await shell(lasting, { timeout_seconds: 0.2 })
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    await proveGone(session, file)
    expect(text()).toMatch(/timed out after 0\.2 s/)
  })

  it('case 017: and so does closing the harness in the middle of it', async () => {
    const { session, file } = await shell(`${lasting}; sleep 30`, {})
    await session.send('go')
    await eventually(() => pidIn(file('pid')) !== null)
    const pid = pidIn(file('pid'))!
    const close = closing.pop()!
    await session.abort({ graceMs: 100 })
    await close()
    expect(isAlive(pid)).toBe(false)
  })
})

describe('a command that leaves something behind', () => {
  it.each([
    ['that holds its pipes', 'sleep 30 & echo done'],
    ['that is silent', 'sleep 30 >/dev/null & echo done'],
    ['in a session of its own', 'setsid sleep 30 & echo done'],
  ])('case 022: %s: the result is there at once, and the receipt says what was stopped', async (_what, command) => {
    const { session, text } = await shell(command)
    const before = nodeClock.now()
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(nodeClock.now() - before).toBeLessThan(10_000)
    expect(text()).toMatch(/^done\n/)
    expect(text()).toMatch(/still running when the command ended, and stopped: \d+ \(.*sleep 30/)
    const [end] = await eventsOf(session, 'call.ended')
    const data = end!.outcome.kind === 'ok' ? (end!.outcome.data as { survivors: number[]; exitCode: number }) : null
    expect(data).toMatchObject({ exitCode: 0 })
    expect(data!.survivors.filter(isAlive)).toEqual([])
  })

  it('case 022: the timeout of a tool still counts after the shell itself has exited', async () => {
    const { session, text } = await shell('sleep 30 & disown; echo done; exec sleep 30', { timeout_seconds: 0.3 })
    expect(await (await session.send('go')).outcome).toMatchObject({ kind: 'completed' })
    expect(text()).toMatch(/done/)
    expect(text()).toMatch(/timed out after 0\.3 s/)
  })
})
