/** `doctor`: what this machine has of what turnstep needs. Says which keys are set, never what they are. */
import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { sessionId } from '../../kernel/ids.ts'
import { Messages } from '../../kernel/message.ts'
import { pathsOf } from '../../host/paths.ts'
import { providerSettings } from '../../presets/resolve-model.ts'
import type { Model } from '../../runtime/ports.ts'
import { loadDriver } from '../../stores/sqlite/driver.ts'
import type { Cli } from '../cli.ts'
import { findConfig } from '../config-file.ts'
import { chooseAgent, modelName, type AgentFlags } from '../default-agent.ts'
import { EXIT } from '../exit.ts'
import { findPlace, rootOf, type PlaceFlags } from '../settings.ts'

export interface DoctorFlags extends PlaceFlags, AgentFlags {
  readonly online?: boolean
}

interface Finding {
  readonly state: 'ok' | 'note' | 'failed'
  readonly detail: string
}

const ok = (detail: string): Finding => ({ state: 'ok', detail })
const note = (detail: string): Finding => ({ state: 'note', detail })
const failed = (detail: string): Finding => ({ state: 'failed', detail })

/** Exit 3 if something that is needed is missing. */
export async function doctor(cli: Cli, flags: DoctorFlags): Promise<number> {
  const root = rootOf(cli, flags)
  const checks: readonly (readonly [name: string, check: () => Finding | Promise<Finding>])[] = [
    ['node', () => node(cli)],
    ['sqlite', async () => ok((await loadDriver()).name)],
    ['config', () => config(cli, root)],
    ['home', () => home(cli, root)],
    ['disk', () => disk(cli, root)],
    ['keys', () => keys(cli)],
    ['model', () => model(cli, flags)],
    ['online', () => online(cli, flags)],
    ['shell', () => program(cli, ['bash', 'sh'], failed(cli.texts.doctor.notFound))],
    ['rg', () => program(cli, ['rg'], note(cli.texts.doctor.noRg))],
    ['bwrap', () => program(cli, ['bwrap'], note(cli.texts.doctor.noBwrap))],
  ]
  let exit: number = EXIT.ok
  for (const [name, check] of checks) {
    const finding = await found(check)
    if (finding.state === 'failed') exit = EXIT.config
    cli.out.line({ type: 'check', name, ...finding })
    cli.out.result(`${cli.texts.doctor.marks[finding.state].padEnd(7)} ${name.padEnd(8)} ${finding.detail}`)
  }
  return exit
}

/** A check that throws has found something. */
async function found(check: () => Finding | Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

const NODE_WANTED = '20.19 or newer of 20, 22.13 or newer; 24 is best'

function node({ io, texts }: Cli): Finding {
  const [major = 0, minor = 0] = io.nodeVersion.split('.').map(Number)
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 13) || major > 22
  const detail = texts.doctor.node(io.nodeVersion, NODE_WANTED)
  return fits ? ok(detail) : failed(detail)
}

async function config(cli: Cli, root: string): Promise<Finding> {
  const path = findConfig(cli, root)
  if (path === null) return ok(cli.texts.doctor.noConfig)
  await findPlace(cli, { cwd: root })
  return ok(path)
}

/** Makes nothing: looks at the folder, or at the nearest one above it that is there. */
function home({ texts }: Cli, root: string): Finding {
  const { home: folder } = pathsOf(root)
  const nearest = nearestThere(folder)
  if (!statSync(nearest).isDirectory()) return failed(texts.doctor.noFolder(nearest))
  accessSync(nearest, constants.W_OK)
  return ok(texts.doctor.home(folder))
}

function nearestThere(path: string): string {
  return isThere(path) || dirname(path) === path ? path : nearestThere(dirname(path))
}

const LITTLE_MB = 100

function disk({ texts }: Cli, root: string): Finding {
  const { bavail, bsize } = statfsSync(nearestThere(pathsOf(root).home))
  const megabytes = Math.floor((bavail * bsize) / 1024 / 1024)
  return megabytes < LITTLE_MB ? note(texts.doctor.disk(megabytes)) : ok(texts.doctor.disk(megabytes))
}

function keys({ io, texts }: Cli): Finding {
  const set = providerSettings().flatMap((provider) => provider.keys.filter((name) => io.env(name) !== undefined))
  return set.length === 0 ? note(texts.doctor.noKeys) : ok(texts.doctor.keys(set.join(', ')))
}

async function model(cli: Cli, flags: DoctorFlags): Promise<Finding> {
  return ok(modelName(chooseAgent(cli, await findPlace(cli, flags), flags)))
}

async function online(cli: Cli, flags: DoctorFlags): Promise<Finding> {
  const { io, texts } = cli
  if (flags.online !== true) return note(texts.doctor.onlineSkipped)
  const agent = chooseAgent(cli, await findPlace(cli, flags), flags)
  const startedAt = io.clock.now()
  const failure = typeof agent.model === 'string' ? null : await firstFailure(cli, agent.model)
  if (failure !== null) return failed(texts.doctor.onlineFailed(failure.kind, failure.message))
  return ok(texts.doctor.online(io.clock.now() - startedAt))
}

const PATIENCE_MS = 20_000

/** Sends the smallest request there is and gives up at the first sign of an answer. Null: it answered. */
async function firstFailure(
  { io }: Cli,
  asked: Model,
): Promise<{ readonly kind: string; readonly message: string } | null> {
  const stop = new AbortController()
  const cancel = io.clock.after(PATIENCE_MS, () => stop.abort())
  const messages = new Messages([
    { role: 'user', content: [{ type: 'text', text: 'Say ok.' }], origin: { kind: 'user' } },
  ])
  const request = {
    session: sessionId('doctor'),
    epoch: 1,
    system: '',
    tools: [],
    messages,
    toolChoice: 'none',
  } as const
  try {
    for await (const chunk of asked.stream(request, stop.signal)) return 'failure' in chunk ? chunk.failure : null
    return { kind: 'interrupted', message: 'no answer' }
  } finally {
    cancel()
    stop.abort()
  }
}

function program({ io, texts }: Cli, names: readonly string[], otherwise: Finding): Finding {
  const folders = (io.env('PATH') ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const name of names) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable)
    if (path !== undefined) return ok(texts.doctor.found(path))
  }
  return otherwise
}

const isThere = (path: string): boolean => may(path, constants.F_OK)
const isExecutable = (path: string): boolean => may(path, constants.X_OK)

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    // What cannot be looked at cannot be used either.
    return false
  }
}
