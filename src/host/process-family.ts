/**
 * Finds and stops what a program started (C10). Knows a process as family by its group or session, by a variable in its
 * environment, by an output pipe of the program that it still holds, or by its parent; so one that made a session of its own is
 * found too. One that gave up all of these, as a daemon can on purpose, is not. On systems without `/proc` only the group is known.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile, readdir, readlink } from 'node:fs/promises'
import { pause } from '../runtime/pause.ts'
import type { Clock } from '../runtime/ports.ts'
import type { FoundProcess } from '../runtime/processes.ts'

/** The variable that marks a program's processes. */
export const FAMILY_VARIABLE = 'TURNSTEP_CALL'

export interface Family {
  /** The program itself: leader of its group and session. */
  readonly leader: number
  readonly marker: string
  /** In the system's ticks since boot: what is older is no family. */
  readonly startedAt: number
  /** Its output pipes, as the system names them. */
  readonly pipes: readonly string[]
  /** Whether the leader was collected: its number may then belong to a stranger. */
  isLeaderGone(): boolean
}

/** Contract: called right after the start, before anything could collect the leader. */
export function startTime(leader: number): number {
  try {
    return readStat(leader, readFileSync(`/proc/${leader}/stat`, 'utf8'))?.startedAt ?? 0
  } catch {
    // Without it everything is looked at, which is only slower.
    return 0
  }
}

/** Contract: called right after the start, before the program could redirect its output. */
export function outputPipes(leader: number): readonly string[] {
  return [1, 2].flatMap((fd) => {
    try {
      const link = readlinkSync(`/proc/${leader}/fd/${fd}`)
      // Anything else, such as `/dev/null`, is held by strangers too.
      return /^(socket|pipe):/.test(link) ? [link] : []
    } catch {
      // Gone already, or no `/proc`: nobody is known by its pipes.
      return []
    }
  })
}

interface Member extends FoundProcess {
  readonly inGroup: boolean
}

/** Stops the family politely, then hard; resolves when it is gone, or with those that would not go. */
export async function stopFamily(family: Family, clock: Clock, graceMs: number): Promise<readonly FoundProcess[]> {
  const left = await signalUntilGone(family, 'SIGTERM', clock, graceMs)
  return left.length === 0 ? left : signalUntilGone(family, 'SIGKILL', clock, HARD_STOP_MS)
}

/** After a SIGKILL only a process that waits inside the kernel is still there. */
const HARD_STOP_MS = 1000
const POLL_MIN_MS = 5
const POLL_MAX_MS = 100

async function signalUntilGone(
  family: Family,
  signal: NodeJS.Signals,
  clock: Clock,
  ms: number,
): Promise<readonly FoundProcess[]> {
  const told = new Set<number>()
  const until = clock.now() + ms
  for (let waitMs = POLL_MIN_MS; ; waitMs = Math.min(waitMs * 2, POLL_MAX_MS)) {
    const members = await findFamily(family)
    // One that was forked meanwhile is told as well; a polite signal is not repeated.
    const untold = members.filter(({ pid }) => signal === 'SIGKILL' || !told.has(pid))
    send(family, untold, signal)
    for (const { pid } of untold) told.add(pid)
    const left = clock.now() < until ? members : await findFamily(family)
    if (left.length === 0 || clock.now() >= until) return left
    await pause(clock, Math.min(waitMs, until - clock.now()))
  }
}

function send(family: Family, members: readonly Member[], signal: NodeJS.Signals): void {
  // To the group as one, so that a member that forks right now does not slip through.
  if (members.some(({ inGroup }) => inGroup)) kill(-family.leader, signal)
  for (const { pid, inGroup } of members) if (!inGroup) kill(pid, signal)
}

/** Kills the group without waiting: for the moment in which this process itself exits. */
export function killGroupNow(leader: number): void {
  kill(-leader, 'SIGKILL')
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // Gone already, or somebody else's: the next look shows which.
    return false
  }
}

/** The members of the family that run; zombies, which only wait to be collected by their parent, do not. */
export async function findFamily(family: Family): Promise<readonly Member[]> {
  const rows = await readProcesses()
  if (rows === null) return kill(-family.leader, 0) ? [{ pid: family.leader, command: '', inGroup: true }] : []
  const own = await ownRows(family, rows)
  const found = rows.filter(({ pid, state }) => own.has(pid) && state !== 'Z' && state !== 'X')
  return Promise.all(
    found.map(async ({ pid, group }) => ({ pid, command: await commandOf(pid), inGroup: group === family.leader })),
  )
}

interface Row {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly startedAt: number
}

async function ownRows(family: Family, rows: readonly Row[]): Promise<ReadonlySet<number>> {
  const { leader, marker, startedAt, pipes } = family
  const young = rows.filter((row) => row.startedAt >= startedAt && row.pid !== process.pid)
  const isReused = family.isLeaderGone() && rows.some(({ pid, state }) => pid === leader && state !== 'Z')
  const own = new Set<number>()
  const unsure: Row[] = []
  for (const row of young) {
    if (!isReused && (row.group === leader || row.session === leader)) own.add(row.pid)
    else unsure.push(row)
  }
  const marked = await Promise.all(
    unsure.map(async (row) => (await hasMarker(row.pid, marker)) || (await holdsPipe(row, pipes))),
  )
  unsure.forEach(({ pid }, index) => marked[index] === true && own.add(pid))
  // Children of family are family. Every pass but the last adds one, so there are no more passes than rows.
  for (let before = -1; before !== own.size;) {
    before = own.size
    for (const { pid, parent } of unsure) if (own.has(parent)) own.add(pid)
  }
  return own
}

/** Null: this system has no `/proc`. */
async function readProcesses(): Promise<readonly Row[] | null> {
  if (process.platform !== 'linux') return null
  const names = await readdir('/proc').catch(() => null)
  if (names === null) return null
  const rows = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readRow(Number(name))))
  return rows.filter((row) => row !== null)
}

async function readRow(pid: number): Promise<Row | null> {
  return readStat(pid, await readProc(pid, 'stat'))
}

function readStat(pid: number, stat: string): Row | null {
  // The name in parentheses may hold anything, a parenthesis too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  if (state === undefined || session === undefined) return null
  return {
    pid,
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(fields[19] ?? 0),
  }
}

async function hasMarker(pid: number, marker: string): Promise<boolean> {
  return `\0${await readProc(pid, 'environ')}`.includes(`\0${FAMILY_VARIABLE}=${marker}\0`)
}

async function holdsPipe({ pid, parent }: Row, pipes: readonly string[]): Promise<boolean> {
  // A child that another thread of ours starts just now holds all that we hold, until it runs its program.
  if (pipes.length === 0 || parent === process.pid) return false
  const names = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return links.some((link) => pipes.includes(link))
}

const COMMAND_CHARS_MAX = 120

async function commandOf(pid: number): Promise<string> {
  return (await readProc(pid, 'cmdline')).replaceAll('\0', ' ').trim().slice(0, COMMAND_CHARS_MAX)
}

/** Empty where the process has gone, or belongs to somebody else. */
function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
}
