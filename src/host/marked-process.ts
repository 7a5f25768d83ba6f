/**
 * Processes that carry a mark in their environment, as does whatever they start: by it the descendants of a process are found that was
 * killed and could not clean up. One that was given an environment of its own is still known by its group. On systems without `/proc`
 * nothing is found.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import type { FoundProcess } from '../runtime/processes.ts'

const MARK_VARIABLE = 'TURNSTEP_TORTURE'

export interface MarkedOptions {
  /** A module for Node to run, with its arguments. Flags of this process's own Node are passed on. */
  readonly args: readonly string[]
  readonly cwd: string
  /** Unique to those who are to be found together. */
  readonly mark: string
  /** Variables of its own, beside all of ours. */
  readonly env: Readonly<Record<string, string>>
  /** Descriptor that gets what it prints. */
  readonly output: number
}

/** Starts Node as leader of a group of its own, without input. */
export function startMarked({ args, cwd, mark, env, output }: MarkedOptions): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, ...args], {
    cwd,
    env: { ...process.env, ...env, [MARK_VARIABLE]: mark },
    detached: true,
    stdio: ['ignore', output, output],
  })
}

/** Those who carry the mark or are in the group of one of the leaders, and run. Zombies do not. */
export async function findMarked(mark: string, leaders: readonly number[]): Promise<readonly FoundProcess[]> {
  if (process.platform !== 'linux') return []
  const names = await readdir('/proc').catch(() => [])
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map((pid) => look(pid, mark, leaders)))
  return found.filter((one) => one !== null)
}

async function look(pid: number, mark: string, leaders: readonly number[]): Promise<FoundProcess | null> {
  if (pid === process.pid) return null
  const [stat, environ] = await Promise.all([readProc(pid, 'stat'), readProc(pid, 'environ')])
  // The name in parentheses may hold anything, a parenthesis too.
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || ['', 'Z', 'X'].includes(state)) return null
  const isOurs = `\0${environ}`.includes(`\0${MARK_VARIABLE}=${mark}\0`) || leaders.includes(Number(group))
  return isOurs ? { pid, command: (await readProc(pid, 'cmdline')).replaceAll('\0', ' ').trim().slice(0, 120) } : null
}

/** Empty where the process has gone, or belongs to somebody else. */
function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
}

/** Kills a process, or with a negative number a group; harmless if it is gone. */
export function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // ESRCH: it is gone already.
  }
}
