import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../src/host/node.ts'
import { runOnce, type RunOptions } from '../../src/testing/sim/run.ts'
import type { SimScenario } from '../../src/testing/sim/sim.ts'
import { replay } from '../../src/testing/sim/simulate.ts'
import { simulatedAgent } from './agent.ts'

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1)

/** All that a run tells, as one hash: moves, decisions, events, bodies, leases. */
async function hashOf(options: Omit<RunOptions, 'agent' | 'tell'>): Promise<string> {
  const lines: string[] = []
  await runOnce({
    ...options,
    agent: simulatedAgent,
    tell: (kind, what, now) => void lines.push(`${now} ${kind} ${JSON.stringify(what)}`),
  })
  return nodeIds.sha256(lines.join('\n'))
}

describe('random lives', () => {
  it.each(SEEDS)('I2 I5 C3 C4 T1 T7 W1 X1: seed %i breaks no rule', async (seed) => {
    const { faults, events } = await runOnce({ agent: simulatedAgent, seed })
    expect(faults).toEqual([])
    expect(events).toBeGreaterThan(0)
  })

  it('the same seed is the same run, byte for byte, whatever ran before it', async () => {
    const first = await hashOf({ seed: 7 })
    expect(await hashOf({ seed: 8 })).not.toBe(first)
    expect(await hashOf({ seed: 7 })).toBe(first)
  })

  it('what was written down is the run that was drawn', async () => {
    for (const seed of SEEDS.slice(0, 4)) {
      const drawn = await runOnce({ agent: simulatedAgent, seed, records: true })
      expect(await hashOf({ seed: 0, written: drawn })).toBe(await hashOf({ seed }))
    }
  })
})

const FOLDER = new URL('../scenarios/', import.meta.url)
const RECORDINGS = readdirSync(FOLDER).filter((name) => name.endsWith('.sim.json'))

describe('what once failed', () => {
  it('is kept', () => {
    expect(RECORDINGS.length).toBeGreaterThan(0)
  })

  it.each(RECORDINGS)('%s', async (name) => {
    const scenario = JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as SimScenario
    expect(await replay(scenario, { agent: simulatedAgent })).toEqual([])
  })
})
