/** `turnstep demo` as a user runs it: the built command, in a process of its own, off a terminal. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { deskAt, layOut, SESSION } from '../../src/cli/demo/desk.ts'
import { nodeClock, nodeIds } from '../../src/host/node.ts'
import { inputId, sessionId } from '../../src/kernel/ids.ts'
import { textPart } from '../../src/kernel/message.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { eventually } from '../kit/eventually.ts'
import { pause } from '../../src/runtime/pause.ts'

const DIST = join(fileURLToPath(new URL('../..', import.meta.url)), 'dist/cli')
const BIN = join(DIST, 'bin.js')
const TIME_MAX_MS = 30_000

const root = mkdtempSync(join(tmpdir(), 'turnstep-e2e-demo-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

interface Demo {
  readonly child: ChildProcess
  /** Where it makes its folder. */
  readonly temp: string
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>
  /** Resolves once the output has it. */
  untilSaid(pattern: RegExp): Promise<RegExpExecArray>
}

function startDemo(name: string, args: readonly string[]): Demo {
  const temp = join(root, name)
  mkdirSync(temp)
  const child = spawn(process.execPath, [BIN, 'demo', ...args], {
    cwd: temp,
    env: { TMPDIR: temp, TMP: temp, TEMP: temp },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => (out += more))
  child.stderr.setEncoding('utf8').on('data', (more: string) => (err += more))
  const ended = new Promise<Awaited<Demo['ended']>>((resolve) => {
    child.once('close', (code) => resolve({ code, out, err }))
  })
  const untilSaid = async (pattern: RegExp): Promise<RegExpExecArray> => {
    const last = nodeClock.now() + TIME_MAX_MS
    for (;;) {
      const found = pattern.exec(out)
      if (found !== null) return found
      if (nodeClock.now() > last || child.exitCode !== null) throw new Error(`${pattern} was not said:\n${out}\n${err}`)
      await pause(nodeClock, 10)
    }
  }
  return { child, temp, ended, untilSaid }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // ESRCH: it is gone.
    return false
  }
}

const LINES = {
  en: [
    /steer entered: “\[Correction from the user.*\] Only the/,
    /kill -9 (\d+): ended by SIGKILL/,
    /pay ended: unknown/,
    /Outcome unknown: the call was started and the process died before it ended/,
    /2026-05\.\.2026-06,Harbour Estates,1476\.85,t1s4c1 +\(exactly one payment in the record\)/,
    /turn 2 started/,
    /seq {2}turn {2}step +process {2}event/,
    /11 of 11 checks hold/,
  ],
  zh: [
    /纠偏进入：“【用户纠偏，与之矛盾的以此为准】只算最近两个月的。”/,
    /kill -9 (\d+)：被 SIGKILL 终止/,
    /pay 结束：未知/,
    /结果未知：调用已经开始，但进程在它结束前退出了/,
    /2026-05\.\.2026-06,恒安物业,2952\.10,t1s4c1 +\(流水里恰好只有一笔付款\)/,
    /第 2 轮开始/,
    /序号 {2}轮次 {2}步 +进程 {2}事件/,
    /11 项检查，11 项成立/,
  ],
} as const

describe('turnstep demo', () => {
  it.each(['en', 'zh'] as const)(
    'I4, C4, W4: steers, kills, takes over and verifies in %s, and leaves nothing behind',
    async (locale) => {
      const startedAt = nodeClock.now()
      const demo = startDemo(locale, ['--lang', locale])
      const { code, out, err } = await demo.ended
      expect({ code, err }).toEqual({ code: 0, err: '' })
      for (const line of LINES[locale]) expect(out).toMatch(line)
      expect(out).not.toContain('✗')
      expect(out).not.toContain('\u001b[')
      const pids = [...out.matchAll(/(?:process|进程) (\d+) (?:opens|打开)/g)].map(([, pid]) => Number(pid))
      expect(pids).toHaveLength(2)
      expect(pids.filter(isThere)).toEqual([])
      expect(readdirSync(demo.temp)).toEqual([])
      expect(nodeClock.now() - startedAt).toBeLessThan(TIME_MAX_MS)
    },
    TIME_MAX_MS,
  )

  it(
    'says with --json what was checked, and nothing else',
    async () => {
      const { code, out, err } = await startDemo('json', ['--json']).ended
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const { checks, events, ms } = JSON.parse(out) as {
        readonly checks: Record<string, boolean>
        readonly events: number
        readonly ms: number
      }
      expect(Object.keys(checks)).toHaveLength(11)
      expect(Object.values(checks).every(Boolean)).toBe(true)
      expect(events).toBeGreaterThan(40)
      expect(ms).toBeGreaterThan(0)
    },
    TIME_MAX_MS,
  )

  it(
    'leaves the folder with --keep, and says where',
    async () => {
      const demo = startDemo('keep', ['--keep'])
      const { code, out } = await demo.ended
      expect(code).toBe(0)
      const folder = /kept: (.+)/.exec(out)![1]!
      expect(readdirSync(folder)).toContain('sessions.db')
      expect(readdirSync(join(folder, 'workspace')).toSorted()).toEqual(['bank.csv', 'bills', 'report.md'])
    },
    TIME_MAX_MS,
  )

  it(
    'C10: Ctrl-C ends its processes and takes its folder away',
    async () => {
      const demo = startDemo('ctrl-c', [])
      const [, pid] = await demo.untilSaid(/process (\d+) opens the session[\s\S]*list_files started/)
      demo.child.kill('SIGINT')
      const { code } = await demo.ended
      expect(code).toBe(130)
      expect(isThere(Number(pid))).toBe(false)
      expect(readdirSync(demo.temp)).toEqual([])
    },
    TIME_MAX_MS,
  )

  it(
    'its worker hears that it may go on, also if that is said before it holds',
    async () => {
      const desk = deskAt(join(root, 'early'), 'en')
      layOut(desk)
      const seeded = await sqliteStore({ path: desk.store, clock: nodeClock, ids: nodeIds })
      await seeded.create(sessionId(SESSION))
      await seeded.put(sessionId(SESSION), {
        id: inputId('i1'),
        lane: 'followup',
        origin: { kind: 'user' },
        content: [textPart(desk.scene.request)],
      })
      // The file that it takes itself for: in a bundle that is another than the one that is imported.
      const { WORKER } = (await import(join(DIST, 'demo/worker.js'))) as { readonly WORKER: string }
      const worker = spawn(process.execPath, [WORKER, desk.root, 'en', 'hold'], { stdio: ['pipe', 'ignore', 'ignore'] })
      worker.stdin!.write('go on\n')
      const ends = async (): Promise<number> => {
        const { events } = await seeded.read(sessionId(SESSION))
        return events.filter((event) => event.type === 'call.ended').length
      }
      // `list_files`, and the call at whose end it holds.
      await eventually(async () => (await ends()) >= 2).catch(() => {})
      worker.kill('SIGKILL')
      expect(await ends()).toBeGreaterThanOrEqual(2)
      await seeded.close()
    },
    TIME_MAX_MS,
  )
})
