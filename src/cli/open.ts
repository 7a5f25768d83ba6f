/** A harness for the time of one command. */
import { createHarness } from '../presets/harness.ts'
import type { Harness } from '../runtime/session/harness.ts'
import type { Store } from '../runtime/ports.ts'
import type { Cli } from './cli.ts'
import { findPlace, openStore, type Place, type PlaceFlags } from './settings.ts'

export interface Opened {
  readonly place: Place
  readonly store: Store
  readonly harness: Harness
}

interface OpenOptions {
  /** Nothing is made where no store is yet. */
  readonly mustExist: boolean
}

/** Finds the place, opens its store, and closes all of it whatever comes of `use`. */
export async function withHarness<T>(
  cli: Cli,
  flags: PlaceFlags,
  options: OpenOptions,
  use: (opened: Opened) => Promise<T>,
): Promise<T> {
  return withHarnessAt(cli, await findPlace(cli, flags), options, use)
}

export async function withHarnessAt<T>(
  cli: Cli,
  place: Place,
  options: OpenOptions,
  use: (opened: Opened) => Promise<T>,
): Promise<T> {
  const store = await openStore(cli, place, options)
  const { clock, ids } = cli.io
  const harness = await createHarness({
    store,
    clock,
    ids,
    locale: cli.locale,
    onError: (error, session) => cli.out.notice('fault', `${session}: ${error.message}`),
  })
  try {
    return await use({ place, store, harness })
  } finally {
    await harness.close()
  }
}
