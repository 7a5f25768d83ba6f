/** The harness as most programs want it: SQLite in the working folder, the default loop, model strings, the machine's own clock. */
import { ownerName, pathsOf } from '../host/paths.ts'
import { nodeClock, nodeIds, nodeRandom } from '../host/node.ts'
import { react } from '../plugins/react/react.ts'
import type { AgentSpec } from '../runtime/define/agent.ts'
import { refuseUnknown, type Known } from '../runtime/borders.ts'
import {
  Harness,
  HARNESS_OPTIONS,
  OPEN_OPTIONS,
  type HarnessOptions,
  type HarnessPorts,
  type OpenOptions,
} from '../runtime/session/harness.ts'
import type { Store } from '../runtime/ports.ts'
import type { Session } from '../runtime/session.ts'
import { memoryStore, resolveModel, sqliteStore } from './adapters.ts'
import { ensureHome } from './home.ts'

/**
 * What a harness is made of. Every port has a default: the machine's own clock, ids and randomness, the loop `react`, models by
 * name.
 */
export interface CreateOptions extends HarnessOptions, Partial<Omit<HarnessPorts, 'store'>> {
  /** `memory`, the path of a SQLite file, or a store of your own. Default: `.turnstep/sessions.db`, or below `TURNSTEP_HOME`. */
  readonly store?: Store | string
}

const CREATE_OPTIONS: Known<CreateOptions> = {
  store: true,
  ...HARNESS_OPTIONS,
  clock: true,
  ids: true,
  random: true,
  loop: true,
  owner: true,
  resolveModel: true,
  sync: true,
}

/**
 * Makes a harness with every port filled: give only what you want otherwise. Close it when done. Throws `store-unwritable`,
 * `store-driver-missing` and the like, as a `TurnstepError`; `config-invalid` for an option that there is not.
 */
export async function createHarness(options: CreateOptions = {}): Promise<Harness> {
  refuseUnknown(options, CREATE_OPTIONS, 'createHarness')
  return harnessOf(options)
}

async function harnessOf(options: CreateOptions): Promise<Harness> {
  const clock = options.clock ?? nodeClock
  const ids = options.ids ?? nodeIds
  const ports: HarnessPorts = {
    store: await openStore(options.store, clock, ids),
    clock,
    ids,
    random: options.random ?? nodeRandom,
    loop: options.loop ?? react,
    owner: options.owner ?? ownerName(),
    resolveModel: options.resolveModel ?? ((name) => resolveModel(name, { clock })),
    ...(options.sync === undefined ? {} : { sync: options.sync }),
  }
  return new Harness(ports, options)
}

async function openStore(
  store: Store | string | undefined,
  clock: HarnessPorts['clock'],
  ids: HarnessPorts['ids'],
): Promise<Store> {
  if (typeof store === 'object') return store
  if (store === 'memory') return memoryStore({ clock })
  if (store !== undefined) return sqliteStore({ path: store, clock, ids })
  const paths = pathsOf()
  ensureHome(paths)
  return sqliteStore({ path: paths.sessions, clock, ids })
}

/**
 * Opens one session for work; run the program again and it continues. Closing the session closes the harness that was made for it.
 * Throws `session-busy` if somebody else drives it now, `config-invalid` for an option that there is not.
 */
export async function open(agent: AgentSpec, options: CreateOptions & OpenOptions = {}): Promise<Session> {
  refuseUnknown(options, { ...OPEN_OPTIONS, ...CREATE_OPTIONS }, 'open')
  const { session, readonly, ...rest } = options
  const harness = await harnessOf(rest)
  try {
    return await harness.openOnly(agent, {
      ...(session === undefined ? {} : { session }),
      ...(readonly === undefined ? {} : { readonly }),
    })
  } catch (error) {
    await harness.close()
    throw error
  }
}
