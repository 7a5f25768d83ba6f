import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { log, type Asked } from '../../test/kit/log.ts'
import type { ResourceUse } from './events.ts'
import { conflict, startable } from './plan.ts'
import type { Call } from './state.ts'

const use = fc.record({
  name: fc.constantFrom('a', 'b', 'c', '*'),
  mode: fc.constantFrom('read' as const, 'write' as const),
})
const batches = fc.array(fc.array(use, { maxLength: 3 }), { minLength: 1, maxLength: 8 })
/** Which of the running calls ends next. */
const orders = fc.infiniteStream(fc.nat(100))

function callsOf(batch: readonly (readonly ResourceUse[])[]): Call[] {
  const asked: Asked[] = batch.map((resources) => ({ effect: 'write', resources }))
  return log()
    .asked()
    .calls(...asked).state.step!.calls
}

/** Runs a batch as the plan says, ending the running calls in the given order. Tells what each saw of the resources that it reads. */
function run(
  calls: readonly Call[],
  order: Iterator<number>,
  pool: number,
  onStart: (running: readonly Call[]) => void,
): Map<Call, string[]> {
  const world = new Map<string, number[]>()
  const seen = new Map<Call, string[]>()
  const running: Call[] = []
  for (let steps = 0; calls.some((call) => call.status !== 'ended'); steps++) {
    if (steps > 1_000) throw new Error('the plan is stuck')
    const waiting = calls.filter((call) => call.status === 'requested')
    for (const call of startable(calls, waiting, [], pool - running.length)) {
      call.status = 'started'
      running.push(call)
      seen.set(call, look(world, call))
    }
    onStart(running)
    const ending = running.splice(order.next().value! % running.length, 1)[0]!
    change(world, ending, calls.indexOf(ending))
    ending.status = 'ended'
  }
  return seen
}

const NAMES = ['a', 'b', 'c']
const touched = (call: Call, mode?: 'write'): string[] =>
  NAMES.filter((name) =>
    call.record.resources.some(
      (used) => (used.name === name || used.name === '*') && (mode === undefined || used.mode === mode),
    ),
  )

function look(world: ReadonlyMap<string, readonly number[]>, call: Call): string[] {
  return touched(call).map((name) => `${name}:${(world.get(name) ?? []).join()}`)
}

function change(world: Map<string, number[]>, call: Call, index: number): void {
  for (const name of touched(call, 'write')) world.set(name, [...(world.get(name) ?? []), index])
}

const byId = (seen: ReadonlyMap<Call, string[]>): Record<string, string[]> =>
  Object.fromEntries([...seen].map(([call, saw]) => [call.record.id, saw]))

describe('the call plan', () => {
  it('C6: each call sees the world as if all had run one after the other, whatever order they end in', () => {
    fc.assert(
      fc.property(batches, orders, fc.integer({ min: 1, max: 4 }), (batch, order, pool) => {
        const together = run(callsOf(batch), order, pool, () => {})
        const oneByOne = run(callsOf(batch), order, 1, () => {})
        expect(byId(together)).toEqual(byId(oneByOne))
      }),
      { numRuns: 300 },
    )
  })

  it('C6: calls that conflict never run at the same time, and no more than the pool holds do', () => {
    fc.assert(
      fc.property(batches, orders, fc.integer({ min: 1, max: 4 }), (batch, order, pool) => {
        run(callsOf(batch), order, pool, (running) => {
          expect(running.length).toBeLessThanOrEqual(pool)
          for (const [at, one] of running.entries())
            for (const other of running.slice(at + 1))
              expect(conflict(one.record.resources, other.record.resources)).toBe(false)
        })
      }),
      { numRuns: 300 },
    )
  })

  it('C6: whatever nothing stands before starts at once', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const calls = callsOf(batch)
        const free = calls.filter((call, at) =>
          calls.slice(0, at).every((earlier) => !conflict(earlier.record.resources, call.record.resources)),
        )
        expect(startable(calls, calls, [], Number.POSITIVE_INFINITY)).toEqual(free)
      }),
    )
  })
})
