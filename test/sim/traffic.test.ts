import { describe, expect, it } from 'vitest'
import { env } from '../../src/host/node.ts'
import { Traffic } from './traffic.ts'

/** `TURNSTEP_SIM_SEED=n` runs that one; `TURNSTEP_SIM_RUNS=n` so many from it on. */
const FIRST = Number(env('TURNSTEP_SIM_SEED') ?? 1)
const RUNS = Number(env('TURNSTEP_SIM_RUNS') ?? (env('TURNSTEP_SIM_SEED') === undefined ? 60 : 1))
const ACTIONS = 60

describe('random traffic', () => {
  it.each(Array.from({ length: RUNS }, (_, run) => FIRST + run))('I2 C2 C3 C4 T1 W1 X1: seed %i', async (seed) => {
    const traffic = new Traffic({ seed, actions: ACTIONS })
    expect(await traffic.run()).toEqual([])
    await traffic.world.close()
  })
})
