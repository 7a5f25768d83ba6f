/**
 * The world of `turnstep/testing`, for vitest: after each test everything is closed, and a timer, a watcher, a driver or a listener that
 * is left fails the test, as does an error that nobody expected.
 */
import { afterEach, expect } from 'vitest'
import {
  World as PlainWorld,
  type Process,
  type ProcessOptions,
  type WorldOptions,
} from '../../src/testing/sim/world.ts'
import { testPlugins } from '../setup/plugins.ts'

export { LEASE_MS } from '../../src/testing/sim/world.ts'
export type { Process, ProcessOptions, WorldOptions } from '../../src/testing/sim/world.ts'

export class World extends PlainWorld {
  override start(options: ProcessOptions = {}): Process {
    return super.start({ ...options, plugins: [...testPlugins, ...(options.plugins ?? [])] })
  }

  /** Closes what lives, and looks for what was left behind. */
  async close(): Promise<void> {
    expect(await this.closeAll(), 'left behind').toEqual([])
  }
}

/** Makes worlds for the tests of a file, and closes them after each. */
export function useWorlds(): (options?: WorldOptions) => World {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close()
  })
  return (options) => {
    const world = new World(options)
    worlds.push(world)
    return world
  }
}
