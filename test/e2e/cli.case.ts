/**
 * The built command as its users have it: real processes, each in a folder of its own, without a terminal. The model is a script in
 * the folder's config file that answers by what stands in the request alone, so that a new process goes on where a dead one stood.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL, fileURLToPath } from 'node:url'
import { env, nodeClock } from '../../src/host/node.ts'
import { pause } from '../../src/runtime/pause.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const BIN = join(DIST, 'cli/bin.js')
const TIME_MAX_MS = 30_000

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Written to stdin, which is then closed; without it stdin is empty. `open`: left open, for `type`. */
  readonly input?: string
  readonly open?: boolean
  readonly cwd?: string
}

/** One run of the command. */
export class Run {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  out = ''
  err = ''

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout!.setEncoding('utf8').on('data', (more: string) => (this.out += more))
    child.stderr!.setEncoding('utf8').on('data', (more: string) => (this.err += more))
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, out: this.out, err: this.err }))
    })
  }

  /** Resolves once stdout or stderr has it. */
  async untilSaid(pattern: RegExp): Promise<void> {
    await until(
      () => `${pattern} was not said:\n${this.out}\n${this.err}`,
      () => pattern.test(this.out + this.err),
      () => this.isOver,
    )
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  type(line: string): void {
    this.child.stdin!.write(`${line}\n`)
  }
}

/** Polls, with a bound. */
export async function until(
  what: () => string,
  isSo: () => boolean,
  isOver: () => boolean = () => false,
): Promise<void> {
  const last = nodeClock.now() + TIME_MAX_MS
  while (!isSo()) {
    if (nodeClock.now() > last || (isOver() && !isSo())) throw new Error(what())
    await pause(nodeClock, 10)
  }
}

/** A folder to run in, with a home of its own. */
export class Desk {
  readonly root: string
  readonly #running = new Set<Run>()

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'turnstep-e2e-cli-'))
  }

  path(...names: readonly string[]): string {
    return join(this.root, ...names)
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text)
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8')
  }

  /** Puts the scripted agent into the folder's config file. `more`: further keys, as source text. */
  script(more = ''): void {
    this.write('turnstep.config.mjs', SCRIPT.replace('/* more */', more))
  }

  start(args: readonly string[], options: StartOptions = {}): Run {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: options.cwd ?? this.root,
      // Nothing is inherited: no key, no language, no colours of whoever runs the tests.
      env: { PATH: env('PATH') ?? '', HOME: this.root, TURNSTEP_HOME: this.path('home'), ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // A command that ended without reading is no fault of the test.
    child.stdin.on('error', () => {})
    if (options.open !== true) child.stdin.end(options.input ?? '')
    const run = new Run(child)
    this.#running.add(run)
    void run.ended.then(() => this.#running.delete(run))
    return run
  }

  run(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
    return this.start(args, options).ended
  }

  /** Runs a command with `--json`; its lines as values. */
  async json(
    args: readonly string[],
    options: StartOptions = {},
  ): Promise<Ended & { readonly lines: readonly Line[] }> {
    const ended = await this.run([...args, '--json'], options)
    return { ...ended, lines: linesOf(ended.out) }
  }

  /** Resolves once the body of the tool `hold` runs. */
  async untilHeld(): Promise<void> {
    const said = (): string => [...this.#running].map(({ out, err }) => `${out}\n${err}`).join('\n')
    await until(
      () => `the tool was not started:\n${said()}`,
      () => existsSync(this.path('held')),
      () => this.#running.size === 0,
    )
  }

  /** Lets the tool `hold` end. */
  letGo(): void {
    this.write('go', '')
  }

  async remove(): Promise<void> {
    for (const run of this.#running) run.child.kill('SIGKILL')
    await Promise.all([...this.#running].map((run) => run.ended))
    rmSync(this.root, { recursive: true, force: true })
  }
}

export type Line = { readonly v: number; readonly type: string } & Readonly<Record<string, unknown>>

export function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

/** The lines of one type. */
export function only(lines: readonly Line[], type: string): readonly Line[] {
  return lines.filter((line) => line.type === type)
}

/** Types of the events in some lines. */
export function eventTypes(lines: readonly Line[]): readonly string[] {
  return only(lines, 'event').map((line) => (line['event'] as { readonly type: string }).type)
}

/**
 * What a user's words make it do: `hold` runs a write that waits for the file `go` · `look` the same as a read · `pay` a write that asks ·
 * `deaf` the same as a write that hears no abort · `ask_user` and `job` calls that are deferred · `loop` calls without end · `refuse`, `broken` and `denied` are replies of their kinds. It says what it
 * was asked, what its calls gave and how it was steered.
 */
const SCRIPT = `
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { agent, defer, scriptedModel, tool } from '${pathToFileURL(join(DIST, 'index.js')).href}'

const text = (message) => message.content.map((part) => part.text ?? '').join('')

function span(request) {
  const all = [...request.messages]
  const last = all.findLastIndex((message) => message.role === 'user' && !text(message).startsWith('[Correction'))
  return { asked: text(all[last]), since: all.slice(last + 1) }
}

function step(request) {
  const { asked, since } = span(request)
  const results = since.filter((message) => message.role === 'tool')
  const steers = since.filter((message) => message.role === 'user').map(text)
  const may = request.toolChoice === 'auto'
  const [word] = asked.split(' ')
  if (word === 'loop' && may) return { emit: [{ call: { name: 'count', args: { n: results.length } } }] }
  if (['hold', 'look', 'deaf', 'pay', 'ask_user', 'job', 'pair'].includes(word) && results.length === 0 && may) {
    const names = word === 'pair' ? ['pay', 'pay'] : [word]
    return { emit: [{ text: 'First this.' }, ...names.map((name, index) => ({ call: { name, args: { what: asked + '#' + index } } }))] }
  }
  if (word === 'refuse') return { emit: [{ text: 'no' }], stop: 'refusal' }
  if (word === 'broken') return { fault: { kind: 'http', status: 400, message: 'bad request' } }
  if (word === 'denied') return { fault: { kind: 'http', status: 401, message: 'bad key' } }
  const said = ['asked: ' + asked]
  for (const result of results) said.push(result.name + ' ' + result.outcome + ': ' + text(result))
  for (const steer of steers) said.push('steered: ' + steer)
  return { emit: [{ text: said.join('\\n') }] }
}

const input = { type: 'object', properties: { what: { type: 'string' }, n: { type: 'number' } } }

async function hold(_args, { clock, signal }) {
  appendFileSync('held', process.pid + '\\n')
  while (!existsSync('go')) {
    if (signal.aborted) throw new Error('stopped')
    await new Promise((resolve) => clock.after(20, resolve))
  }
  return 'held and let go'
}

const tools = [
  tool({ name: 'hold', description: 'waits', effect: 'write', input, run: hold }),
  tool({ name: 'look', description: 'waits', effect: 'read', input, run: hold }),
  tool({ name: 'pay', description: 'pays', effect: 'write', input, approval: () => 'it costs money', run: ({ what }) => { appendFileSync('paid', what + '\\n'); return 'paid' } }),
  tool({ name: 'deaf', description: 'hears no abort', effect: 'write', input, run: (args, { clock }) => hold(args, { clock, signal: { aborted: false } }) }),
  tool({ name: 'ask_user', description: 'asks', effect: 'read', input, run: () => defer('your name') }),
  tool({ name: 'job', description: 'starts a job', effect: 'write', input, run: () => defer('the job') }),
  tool({ name: 'count', description: 'counts', effect: 'read', input, run: ({ n }) => String(n) }),
]

export default { name: 'script', instructions: 'test', model: scriptedModel(step, { name: 'script' }), tools, /* more */ }
`
