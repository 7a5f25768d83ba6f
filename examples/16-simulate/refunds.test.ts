/** Simulating an agent: random lives of a session, with crashes in them, and a check of one's own. */
import { expect, it } from 'vitest'
import { replay, simulate, type SimWorld } from 'turnstep/testing'
import { Bank, refundAgent } from './refunds.ts'

/** What the bank paid is at most what was asked for: one refund for each call. */
function refundsAddUp(world: SimWorld, bank: Bank): void {
  world.check({
    name: 'refunds add up',
    end(seen) {
      const asked = new Map(seen.bodies.map(({ call, args }) => [call, Number(args['amount'])]))
      const most = [...asked.values()].reduce((sum, amount) => sum + amount, 0)
      if (bank.total > most) seen.fail('refunds add up', `${bank.total} was paid, ${most} was asked for`)
    },
  })
}

const careful = (world: SimWorld) => {
  const bank = new Bank()
  refundsAddUp(world, bank)
  return refundAgent(bank, (_order, key) => key)
}

it('pays each refund once, whatever happens', async () => {
  const report = await simulate({ agent: careful, seeds: 20 })
  expect(report.failures).toEqual([])
  expect(report.events).toBeGreaterThan(1_000)
})

/** Another reference each time that the body runs, also when it runs again after a crash. */
const careless = (world: SimWorld) => {
  const bank = new Bank()
  let count = 0
  refundsAddUp(world, bank)
  return refundAgent(bank, (order) => `${order}-${++count}`)
}

it('finds the reference that is not the same the second time, and says how it came to that', async () => {
  const { failures } = await simulate({ agent: careless, seeds: 200, failuresMax: 1 })
  const { rule, scenario } = failures[0]!
  expect(rule).toBe('refunds add up')
  expect(scenario.moves.length).toBeLessThan(20) // of more than a hundred: a message, a call, a death in the middle of it
  // Keep the scenario as JSON: it plays again, without the seed.
  expect(await replay(scenario, { agent: careless })).not.toEqual([])
  expect(await replay(scenario, { agent: careful })).toEqual([])
}, 120_000)
