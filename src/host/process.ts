/**
 * Runs programs for tools (C10). Owns the process, its group, its pipes and its end; knows nothing of tools or sessions.
 *
 * Invariants:
 * 1. A program is leader of a group and session of its own, has no terminal and no input.
 * 2. Its end is its exit, not the end of its pipes: a child in the background that holds them holds up nothing (case 022).
 * 3. Timeout and abort stop all it started, first politely, after the grace hard (case 017); whatever outlives a normal exit is
 *    listed, and stopped unless it may stay.
 * 4. Output costs bounded memory however much there is (C11).
 * 5. When it is over, no timer, listener or descriptor is left.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Clock } from '../runtime/ports.ts'
import type { FoundProcess, ProcessEnd, ProcessRequest, ProcessResult, RunProcess } from '../runtime/processes.ts'
import { RESULT_LIMITS } from '../util/cut.ts'
import { deferred } from '../util/deferred.ts'
import { HeadTail } from '../util/head-tail.ts'
import { messageOf } from '../util/text.ts'
import { FAMILY_VARIABLE, findFamily, killGroupNow, outputPipes, startTime, stopFamily } from './process-family.ts'
import type { Family } from './process-family.ts'

/** The plain implementation of the port: no sandbox, the host's own user. */
export const runProcess: RunProcess = async (request) => {
  const output = new Output(request)
  if (request.signal.aborted) return ended({ kind: 'aborted' }, output)
  const marker = randomUUID()
  const child = start(request, marker)
  if (!isChild(child)) return ended(child, output)
  const { pid } = child
  // Without a pid it never ran, and says why in a moment.
  if (pid === undefined) return ended(await failureOf(child), output)
  const isLeaderGone = (): boolean => child.exitCode !== null || child.signalCode !== null
  guardGroup(pid)
  try {
    const family = { leader: pid, marker, startedAt: startTime(pid), pipes: outputPipes(pid), isLeaderGone }
    return await attend(child, family, output, request)
  } finally {
    releaseGroup(pid)
  }
}

const GRACE_MS = 2000

async function attend(
  child: ChildProcess,
  family: Family,
  output: Output,
  request: ProcessRequest,
): Promise<ProcessResult> {
  const { clock, graceMs = GRACE_MS, survivors: policy = 'kill' } = request
  output.listen(child)
  const exit = exitOf(child)
  const end = await firstEnd(exit, request)
  let survivors: readonly FoundProcess[] = []
  let unreaped: readonly FoundProcess[] = []
  if (end.kind === 'timeout' || end.kind === 'aborted') unreaped = await stopFamily(family, clock, graceMs)
  await output.drain(clock)
  if (unreaped.length === 0) {
    survivors = await findFamily(family)
    if (survivors.length > 0 && policy === 'kill') unreaped = await stopFamily(family, clock, graceMs)
  }
  // The stopped leader is a zombie until its exit was seen.
  if (unreaped.length === 0) await orAfter(exit, clock, DRAIN_MAX_MS)
  output.close()
  const listed = end.kind === 'exited' || end.kind === 'signalled' ? survivors : []
  return ended(end, output, listed.map(plain), unreaped.map(plain))
}

const plain = ({ pid, command }: FoundProcess): FoundProcess => ({ pid, command })

function ended(
  end: ProcessEnd,
  output: Output,
  survivors: readonly FoundProcess[] = [],
  unreaped: readonly FoundProcess[] = [],
): ProcessResult {
  return { end, output: output.text.end(), survivors, unreaped }
}

type Failed = Extract<ProcessEnd, { kind: 'failed' }>

function start(request: ProcessRequest, marker: string): ChildProcess | Failed {
  const env: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(process.env)) if (request.hideEnv?.(name) !== true) env[name] = value
  Object.assign(env, request.env, { [FAMILY_VARIABLE]: marker })
  try {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    return spawn(request.file, request.args, { cwd: request.cwd, env, detached: true, stdio })
  } catch (error) {
    // Arguments with a NUL, or too many of them, are refused before there is a process.
    return failed(error)
  }
}

const isChild = (child: ChildProcess | Failed): child is ChildProcess => !('kind' in child)

function failed(error: unknown): Failed {
  const code = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN'
  return { kind: 'failed', code, message: messageOf(error) }
}

function failureOf(child: ChildProcess): Promise<Failed> {
  return new Promise((resolve) => child.once('error', (error) => resolve(failed(error))))
}

function exitOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(code === null ? { kind: 'signalled', signal: signal ?? 'unknown' } : { kind: 'exited', code }),
    ),
  )
}

/** Whatever comes first: exit, timeout or abort. */
async function firstEnd(exit: Promise<ProcessEnd>, { clock, signal, timeoutMs }: ProcessRequest): Promise<ProcessEnd> {
  const other = deferred<ProcessEnd>()
  const onAbort = (): void => other.resolve({ kind: 'aborted' })
  signal.addEventListener('abort', onAbort, { once: true })
  const cancel = clock.after(timeoutMs, () => other.resolve({ kind: 'timeout', afterMs: timeoutMs }))
  try {
    return await Promise.race([exit, other.promise])
  } finally {
    cancel()
    signal.removeEventListener('abort', onAbort)
  }
}

/** After the exit the pipes may still hold output, and may be held open by others. */
const DRAIN_QUIET_MS = 50
const DRAIN_MAX_MS = 500
const PROGRESS_EVERY_MS = 250
const PROGRESS_CHARS_MAX = 200

/** What the two pipes of a program bring. */
class Output {
  readonly text: HeadTail
  readonly #request: ProcessRequest
  readonly #open = new Map<Readable, () => void>()
  readonly #allClosed = deferred<void>()
  #chunks = 0
  #line = ''
  #progressAt = -Infinity

  constructor(request: ProcessRequest) {
    this.#request = request
    this.text = new HeadTail(request.limits ?? RESULT_LIMITS)
  }

  listen(child: ChildProcess): void {
    for (const name of ['stdout', 'stderr'] as const) {
      const pipe = child[name]!
      // A BOM is the program's own, and a torn character is finished by the next chunk.
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
      this.#open.set(pipe, () => this.#take(decoder.decode(), name))
      pipe.on('data', (chunk: Buffer) => this.#take(decoder.decode(chunk, { stream: true }), name))
      pipe.once('close', () => this.#finish(pipe))
      // A pipe that breaks has nothing more to say.
      pipe.on('error', () => {})
    }
  }

  /** Waits for what is in the pipes; not for those who hold them open. */
  async drain(clock: Clock): Promise<void> {
    const until = clock.now() + DRAIN_MAX_MS
    for (let seen = -1; this.#open.size > 0 && seen !== this.#chunks && clock.now() < until;) {
      seen = this.#chunks
      await orAfter(this.#allClosed.promise, clock, DRAIN_QUIET_MS)
    }
  }

  /** Lets go of the pipes; nothing is taken from them any more. */
  close(): void {
    for (const pipe of [...this.#open.keys()]) {
      pipe.removeAllListeners('data')
      this.#finish(pipe)
      pipe.destroy()
    }
  }

  #finish(pipe: Readable): void {
    this.#open.get(pipe)?.()
    this.#open.delete(pipe)
    if (this.#open.size === 0) this.#allClosed.resolve()
  }

  #take(text: string, stream: 'stdout' | 'stderr'): void {
    if (text === '') return
    this.#chunks += 1
    this.text.push(text)
    this.#request.onOutput?.(text, stream)
    if (this.#request.onProgress !== undefined) this.#progress(text, this.#request.onProgress)
  }

  #progress(text: string, show: (line: string) => void): void {
    const lines = (this.#line + text.slice(-2 * PROGRESS_CHARS_MAX)).split(/[\r\n]+/)
    this.#line = lines.pop()!.slice(-PROGRESS_CHARS_MAX)
    const newest = lines.findLast((line) => line.trim() !== '')
    const now = this.#request.clock.now()
    if (newest === undefined || now - this.#progressAt < PROGRESS_EVERY_MS) return
    this.#progressAt = now
    show(newest.slice(-PROGRESS_CHARS_MAX))
  }
}

async function orAfter(promise: Promise<unknown>, clock: Clock, ms: number): Promise<void> {
  const late = deferred<void>()
  const cancel = clock.after(ms, () => late.resolve())
  await Promise.race([promise, late.promise])
  cancel()
}

/** Groups that run now. A group of its own does not die with us: it is taken along when this process exits. */
const groups = new Set<number>()

function guardGroup(leader: number): void {
  if (groups.size === 0) process.on('exit', killGroups)
  groups.add(leader)
}

function releaseGroup(leader: number): void {
  groups.delete(leader)
  if (groups.size === 0) process.off('exit', killGroups)
}

function killGroups(): void {
  for (const leader of groups) killGroupNow(leader)
}
